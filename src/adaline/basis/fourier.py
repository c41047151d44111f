"""Sines and cosines: of each column, or along random directions (S3: trigonometric functions)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis, column_moments
from adaline.construction import configured
from adaline.errors import InvalidParameter
from adaline.forms import Finite
from adaline.lazy import sklearn
from adaline.parameters import AUTO, COUNT, FLAG, POSITIVE, SEED, AnyOf, Numbers
from adaline.state import FittedAttribute, FittedState

PERIOD = AnyOf(AUTO, POSITIVE, Numbers("positive numbers, one a column", (1,), positive=True))


@dataclass(frozen=True, kw_only=True, eq=False)
class FourierState(FittedState):
    """The learned state of a Fourier basis.

    Parameters
    ----------
    frequency : the first of each column, (D,).
    directions, phases : (D, M) and (M,), of random ones instead.
    """

    frequency: Annotated[Array, Finite("F")] | None = None
    directions: Annotated[Array, Finite("F M")] | None = None
    phases: Annotated[Array, Finite("M")] | None = None


@configured
@dataclass(eq=False, repr=False)
class Fourier(Basis):
    """sin(k x) and cos(k x), k = 1 .. terms, of each column; or cosines along random directions (random features).

    Parameters
    ----------
    terms : int
        Number of frequencies of each column; with random=True number of random directions.
    period : "auto", number, or array (D,)
        Period of the first frequency: 2 pi gives sin(k x) and cos(k x). "auto" is 2 pi; with random=True the width of
        the Gaussian kernel that the features approximate, by default the typical distance of two rows.
    random : bool
        Whether to take sqrt(2/terms) cos(v'x + b) with v normal and b uniform: their products approximate
        exp(-||x - z||^2 / (2 width^2)) on standardised columns, in any number of columns.
    random_state : int, generator or None
        Seed or generator of the random directions.

    Examples
    --------
    >>> from adaline import basis
    >>> basis.Fourier(terms=2).fit([[0.5]]).get_feature_names_out().tolist()
    ['sin(1 x0)', 'cos(1 x0)', 'sin(2 x0)', 'cos(2 x0)']

    References
    ----------
    Lecture S3, the square wave. A. Rahimi and B. Recht, Random features for large-scale kernel machines (2007).
    """

    terms: Annotated[int, COUNT] = 3
    _: KW_ONLY
    period: Annotated[Literal["auto"] | Any, PERIOD] = "auto"
    random: Annotated[bool, FLAG] = False
    random_state: Annotated[Any, SEED] = 0

    learned_as = FourierState
    frequency_ = FittedAttribute[Array]()
    directions_ = FittedAttribute[Array]()
    phases_ = FittedAttribute[Array]()

    def learn(self, x: Array) -> None:
        """Find the frequencies of the columns, or draw random directions in units of the columns."""
        super().learn(x)
        d, m = x.shape[1], int(self.terms)
        if not self.random:
            period = np.asarray(2 * np.pi if isinstance(self.period, str) else self.period, dtype=float)
            if period.ndim and period.shape != (d,):
                raise InvalidParameter(f"period must be a number or {d} of them, one a column, got {self.period!r}")
            self._state = FourierState(frequency=np.broadcast_to(2 * np.pi / period, (d,)).copy())
            return
        draw = sklearn.utils.check_random_state(self.random_state)
        mean, spread = column_moments(x)
        width = np.sqrt(d) if isinstance(self.period, str) else float(self.period)
        directions = draw.normal(size=(d, m)) / width
        directions /= np.where(spread > 0, spread, 1.0)[:, None]
        self._state = FourierState(directions=directions, phases=draw.uniform(0, 2 * np.pi, m) - mean @ directions)

    def of(self, x: Array) -> Array:
        """Return the sines and cosines."""
        if self.random:
            return np.asarray(np.sqrt(2.0 / int(self.terms)) * np.cos(x @ self.directions_ + self.phases_))
        angle = x * self.frequency_
        parts = [f(k * angle) for k in range(1, int(self.terms) + 1) for f in (np.sin, np.cos)]
        return np.concatenate(parts, axis=1)

    def names(self, given: list[str]) -> list[str]:
        """Return names such as sin(2 x0)."""
        if self.random:
            return [f"cos(v{k}.x)" for k in range(int(self.terms))]
        factors = [
            [f"{k * w:.4g} {name}" for w, name in zip(self.frequency_, given, strict=True)]
            for k in range(1, int(self.terms) + 1)
        ]
        return [f"{f}({angle})" for row in factors for f in ("sin", "cos") for angle in row]

    @property
    def learns(self) -> bool:
        """Whether directions are random, as these are in units of the columns."""
        return bool(self.random)

    def _check_together(self) -> None:
        if self.random and np.ndim(self.period):
            raise InvalidParameter(f"period must be one number with random=True, got {self.period!r}")
