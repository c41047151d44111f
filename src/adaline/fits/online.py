"""Fits of the online systems: the scan of a rule processes the rows for several epochs, and a result says how it ended.

The certificate needs no additional pass: its objective is the progressive loss of the last epoch, each row's before its
own step. It claims neither a gap nor digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from adaline.block import Shape
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidParameter, warn
from adaline.fits.separation import convergence_outlook
from adaline.forms import Count, FiniteNumber
from adaline.results import Certificate, Status
from adaline.scans import AdaptiveRule, CoordinateRule, LMSRule, Scan, Schedule, SigmoidRule
from adaline.scans.adaptive import MOST_MATRIX_COLUMNS
from adaline.solvers.epochs.pocket import BestWeights
from adaline.solvers.epochs.sweep import EpochOptions, SweepResult, sweep
from adaline.solvers.least_squares.fit import certificate
from adaline.sources import Source

# columns beyond which rate="auto" keeps no scale per column: steps are those of normalised LMS, which is less precise
MOST_SCALED_COLUMNS = 2**14
# errors kept by a model that keeps learning, the latest ones; doubling it doubles the memory they take
LONGEST_HISTORY = 2**16
COORDINATES: dict[type[Scan], dict[str | None, str]] = {
    LMSRule: {None: "squared"},
    SigmoidRule: {"tanh": "tanh_squared", "logistic": "sigmoid_squared"},
}
"""For each rule and activation, the loss of the coordinate rule that replaces it on sparse rows of many columns."""
ASKED_BY = {"loss": "activation", "variant": "rate", "eps": "rate", "leak": "rate"}
"""The parameter of a system that determines a setting of its scan, where the names differ."""


@dataclass(frozen=True)
class OnlineResult:
    """The result of the fits of an online system so far, beside the weights, which are in its scan.

    Parameters
    ----------
    history : the error of each epoch, as the system defines it.
    certificate : how the last fit ended.
    rows, steps : rows that fits learned from, each counted once a fit; steps of the scan by then.
    corrections : of a perceptron: those before the last epoch, which the scan no longer tallies.
    bounded : whether the convergence theorem bounds the corrections of the last fit.
    pocket : of the pocket algorithm: the best weights so far.
    """

    history: list[float]
    certificate: Certificate
    rows: Count = 0
    steps: Count = 0
    corrections: FiniteNumber = 0.0
    bounded: bool = False
    pocket: BestWeights | None = None


def start_scan(rule: type[Scan], shape: Shape, rate: Any, schedule: Any, sparse: bool = False, **config: Any) -> Scan:
    """Return the scan of a rule before its first row; rate="auto" selects another rule: see `_choose_scan`."""
    chosen, options = _choose_scan(rule, shape.features, rate, schedule, sparse, config)
    return chosen.start(shape, **options)


def continue_at(scan: Scan, title: str, rule: type[Scan], rate: Any, schedule: Any, **config: Any) -> None:
    """Let a started scan continue at a new rate; refuse any other change of its settings."""
    sparse = isinstance(scan, CoordinateRule)
    chosen, options = _choose_scan(rule, scan.theta.shape[1] - 1, rate, schedule, sparse, config)
    changed = scan.follow(chosen.start(Shape(1, 1), **options))
    refuse_changes(sorted({ASKED_BY.get(name, name) for name in changed}), title)


def refuse_changes(names: list[str], title: str) -> None:
    """Refuse to continue where parameters of these names have changed since a system began."""
    if names:
        raise InvalidParameter(
            f"{' and '.join(names)} changed since {title} began to learn: restore the value to continue, or refit"
        )


def _choose_scan(
    rule: type[Scan], features: int, rate: Any, schedule: Any, sparse: bool, config: dict[str, Any]
) -> tuple[type[Scan], dict[str, Any]]:
    """Return the scan that a rate selects, and its options.

    | rate | rows | scan |
    |---|---|---|
    | a number | any | the rule itself |
    | "auto" | sparse, more than `MOST_MATRIX_COLUMNS` columns | `CoordinateRule`, where the rule has a loss |
    | "auto" | dense, more than `MOST_SCALED_COLUMNS` columns | `CoordinateRule` too; of LMS the normalised `LMSRule` |
    | "auto" | all others | `AdaptiveRule` |
    """
    if not isinstance(rate, str):
        return rule, {"rate": Schedule(rate, schedule), **config}
    loss = COORDINATES.get(rule, {}).get(config.get("activation"))
    most = MOST_MATRIX_COLUMNS if sparse else MOST_SCALED_COLUMNS
    if loss is not None and features > most and (sparse or rule is not LMSRule):
        return CoordinateRule, {"loss": loss, **{k: v for k, v in config.items() if k != "activation"}}
    if features > MOST_SCALED_COLUMNS:
        return LMSRule, {"rate": Schedule(1.0, "power", tau=1e4), "variant": "normalized", **config}
    return AdaptiveRule, config


def scan_certificate(status: Status, objective: float, solver: str = "scan", gap: float = math.inf) -> Certificate:
    """Return the certificate of a scan, which claims neither digits nor a rank."""
    return certificate(status=status, objective=objective, gap=gap, solver=solver)


def run_epochs(source: Source, scan: Scan, options: EpochOptions) -> OnlineResult:
    """Run the scan over the rows, in place, until the error settles; the history is the mean loss of each epoch."""
    return _mean_losses(sweep(source, scan, options))


def run_lms(source: Source, scan: Scan, options: EpochOptions, rate: Any, schedule: Any) -> OnlineResult:
    """Run epochs of LMS; warn where a constant rate is above 2 / Trace[Rxx] of the first one (5.20)."""
    swept = sweep(source, scan, options)
    bound = swept.tallies[0].bound
    if not isinstance(rate, str) and schedule == "constant" and rate > bound:
        warn(
            f"rate={rate:g} is above about {bound:.3g}, the bound 2/Trace[Rxx] of (5.20) on these rows: "
            f"{options.title} may diverge. Lower it, or use rate='auto'.",
            AdalineWarning,
        )
    return _mean_losses(swept)


def run_corrections(source: Source, scan: Scan, options: EpochOptions, before: OnlineResult) -> OnlineResult:
    """Run a perceptron until an epoch is free of mistakes; the history is the number of mistakes of each epoch."""
    corrections = before.corrections + scan.tally.updates
    swept = sweep(source, scan, options)
    corrections += math.fsum(tally.updates for tally in swept.tallies[:-1])
    history = [tally.mistakes for tally in swept.tallies]
    proof = scan_certificate(swept.status, swept.tallies[-1].loss)
    return OnlineResult(history, proof, corrections=corrections)


def explain_mistakes(
    source: Source,
    scan: Scan,
    options: EpochOptions,
    result: OnlineResult,
    name: str,
    classes: NDArray[Any],
    standardize: bool,
    intercept: bool,
) -> OnlineResult:
    """Return the result of a perceptron called `name`; advise and warn where several epochs all had mistakes."""
    if result.certificate.status is not Status.NOT_CONVERGED or options.epochs == 1:
        return result
    outlook = convergence_outlook(source, classes, scan, theorem=result.bounded)
    advice = outlook.advice(int(result.corrections + scan.tally.updates), standardize, intercept)
    warn(f"{name} did not converge: {advice}", ConvergenceWarning)
    return replace(result, certificate=replace(result.certificate, advice=advice))


def _mean_losses(swept: SweepResult) -> OnlineResult:
    history = [tally.mean_loss for tally in swept.tallies]
    return OnlineResult(history, scan_certificate(swept.status, swept.tallies[-1].loss))
