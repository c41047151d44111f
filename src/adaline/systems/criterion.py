"""What a generalized machine is to minimise: its loss, its settings checked, and constants to start from."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData, InvalidParameter
from adaline.losses import Composed, Loss, loss_of
from adaline.solvers.descent import read_rate
from adaline.sources import Source
from adaline.sums import Targets
from adaline.systems.class_weights import class_counts
from adaline.systems.own_machine import check_machine

Array = NDArray[np.float64]

SOLVERS = ("auto", "newton", "lbfgs", "newton-cg", "gradient", "stochastic")
OF_MACHINES = ("auto", "lbfgs", "gradient", "stochastic")


def read_criterion(system: Any) -> Loss:
    """Return the loss of a system; refuse constructor arguments that mean nothing."""
    loss = loss_of(system.loss, system.activation)
    known = SOLVERS if system.machine is None else OF_MACHINES
    if system.solver not in known:
        raise InvalidParameter(f"solver must be one of {', '.join(known)}, got {system.solver!r}")
    inner = loss.loss if isinstance(loss, Composed) else loss
    if inner.corners and system.solver != "stochastic":
        better = "Perceptron" if inner.name == "perceptron" else "RobustRegression"
        raise InvalidParameter(
            f"loss={inner.name!r} has corners and no curvature to step by: use solver='stochastic', or {better}, which "
            "is made for it"
        )
    if system.machine is not None:
        check_machine(system.machine)
    _check_numbers(system)
    return loss


def _check_numbers(system: Any) -> None:
    for name in ("fit_intercept", "shuffle", "warm_start"):
        if not isinstance(getattr(system, name), bool | np.bool_):
            raise InvalidParameter(f"{name} must be True or False, got {getattr(system, name)!r}")
    penalty, tol, epochs, rate = system.penalty, system.tol, system.epochs, system.rate
    if not (isinstance(penalty, Real) and 0 <= float(penalty) < np.inf):
        raise InvalidParameter(f"penalty must be a number of zero or more, got {penalty!r}")
    if not (tol is None or (isinstance(tol, Real) and float(tol) >= 0)):
        raise InvalidParameter(f"tol must be None or a number of zero or more, got {tol!r}")
    if not (isinstance(epochs, Integral) and int(epochs) >= 1):
        raise InvalidParameter(f"epochs must be at least 1, got {epochs!r}")
    if not (system.stop_error is None or isinstance(system.stop_error, Real)):
        raise InvalidParameter(f"stop_error must be a number or None, got {system.stop_error!r}")
    if isinstance(rate, str) and rate == "auto":
        return
    if np.ndim(rate) == 0:
        read_rate(rate, 1)
    elif system.machine is not None or system.solver != "gradient":
        raise InvalidParameter("rate must be 'auto' or a number: only batch steps of linear machines take more")


def has_outputs_of_its_own(system: Any) -> bool:
    """Whether predictions are not the outputs themselves; a plain regressor has no decision_function."""
    loss = loss_of(system.loss, system.activation)
    return isinstance(loss, Composed) or loss.link != "identity"


def constants(source: Source, loss: Loss, seen: Targets) -> Array:
    """Return the outputs to start from, (K,): near the best constants."""
    if not loss.coupled:
        return loss.constant(seen.mean)
    if source.shape.targets > 1:
        raise InvalidData(f"softmax takes one target, the place of a row's class; y has {source.shape.targets}")
    classes = int(seen.largest) + 1
    if classes < 2:
        raise InvalidData("softmax needs rows of at least 2 classes, 0, 1, ...; all targets are 0")
    return loss.constant(class_counts(source, classes) / seen.weight)
