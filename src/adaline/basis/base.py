"""A basis: functions phi(x) of the columns, in which a model is linear (S3: generalized discriminants; S4).

A basis is a scikit-learn transformer. `fit` learns centres, widths and scales from rows, or from a sample of them where
there are many, whatever the weights of the rows; `transform` works row by row, so that rows can be transformed block by
block. `partial_fit` and `forget` of a system keep the basis of the first rows, and are exact for it. `a + b`
concatenates columns, `a @ b` is a of b.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import isfunction
from types import MethodType
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, as_dense, framed, is_sparse
from adaline.attributes import own_attributes
from adaline.construction import check_parameters, configured
from adaline.errors import InvalidData, InvalidType
from adaline.estimator import BaseEstimator, TransformerMixin, clone
from adaline.fitted import check_is_fitted
from adaline.lazy import sklearn
from adaline.parameters import NONE, AnyOf, Instance, ListOf
from adaline.state import FittedAttribute, FittedState, attributes_of


class Basis(TransformerMixin, BaseEstimator):
    """Base of all bases.

    Examples
    --------
    >>> from adaline import basis
    >>> both = basis.Polynomial(degree=2) + basis.Fourier(terms=1)
    >>> isinstance(both, basis.Basis), both.fit([[0.5]]).get_feature_names_out().tolist()
    (True, ['x0', 'x0^2', 'sin(1 x0)', 'cos(1 x0)'])
    """

    n_features_in_: int
    foreign: bool = False
    """Whether `of` is code of a user, in part."""
    learned_as: ClassVar[type[FittedState] | None] = None
    """The result of `learn`; None if that is only D, or if a user's basis keeps it in attributes of its own."""
    _state: FittedState | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap `of` of a user's basis with checks of its result."""
        super().__init_subclass__(**options)
        own = own_attributes(cls).get("of")
        if own is not None and not cls.__module__.startswith("adaline."):
            cls.foreign = True
            checked = wraps(own)(lambda self, x: checked_columns(own(self, x), len(x), cls.__name__))
            cls.of = checked  # type: ignore[method-assign]

    def fit(self, X: RowsLike, y: TargetsLike = None) -> Self:
        """Learn what the basis needs from rows X (n, D)."""
        x = self._validated(X, reset=True)
        check_parameters(self)
        self.learn(np.asarray(as_dense(x if self.learns or not is_sparse(x) else x[:1])))
        return self

    def transform(self, X: RowsLike) -> Any:
        """Return phi(x) for each row, (n, M); CSR for sparse rows where zeros stay zeros."""
        check_is_fitted(self)
        x = self._validated(X, reset=False)
        sparse = is_sparse(x) and np.isfinite(self.stored(x))
        return self.sparse_of(x) if sparse else self.of(np.asarray(as_dense(x)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of phi."""
        check_is_fitted(self)
        given = sklearn.utils.validation._check_feature_names_in(self, input_features)
        return np.array(self.names([str(name) for name in given]), dtype=object)

    def learn(self, x: Array) -> None:
        """Learn from rows x (n, D), and keep a state; most bases need only D."""
        self.n_features_in_ = x.shape[1]

    @abstractmethod
    def of(self, x: Array) -> Array:
        """Return phi of rows x (n, D), (n, M)."""

    def stored(self, x: AnyArray) -> float:
        """Return how many numbers phi of sparse rows has that may not be zero; infinity where it is not sparse."""
        return np.inf

    def sparse_of(self, x: AnyArray) -> Any:
        """Return phi of sparse rows x (n, D) as CSR, (n, M), where `stored` is finite."""
        raise NotImplementedError

    @abstractmethod
    def names(self, given: list[str]) -> list[str]:
        """Return the names of the columns of phi from those of x."""

    @property
    def learns(self) -> bool:
        """Whether the basis learns more from the rows than their number of columns."""
        return False

    def same(self, other: Any) -> bool:
        """Whether another basis has the same arguments and has learned the same."""
        return type(self) is type(other) and _equal(attributes_of(self), attributes_of(other))

    def asked_like(self, other: Any) -> bool:
        """Whether another basis has the same arguments."""
        return bool(clone(self).same(clone(other)))

    @property
    def size(self) -> int:
        """Number of columns of phi."""
        return len(self.names([f"x{j}" for j in range(self.n_features_in_)]))

    def __add__(self, other: Basis) -> Basis:
        return Beside([self, _other(other, "+")])

    def __radd__(self, other: Any) -> Basis:
        if isinstance(other, int) and other == 0:  # sum() starts with 0
            return self
        raise InvalidType(f"+ joins a basis to another, as in Polynomial() + Fourier(), got {other!r}")

    def __matmul__(self, other: Basis) -> Basis:
        return After(self, _other(other, "@"))

    def _validated(self, X: RowsLike, *, reset: bool) -> Any:
        """Return rows X as numbers, (n, D), an array or CSR; `reset` learns D and the names."""
        framed(X)  # scikit-learn refuses two columns of one name only in its newest versions
        return sklearn.utils.validation.validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


ONE = Instance(Basis, "a basis")


@dataclass(frozen=True, kw_only=True, eq=False)
class BesideState(FittedState):
    """The bases of a `Beside`, learned from the same rows."""

    bases: list[Basis]


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

    learned_as = BesideState
    bases_ = FittedAttribute[list[Basis]]()

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
        self._state = BesideState(bases=[clone(one).fit(x) for one in self.bases])

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


@dataclass(frozen=True, kw_only=True, eq=False)
class AfterState(FittedState):
    """The bases of an `After`: `outer` is learned from the columns of `inner`."""

    inner: Basis
    outer: Basis


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

    learned_as = AfterState
    inner_ = FittedAttribute[Basis]()
    outer_ = FittedAttribute[Basis]()

    def __init__(self, outer: Any, inner: Any) -> None:
        self.outer = outer
        self.inner = inner

    def learn(self, x: Array) -> None:
        """Fit the inner basis to the rows, the outer one to the columns of the inner."""
        super().learn(x)
        inner: Basis = clone(self.inner).fit(x)
        self._state = AfterState(inner=inner, outer=clone(self.outer).fit(inner.of(x)))

    def of(self, x: Array) -> Array:
        return np.asarray(
            self.outer_.of(check_columns_made(self.inner_.of(x), self.outer_.n_features_in_, self.inner_))
        )

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


BASIS = AnyOf(
    NONE,
    Instance(
        Basis, "a basis, such as basis.Polynomial(degree=2)", hint="a function of rows goes into basis.Custom(function)"
    ),
)
"""The parameter `basis` of systems."""


def checked_columns(values: AnyArray, rows: int, owner: str) -> Array:
    """Return what code of a user gave for some rows as float64, (n, M); refuse all else by the name of its owner."""
    try:
        given = np.asarray(values)
        out = given.astype(np.float64, casting="same_kind" if given.dtype.kind == "c" else "unsafe", copy=False)
    except (TypeError, ValueError, OverflowError):
        raise InvalidData(f"{owner} gave {values!r:.60}: it must give an array of numbers") from None
    if out.ndim != 2 or len(out) != rows or not out.shape[1]:
        raise InvalidData(f"{owner} gave {out.shape} for {rows} rows: it must give (n, M)")
    return out


def check_columns_made(found: Array, width: int, owner: Basis) -> Array:
    """Return columns of a basis, (n, M); refuse another number than that of the rows it was learned from."""
    if found.shape[1] != width:
        raise InvalidData(f"{type(owner).__name__} gave {found.shape[1]} columns, and {width} for the first rows")
    return found


def column_moments(x: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each column, (D,), even where squares would overflow or underflow."""
    power = np.frexp(np.abs(x).max(axis=0))[1]
    scaled = np.ldexp(x, -power)
    return np.ldexp(scaled.mean(axis=0), power), np.ldexp(scaled.std(axis=0), power)


def _other(other: Any, sign: str) -> Any:
    if not isinstance(other, Basis):
        raise InvalidType(f"{sign} joins a basis to another, as in Polynomial() {sign} Fourier(), got {other!r}")
    return other


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays and bases inside them too."""
    if isinstance(a, Basis):
        return a.same(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if is_dataclass(a) and not isinstance(a, type):
        # not all attributes: one of two equal values may hold cached properties
        return type(a) is type(b) and all(_equal(getattr(a, one.name), getattr(b, one.name)) for one in fields(a))
    if callable(a) and callable(b):
        return a == b or (type(a) is type(b) and not isfunction(a) and _equal(_parts(a), _parts(b)))
    return bool(np.array_equal(a, b))


def _parts(function: Any) -> Any:
    """Return the parts of a callable object, by which copies of it are compared, as clones have copies."""
    if isinstance(function, partial):
        return function.func, function.args, function.keywords
    if isinstance(function, MethodType):
        return function.__func__, own_attributes(function.__self__)
    return own_attributes(function)
