"""`UnsupervisedSystem`: the base of systems that learn from rows without targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from adaline.arrays import Array, RowsLike, WeightsLike, host
from adaline.basis.base import BASIS
from adaline.block import Block
from adaline.errors import InvalidParameter
from adaline.forms import Count
from adaline.input import Meter
from adaline.input.open import OpenedRows, open_unlabelled
from adaline.input.system import System, SystemState
from adaline.parameters import COUNT, SEED, ZERO_OR_MORE
from adaline.results import Certificate, Status
from adaline.solvers.least_squares.fit import certificate
from adaline.sources import Source
from adaline.state import FittedAttribute


@dataclass(frozen=True, kw_only=True, eq=False)
class UnsupervisedState(SystemState):
    """What a fit to rows without targets has learned.

    Parameters
    ----------
    certificate : how good the solution is.
    n_iter, history : the number of steps, and the objective before each.
    """

    certificate: Certificate
    n_iter: Count
    history: list[float]


class UnsupervisedSystem(System):
    """A system that learns from rows without targets: opens rows, maps functions over them, certifies."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # without a target nothing can be compared
    tol: Annotated[float, ZERO_OR_MORE]
    max_iter: Annotated[int, COUNT]
    random_state: Annotated[Any, SEED]
    basis: Annotated[Any, BASIS]

    certificate_ = FittedAttribute[Certificate]()
    n_iter_ = FittedAttribute[int]()
    history_ = FittedAttribute[list[float]]()

    def _open(self, X: RowsLike, sample_weight: WeightsLike, *, reset: bool) -> OpenedRows:
        """Return the source of the columns phi(x), with weights, and the columns; with `reset` these are learned."""
        return open_unlabelled(self, X, sample_weight, reset=reset)

    def _open_given(self, X: RowsLike, sample_weight: WeightsLike) -> Source:
        """Return the source of rows as given, for their weights."""
        return open_unlabelled(self, X, sample_weight, reset=False, through_basis=False).source

    def _weights_given(self, X: RowsLike, sample_weight: WeightsLike) -> Array | None:
        """Return the weights of rows X, (n,), or None."""
        weight = self._open_given(X, sample_weight).read_weights()
        return None if weight is None else host(weight)

    def _over(self, X: RowsLike, function: Callable[[Block], Array]) -> Array:
        """Return function(block) of rows X, joined in their order; refuse a row that is not finite, by its number."""
        source = self._open(X, None, reset=False).source
        with np.errstate(all="ignore"):
            out = source.map(function)
        if not np.isfinite(out).all():
            source.refuse_nonfinite()
        return out

    def _certify(self, source: Source, meter: Meter, objective: float, solver: str, converged: bool) -> Certificate:
        proof = certificate(
            status=Status.SOLVED if converged else Status.NOT_CONVERGED,
            objective=objective,
            rank=source.shape.features,
            solver=solver,
            advice="a local optimum: raise n_init to look for a better one" if converged else "raise max_iter or tol",
        )
        return meter.on(proof, source)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def shaped(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return an argument as an array of numbers of this shape; refuse another shape."""
    out = np.array(value, dtype=np.float64)
    if out.shape != shape:
        raise InvalidParameter(f"{name} must be numbers of shape {shape}, got shape {out.shape}")
    return out
