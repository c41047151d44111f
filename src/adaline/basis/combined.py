"""Combined bases: columns of several bases side by side, and one basis of another."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis, check_width
from adaline.construction import configured
from adaline.estimator import clone
from adaline.parameters import Instance, ListOf

ONE = Instance(Basis, "a basis")


@configured
class Beside(Basis):
    """The columns of several bases side by side, `a + b`.

    Parameters
    ----------
    bases : list of bases. Their parameters are named by index: `0__degree`, `1__terms`.

    Examples
    --------
    >>> from adaline import basis
    >>> both = (basis.Polynomial(degree=2) + basis.Fourier(terms=1)).fit([[0.0], [1.0], [2.0]])
    >>> both.get_feature_names_out().tolist()
    ['x0', 'x0^2', 'sin(1 x0)', 'cos(1 x0)']
    >>> both.set_params(**{"0__degree": 1}).fit([[0.0]]).get_feature_names_out().tolist()
    ['x0', 'sin(1 x0)', 'cos(1 x0)']
    """

    bases: Annotated[Any, ListOf(ONE, "a list of bases")]

    def __init__(self, bases: Any) -> None:
        self.bases = bases

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the bases; with `deep` also each by its index, and their parameters."""
        out: dict[str, Any] = {"bases": self.bases}
        for index, one in enumerate(self._each() if deep else []):
            out[str(index)] = one
            out |= {f"{index}__{name}": value for name, value in one.get_params().items()}
        return out

    def set_params(self, **params: Any) -> Self:
        """Set the bases, one of them by its index, or parameters of them."""
        self.bases = params.pop("bases", self.bases)
        for index in range(len(self._each())):
            if str(index) in params:
                self.bases = [*self.bases[:index], params.pop(str(index)), *self.bases[index + 1 :]]
        super().set_params(**params)
        return self

    def learn(self, x: Array) -> None:
        """Fit each basis to the rows."""
        super().learn(x)
        self.bases_ = [clone(one).fit(x) for one in self.bases]

    def of(self, x: Array) -> Array:
        return np.concatenate([one.of(x) for one in self.bases_], axis=1)

    def names(self, given: list[str]) -> list[str]:
        return [name for one in self.bases_ for name in one.names(given)]

    @property
    def foreign(self) -> bool:  # type: ignore[override]
        """Whether one of the bases is a user's."""
        return any(one.foreign for one in self.bases)

    @property
    def learns(self) -> bool:
        """Whether one of the bases learns from the rows."""
        return any(one.learns for one in self.bases)

    def __add__(self, other: Basis) -> Basis:
        both = super().__add__(other)
        assert isinstance(both, Beside)
        return Beside([*self.bases, *both.bases[1:]])

    def _each(self) -> list[Basis]:
        good = isinstance(self.bases, list | tuple) and all(isinstance(one, Basis) for one in self.bases)
        return list(self.bases) if good else []


@configured
class After(Basis):
    """One basis of the columns of another, `outer @ inner`.

    Parameters
    ----------
    outer, inner : bases; inner is taken first.

    Examples
    --------
    >>> from adaline import basis
    >>> waves = (basis.Polynomial(degree=2) @ basis.Fourier(terms=1)).fit([[0.0], [1.0], [2.0]])
    >>> waves.size
    5
    """

    outer: Annotated[Any, ONE]
    inner: Annotated[Any, ONE]

    def __init__(self, outer: Any, inner: Any) -> None:
        self.outer = outer
        self.inner = inner

    def learn(self, x: Array) -> None:
        """Fit the inner basis to the rows, the outer one to the columns of the inner."""
        super().learn(x)
        self.inner_ = clone(self.inner).fit(x)
        self.outer_ = clone(self.outer).fit(self.inner_.of(x))

    def of(self, x: Array) -> Array:
        return np.asarray(self.outer_.of(check_width(self.inner_.of(x), self.outer_.n_features_in_, self.inner_)))

    def names(self, given: list[str]) -> list[str]:
        return list(self.outer_.names(self.inner_.names(given)))

    @property
    def foreign(self) -> bool:  # type: ignore[override]
        """Whether one of the bases is a user's."""
        return bool(self.inner.foreign or self.outer.foreign)

    @property
    def learns(self) -> bool:
        """Whether one of the bases learns from the rows."""
        return bool(self.inner.learns or self.outer.learns)
