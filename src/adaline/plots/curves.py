"""Plots of errors: against the number of rows, the value of a parameter, or the number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, can_fit, learns_by_row
from adaline.plots.inputs import numbers, plain_array, same_length
from adaline.plots.style import BLUE, GREY, LINES, ORANGE, Axes, axes, colour, finished, log_scale, short, styled

LOGARITHMIC_RATIO = 30.0  # ratio of the largest to the smallest value from which an axis is logarithmic
MOST_LETTERS = 50  # letters of names side by side, beyond which they are tilted


@styled
def learning_curve(curve: Any, ax: Axes | None = None, *, measure: str | None = None) -> Axes:
    """Draw the error on the rows learned from and on rows held out, against the number of rows learned from.

    Curves that have met high up: the model is too simple. A gap between them: more rows will help.

    Parameters
    ----------
    curve : an object with `sizes`, `training`, `validation` and, where there is one, `std_error` (the standard error
        of `validation`); or a tuple of these. What scikit-learn's `learning_curve` returns will do: columns are folds.
        NaN, of fits that failed, is a gap.
    ax : where to draw; None: axes of a new figure.
    measure : what the numbers are; None: what the curve says.

    Examples
    --------
    >>> from adaline import plots
    >>> ax = plots.learning_curve(([10, 20, 40], [0.1, 0.2, 0.3], [0.9, 0.6, 0.5]), measure="RMSE")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rows learned from', 'RMSE')
    """
    found = _curve(curve, "sizes")
    ax = axes(ax, 3.6)
    _draw(ax, found)
    return finished(ax, "rows learned from", short(measure or getattr(curve, "measure", "error")))


@styled
def validation_curve(
    curve: Any, ax: Axes | None = None, *, name: str | None = None, measure: str | None = None
) -> Axes:
    """Draw the error on the rows learned from and on rows held out, against the value of a setting.

    Parameters
    ----------
    curve : an object with `values`, `training`, `validation` and, where there are some, `std_error` (of
        `validation`) and `chosen` (the index of the chosen one); an object with such a `curve`, as `select`
        returns; or a tuple of these. Values that are no numbers stand side by side; NaN, of candidates that failed or
        of methods that know no training or standard error, is a gap.
    ax : where to draw; None: axes of a new figure.
    name : of the setting; of what `select` returned: which parameter to go along, the others held at the values
        chosen. None: what the curve says, the first parameter.
    measure : what the numbers are; None: what the curve says.

    Examples
    --------
    >>> from adaline import plots
    >>> curve = ([0.01, 0.1, 1.0, 10.0], [0.1, 0.15, 0.3, 0.8], [0.9, 0.5, 0.4, 0.9], [0.1, 0.1, 0.1, 0.1], 2)
    >>> ax = plots.validation_curve(curve, name="penalty")
    >>> ax.get_xscale(), ax.get_legend().get_texts()[-1].get_text()
    ('log', 'chosen: 1')
    """
    if name is not None and hasattr(curve, "along"):
        meant = [full for full in curve.parameters if full.endswith(f"__{name}")]
        curve = curve.along(meant[0] if len(meant) == 1 and name not in curve.parameters else name)
    curve = getattr(curve, "curve", curve)
    found = _curve(curve, "values")
    chosen = found.chosen
    ax = axes(ax, 3.6)
    _draw(ax, found)
    if chosen is not None:
        label = f"{found.across[chosen]:.3g}" if found.names is None else found.names[chosen]
        ax.axvline(found.across[chosen], color=GREY, linestyle=":", linewidth=1.4, label=f"chosen: {label}")
    if found.names is not None:
        tilted: dict[str, Any] = {"rotation": 30, "ha": "right"} if sum(map(len, found.names)) > MOST_LETTERS else {}
        ax.set_xticks(found.across, found.names, **tilted)
    held = ", ".join(f"{other}={short(value, 16)}" for other, value in getattr(curve, "others", {}).items())
    what = short(getattr(curve, "parameter", name or "value")) + (f", at {held}" if held else "")
    return finished(ax, what, short(measure or getattr(curve, "measure", "error")))


@styled
def history(model: AnyModel, ax: Axes | None = None, *, measure: str | None = None) -> Axes:
    """Draw the history of an iterative system: the error of each epoch or step.

    Parameters
    ----------
    model : a fitted system with `history_`; or numbers; or a dictionary of such, by name, to compare.
    ax : where to draw; None: axes of a new figure.
    measure : what the numbers are; None: what the system says.

    Examples
    --------
    >>> from adaline import LMS, Perceptron, plots
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> models = {f"rate {rate}": LMS(rate=rate, epochs=50).fit(X, y) for rate in (0.05, 0.2)}
    >>> ax = plots.history(models)
    >>> ax.get_xlabel(), len(ax.lines)
    ('epoch', 2)
    """
    several: dict[str, Any] = dict(model) if isinstance(model, Mapping) else {"": model}
    if not several:
        raise InvalidParameter("history has nothing to draw: the dictionary is empty")
    ax = axes(ax, 3.4)
    lowest, highest = np.inf, -np.inf
    for k, (name, one) in enumerate(several.items()):
        kept = getattr(one, "history_", None)
        if kept is None and can_fit(one):
            raise InvalidParameter(f"{type(one).__name__} kept no history_: only iterative systems do")
        values = numbers(one if kept is None else kept, "history_")
        style: dict[str, Any] = {"color": colour(k), "linestyle": LINES[k % 4], "linewidth": 1.6}
        dots: dict[str, Any] = {"marker": "o", "markersize": 3.5} if len(values) <= 30 else {}
        begun = len(values) == getattr(one, "n_iter_", len(values)) + 1  # the error before the first step is kept, too
        steps = np.arange(len(values)) + (0 if begun else 1)
        ax.plot(steps, values, label=short(name) or None, **style, **dots)
        lowest, highest = min(lowest, values.min()), max(highest, values.max())
    if lowest > 0 and highest > LOGARITHMIC_RATIO * lowest:
        log_scale(ax, "y")
    ax.locator_params(axis="x", integer=True)
    step = "epoch" if all(learns_by_row(one) for one in several.values()) else "step"
    return finished(ax, step, measure or _measure(next(iter(several.values()))))


class _Curve(NamedTuple):
    across: Array
    training: Array
    validation: Array
    error: Array | None
    chosen: int | None
    names: list[str] | None


def _curve(given: Any, across: str) -> _Curve:
    """Return a curve from an object, a mapping or a tuple; of folds, (m, folds), means and standard errors."""
    if isinstance(given, tuple | list):
        parts = [*given, *[None] * 5][:5]
    elif isinstance(given, Mapping):
        parts = [given.get(key) for key in (across, "training", "validation", "std_error", "chosen")]
    else:
        parts = [getattr(given, key, None) for key in (across, "training", "validation", "std_error", "chosen")]
    if any(part is None for part in parts[:3]):
        raise InvalidParameter(f"the curve needs `{across}`, `training` and `validation`, got {type(given).__name__}")
    training, _ = _folded(parts[1], "training")
    validation, spread = _folded(parts[2], "validation")
    given = np.asarray(plain_array(parts[0]))
    names = None if given.dtype.kind in "iufb" else [short(str(value), 16) for value in given]
    position = numbers(given, across) if names is None else np.arange(float(len(given)))
    error = spread if parts[3] is None else numbers(parts[3], "std_error", gaps=True)
    for name, values in (("training", training), ("validation", validation), ("std_error", error)):
        if values is not None:
            same_length(across, len(position), name, len(values))
    if np.isnan(validation).all():
        raise InvalidData("validation has no finite value: there is nothing to draw")
    return _Curve(position, training, validation, error, parts[4], names)


def _folded(values: AnyArray, name: str) -> tuple[Array, Array | None]:
    out = np.asarray(plain_array(values), dtype=np.float64)
    if out.ndim == 1:
        return numbers(out, name, gaps=True), None
    out = numbers(out, name, 2, gaps=True)
    return out.mean(axis=1), out.std(axis=1, ddof=1) / np.sqrt(out.shape[1]) if out.shape[1] > 1 else None


def _draw(ax: Axes, curve: _Curve) -> None:
    order = np.argsort(curve.across)
    x, down = curve.across[order], curve.validation[order]
    lines = ("--", "-") if curve.names is None else ("", "")  # nothing lies between names
    known = bool(np.isfinite(curve.training).any())  # a criterion of the fit to all rows holds none out
    style: dict[str, Any] = {"markersize": 4, "linewidth": 1.5}
    if known:
        ax.plot(x, curve.training[order], "s" + lines[0], color=ORANGE, label="learned from", **style)
    ax.plot(x, down, "o" + lines[1], color=BLUE, label="held out" if known else None, **style)
    if curve.error is not None and np.isfinite(curve.error).any():
        error = curve.error[order]
        if curve.names is None:
            band: dict[str, Any] = {"color": BLUE, "alpha": 0.15, "linewidth": 0, "label": "± standard error"}
            ax.fill_between(x, down - error, down + error, **band)
        else:
            ax.errorbar(x, down, yerr=error, fmt="none", color=BLUE, capsize=3, label="± standard error")
    drawn = x[np.isfinite(down)]
    if curve.names is None and drawn[0] > 0 and drawn[-1] > LOGARITHMIC_RATIO * drawn[0]:
        log_scale(ax, "x")


def _measure(model: AnyModel) -> str:
    if hasattr(model, "lower_bound_"):
        return "mean log-likelihood of a row"
    return "wrong rows" if hasattr(model, "mistakes_") else "error"
