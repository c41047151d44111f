"""Radial basis functions: Gaussian bumps around centres (S3)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from adaline.arrays import Array
from adaline.basis.base import Basis, column_moments
from adaline.construction import configured
from adaline.errors import InvalidParameter
from adaline.forms import Finite, Positive, PositiveNumber
from adaline.lazy import sklearn
from adaline.parameters import AUTO, COUNT, POSITIVE, SEED, AnyOf, Numbers, UsedWith, one_of
from adaline.state import FittedAttribute, FittedState
from adaline.wording import counted

CentreRule = Literal["k-means", "random"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RadialState(FittedState):
    """The learned state of a radial basis.

    Parameters
    ----------
    middle, unit : mean and standard deviation of each column, (D,); 1 instead of a deviation of zero.
    centres, width : (M, D), and the width of the bumps, both in these units.
    """

    middle: Annotated[Array, Finite("F")]
    unit: Annotated[Array, Positive("F")]
    centres: Annotated[Array, Finite(". F")]
    width: PositiveNumber


@configured
@dataclass(eq=False, repr=False)
class Radial(Basis):
    """exp(-||x - c||^2 / (2 width^2)) for centres c, distances taken on standardised columns: units do not matter.

    Parameters
    ----------
    centres : int or array (M, D)
        How many centres to find, or the centres themselves.
    init : "k-means" or "random"
        How centres are found: by k-means on the rows (of a sample), or rows drawn at random.
    width : "auto" or number
        Width of the bumps, in standard deviations of the columns; "auto" is the mean distance of a centre to its
        nearest neighbour, times sqrt(2).
    random_state : int, generator or None
        Seed or generator by which centres are found.

    Examples
    --------
    >>> from adaline import basis
    >>> bumps = basis.Radial(centres=[[0.0], [2.0]], width=1.0).fit([[0.0], [1.0], [2.0]])
    >>> bumps.transform([[0.0]]).round(4).tolist()
    [[1.0, 0.0498]]

    References
    ----------
    Lecture S3, radial basis functions; centres by k-means.
    """

    used_with: ClassVar[UsedWith] = {"init": {"centres": COUNT}}
    centres: Annotated[Any, AnyOf(COUNT, Numbers("rows of numbers"))] = 10
    _: KW_ONLY
    init: Annotated[CentreRule, one_of(CentreRule)] = "k-means"
    width: Annotated[float | Literal["auto"], AnyOf(AUTO, POSITIVE)] = "auto"
    random_state: Annotated[Any, SEED] = 0

    learned_as = RadialState
    middle_ = FittedAttribute[Array]()
    unit_ = FittedAttribute[Array]()
    centres_ = FittedAttribute[Array]()
    width_ = FittedAttribute[float]()

    def learn(self, x: Array) -> None:
        """Find the centres and the width."""
        super().learn(x)
        middle, spread = column_moments(x)
        unit = np.where(spread > 0, spread, 1.0)
        rows = (x - middle) / unit
        if not isinstance(self.centres, Integral):
            given = np.atleast_2d(np.asarray(self.centres, dtype=np.float64))
            if given.shape[1] != x.shape[1]:
                raise InvalidParameter(f"centres have {counted(given.shape[1], 'column')}, X has {x.shape[1]}")
            centres = (given - middle) / unit
        else:
            centres = self._find_centres(np.unique(rows, axis=0))
        width = float(self.width) if not isinstance(self.width, str) else _typical_distance(centres)
        self._state = RadialState(middle=middle, unit=unit, centres=centres, width=width)

    def of(self, x: Array) -> Array:
        """Return the bumps."""
        rows = (x - self.middle_) / self.unit_
        squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ self.centres_.T + (self.centres_**2).sum(axis=1)
        return np.asarray(np.exp(np.maximum(squares, 0.0) / (-2 * self.width_**2)))

    def names(self, given: list[str]) -> list[str]:
        """Return names such as bump3."""
        return [f"bump{k}" for k in range(len(self.centres_))]

    @property
    def learns(self) -> bool:
        """True, as distances are in units of the columns."""
        return True

    def _find_centres(self, rows: Array) -> Array:
        count = min(int(self.centres), len(rows))
        draw = sklearn.utils.check_random_state(self.random_state)
        if self.init == "random":
            return np.asarray(rows[draw.choice(len(rows), count, replace=False)])
        return np.asarray(sklearn.cluster.KMeans(count, n_init=1, random_state=draw).fit(rows).cluster_centers_)


def _typical_distance(centres: Array) -> float:
    """Return the mean distance of a centre to its nearest neighbour, times sqrt(2); 1 for a single centre."""
    if len(centres) < 2:
        return 1.0
    squares = ((centres[:, None, :] - centres) ** 2).sum(axis=2)
    squares[np.diag_indices(len(centres))] = np.inf
    return float(np.sqrt(2.0) * np.sqrt(squares.min(axis=1)).mean()) or 1.0
