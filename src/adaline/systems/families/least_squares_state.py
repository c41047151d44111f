"""What a regression that is solved from second moments has learned, and the rows as its solver takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adaline.coding import Coding, Effect
from adaline.errors import ConvergenceWarning, warn
from adaline.forms import NOT_KEPT, Count, Intercepts, Slopes, Strings, Truths
from adaline.inference.sample import Counted
from adaline.input.columns import InputColumns
from adaline.input.system import SystemState
from adaline.results import Certificate, Status, after_one_go
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource, Absorption
from adaline.state import FitSettings, FittedState
from adaline.sums import Moments


@dataclass(frozen=True, kw_only=True, eq=False)
class SolvedRegression(FittedState):
    """What a solver finds; a learner adds what it notes on the way.

    Parameters
    ----------
    fits : the solutions, one for all targets or one for each, with what inference needs of each.
    """

    fits: tuple[Fit, ...]


@dataclass(frozen=True)
class LinearSettings(FitSettings):
    """The settings that a regression from second moments is read with."""

    fit_intercept: bool
    positive: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquaresState(SystemState, SolvedRegression):
    """What a fit from second moments has learned.

    Parameters
    ----------
    fitted_with : whether there is an intercept, and whether coefficients had to be zero or more.
    coef, intercept : (D,) and a number, or (K, D) and (K,).
    rank, aliased, dependencies, estimable : of the columns, as `LinearRegression` says.
    certificate : how good the solution is.
    sums : the moments of all rows; None where columns are too many for them, or effects were absorbed.
    counted : how many rows there were, where weights are precisions.
    flat : whether the targets were one vector.
    like : an empty array where the rows lie, on a device; None on the host.
    absorbed : what was absorbed from the rows.
    """

    fitted_with: LinearSettings
    coef: Slopes
    intercept: Intercepts
    rank: Count
    aliased: Annotated[NDArray[np.object_], Strings(".")] | None
    dependencies: list[str] | None
    estimable: Annotated[NDArray[np.bool_], Truths("D")] | None
    certificate: Certificate
    sums: Moments | None
    counted: Counted | None
    flat: bool
    like: Annotated[Any, NOT_KEPT]
    absorbed: Absorption | None = None


@dataclass(frozen=True, kw_only=True)
class OpenedRegression:
    """The rows of a fit, as a solver takes them.

    Parameters
    ----------
    columns : of the input.
    source : the rows; None where only their sums are at hand.
    flat, like, counted : as in the state.
    """

    columns: InputColumns
    source: Source | None
    flat: bool
    like: Any
    counted: Counted | None

    def observations(self, weight: float) -> float:
        """Return the number of observations that rows of this total weight are."""
        return observations(self.counted, weight)


def observations(counted: Counted | None, weight: float) -> float:
    """Return the number of observations that rows of this total weight are, where they were counted or not."""
    return weight if counted is None else float(counted.rows)


def of_all_rows(state: LeastSquaresState) -> LeastSquaresState:
    """Return what was learned from all rows in one go, which the certificate need not advise."""
    proof = after_one_go(state.certificate)
    return state if proof is state.certificate else replace(state, certificate=proof)


def with_effects(
    state: LeastSquaresState, coding: Coding, effects: tuple[Effect, ...], source: AbsorbedSource
) -> LeastSquaresState:
    """Return what was learned with the effects that were absorbed from the rows; sums of these are of no other use.

    `coding` is that of the columns of the model.
    """
    if state.certificate.status is Status.NOT_CONVERGED:
        warn(f"{Status.NOT_CONVERGED}: {state.certificate.advice}", ConvergenceWarning)
    columns = state.columns._replace(coding=replace(coding, effects=effects))
    return replace(state, columns=columns, absorbed=source.absorption, sums=None)
