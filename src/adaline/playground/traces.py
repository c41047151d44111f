"""Traces: a system on the board at each moment of its learning, by the systems' own rules.

    rows     scans that take rows in order: the model after each of the first rows, then at longer strides
    epochs   systems with epochs or iterations: the model that `fit` gives with so many of them
    steps    logistic regression: the iterates of its Newton solver (IRLS)
    fit      closed forms: the answer alone

The last moment of every trace is the fitted system itself, with its certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.activations import ACTIVATIONS
from adaline.arrays import Array, RowsLike
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.fitted import AnyModel, AnySystem, has_classes, is_linear
from adaline.input.basis import rows_through_basis
from adaline.input.drafts import snapshot
from adaline.losses import Logistic, Softmax
from adaline.penalties import RidgePenalty
from adaline.playground.boards import Board, Recipe
from adaline.playground.forms import ModelSpec, find_system, systems_by_task
from adaline.solvers.smooth.newton import DescentResult, newton
from adaline.solvers.smooth.problem import build_problem
from adaline.sources.array import ArraySource
from adaline.sums.outputs import outputs
from adaline.systems.families.online import OnlineSystem

# moments after each of the first rows, and at longer strides after them; doubling both takes twice the memory
SINGLE_ROWS, STRIDES = 120, 120
# rows, counted once per epoch, through which a scan is traced; doubling it takes up to twice as long
MOST_TRACED_ROWS = 2_000_000
# rows of all repeated fits, counted once per epoch; doubling it takes up to twice as long, for more moments
MOST_REPEATED_ROWS = 10_000_000
ITERATIONS = {"KMeans": "max_iter", "GaussianMixture": "max_iter"}
COUNTED = {"LinearRegression": {"solver": "gradient"}, "GeneralizedLinear": {"solver": "gradient"}}


@dataclass(frozen=True)
class IRLSIterate:
    """Weights that Newton's method passes through, (K, 1 + D) on the columns of a basis, as a model that predicts."""

    theta: Array
    classes_: NDArray[Any]
    fitted: Any

    @property
    def coef_(self) -> Array:
        """The weights without the intercept, (K, D)."""
        return self.theta[:, 1:]

    @property
    def intercept_(self) -> Array:
        """The intercepts, (K,)."""
        return self.theta[:, 0]

    def decision_function(self, X: RowsLike) -> Array:
        """Return w'x + w0, (n,) or (n, K)."""
        z = outputs(rows_through_basis(self.fitted, np.asarray(X, dtype=np.float64)), self.theta)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict_proba(self, X: RowsLike) -> Array:
        """Return the posteriors of the classes, (n, K)."""
        z = self.decision_function(X)
        if z.ndim == 2:
            return np.asarray(ACTIVATIONS["softmax"].value(z))
        p = np.asarray(ACTIVATIONS["logistic"].value(z[:, None]))
        return np.hstack([1 - p, p])

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """Return the classes with the largest posterior."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


@dataclass
class Trace:
    """The models that a system passes through on a board.

    Parameters
    ----------
    board, spec : the points, and the system as the page names it.
    unit : "row", "epoch", "step" or "fit": what `positions` count.
    positions : how far learning is at each moment; the first may be 0, before anything was learned.
    fitted : the system after `fit`, which is the last moment.
    notes : what the fit warned of.
    recipe : how the points were generated, before any was moved by hand; None where they were not.
    fresh : points that judge it; None where there are none.
    kept : models that were made on the way, by moment.
    """

    board: Board
    spec: ModelSpec
    unit: str
    positions: list[int]
    fitted: Any
    notes: list[str]
    recipe: Recipe | None = None
    fresh: Board | None = None
    kept: dict[int, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

    def model(self, moment: int) -> Any:
        """Return the model at a moment; None before anything was learned."""
        if moment == len(self) - 1:
            return self.fitted
        if self.positions[moment] == 0:
            return None
        if moment not in self.kept:
            with quiet():
                self.kept[moment] = self._after(self.positions[moment])
        return self.kept[moment]

    def _after(self, count: int) -> Any:
        name = ITERATIONS.get(self.spec.system, "epochs")
        return fitted_to(self.board, self.spec.build(**{name: count}))

    @cached_property
    def weights(self) -> list[list[float]] | None:
        """The weights at each moment, intercept first, all machines in a row; None where they are many or none."""
        path = [shown_weights(self.model(k)) for k in range(len(self))]
        size = max((len(one) for one in path if one is not None), default=0)
        if not 0 < size <= 16:
            return None
        given = self.spec.settings.get("init")
        start = np.ravel(given) if isinstance(given, list) and np.size(given) == size else np.zeros(size)
        return [[float(w) for w in (start if one is None else one)] for one in path]


def trace(
    board: Board, spec: ModelSpec, recipe: Recipe | None = None, fresh: Board | None = None, brief: bool = False
) -> Trace:
    """Return the trace of a system on a board, or its end alone; what cannot be learned raises the error of its fit."""
    if len(board.points) == 0:
        raise InvalidData("the board is empty: put points on it first")
    find_system(spec.system)
    if spec.system not in systems_by_task()[board.task]:
        raise InvalidParameter(f"{spec.system} does not learn {board.task}: choose another system")
    if board.task == "classes":
        present = [board.names[k] for k in np.unique(board.index)]
        if len(present) < 2:
            raise InvalidData(f"all points are of {present[0]}: put points of another class beside them")
        spec = spec.with_order(present)
    system = spec.build()
    with quiet() as told:
        fitted = fitted_to(board, deepcopy(system))
    notes = list(dict.fromkeys(str(one.message) for one in told))
    known = {"board": board, "spec": spec, "fitted": fitted, "notes": notes, "recipe": recipe, "fresh": fresh}
    if brief:
        return Trace(unit="fit", positions=[1], **known)
    if _takes_rows(system, board, fitted):
        return _by_rows(system, known)
    if isinstance(system, OnlineSystem) or spec.system in ITERATIONS or _counts(spec):
        count = int(fitted.n_iter_)
        first = 1 if spec.system in ITERATIONS else 0
        return Trace(unit="epoch", positions=thinned(kept_moments(count, first), len(board.points)), **known)
    if spec.system == "LogisticRegression" and _by_newton(system):
        iterates = _newton_iterates(board, system, fitted)
        kept = {k: IRLSIterate(theta, fitted.classes_, fitted) for k, theta in enumerate(iterates)}
        positions = list(range(1, len(iterates) + 2)) if iterates else [1]
        return Trace(unit="step", positions=positions, kept=kept, **known)
    return Trace(unit="fit", positions=[1], **known)


def kept_moments(count: int, first: int = 0) -> list[int]:
    """Return at which of `count` steps models are kept: all of the first ones, then ever longer strides to the end.

    Examples
    --------
    >>> from adaline.playground.traces import kept_moments
    >>> kept_moments(3), len(kept_moments(10**6)) <= 241, kept_moments(10**6)[-1]
    ([0, 1, 2, 3], True, 1000000)
    """
    if count <= SINGLE_ROWS + STRIDES:
        return list(range(first, count + 1))
    longer = np.unique(np.geomspace(SINGLE_ROWS, count, STRIDES + 1).round().astype(int))
    return [*range(first, SINGLE_ROWS), *(int(one) for one in longer)]


def thinned(positions: list[int], rows: int) -> list[int]:
    """Return every second moment, and the last, as often as it takes for fits that end there to be cheap."""
    while len(positions) > 8 and sum(positions) * rows > MOST_REPEATED_ROWS:
        positions = [*positions[:-1:2], positions[-1]]
    return positions


@contextmanager
def quiet() -> Iterator[list[warnings.WarningMessage]]:
    """Keep warnings: the page shows those of the fit."""
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield told


def fitted_to(board: Board, system: AnySystem) -> Any:
    """Return a system fitted to the points of a board."""
    y = board.y
    return system.fit(board.X) if y is None else system.fit(board.X, y)


def shown_weights(model: AnyModel) -> Array | None:
    """Return the weights of a model, intercepts first, one machine after the other; None where it has none."""
    if model is None or not is_linear(model):
        return None
    try:
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        constant = np.broadcast_to(np.ravel(np.asarray(model.intercept_, dtype=np.float64)), (len(coef),))
    except (AttributeError, ValueError):  # thresholds in place of one intercept
        return None
    return np.column_stack([constant, coef]).ravel()


def _takes_rows(system: AnySystem, board: Board, fitted: Any) -> bool:
    """Whether the model after some rows in order is that of `partial_fit`, and no more rows are taken than allowed."""
    if not isinstance(system, OnlineSystem) or type(system).__name__ == "Pocket":
        return False
    in_order = getattr(system, "mode", "online") == "online" and not getattr(system, "shuffle", False)
    whole = getattr(system, "class_weight", None) is None and system.basis is None and not system.standardize
    return in_order and whole and len(board.points) * fitted.n_iter_ <= MOST_TRACED_ROWS


def _counts(spec: ModelSpec) -> bool:
    wanted = COUNTED.get(spec.system)
    return spec.system == "RobustRegression" or (
        wanted is not None and all(spec.settings.get(name) == value for name, value in wanted.items())
    )


def _by_rows(system: AnySystem, known: dict[str, Any]) -> Trace:
    """Run the scan by `partial_fit` and keep the model as it is at each moment."""
    board, fitted = known["board"], known["fitted"]
    n = len(board.points)
    positions = kept_moments(int(fitted.n_iter_) * n)
    more = {"classes": fitted.classes_} if has_classes(fitted) else {}
    X, y = board.X, np.asarray(board.y)
    kept: dict[int, Any] = {}
    with quiet():
        for k, (start, end) in enumerate(pairwise(positions[:-1]), start=1):
            rows = np.arange(start, end) % n
            system.partial_fit(X[rows], y[rows], **more)
            kept[k] = snapshot(system)
    return Trace(unit="row", positions=positions, kept=kept, **known)


def _by_newton(system: AnySystem) -> bool:
    plain = system.l1 == 0 and not isinstance(system.penalty, str) and not system.firth and not system.standardize
    return plain and system.solver in ("auto", "newton") and system.scheme == "softmax" and system.class_weight is None


def _newton_iterates(board: Board, system: AnySystem, fitted: Any) -> list[Array]:
    """Return the weights that Newton's method passes through from zero, (K, 1 + D) each, before the last ones."""
    phi = np.ascontiguousarray(rows_through_basis(fitted, board.X), dtype=np.float64)
    index = np.searchsorted(fitted.classes_, np.asarray(board.y)).astype(np.float64)
    machines = 1 if len(fitted.classes_) == 2 else len(fitted.classes_)
    penalty = RidgePenalty(float(system.penalty), np.ones(phi.shape[1]))
    source = ArraySource(phi, index[:, None])
    problem = build_problem(source, Logistic() if machines == 1 else Softmax(), machines, system.fit_intercept, penalty)
    found: list[Array] = []

    def keep(result: DescentResult) -> bool:
        found.append(problem.to_raw(result.theta))
        return False

    try:
        newton(problem, np.zeros((machines, 1 + phi.shape[1])), 1e-10, max_steps=30, give_up=keep)
    except AdalineError:  # where the fit found another way, its answer alone is shown
        return []
    return found
