"""The comparison as one HTML file: opens anywhere, prints, needs no network and runs no script."""

from __future__ import annotations

import base64
import datetime
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from adaline import plots
from adaline.comparison.compare import Comparison, status_text
from adaline.comparison.recommendation import with_error
from adaline.comparison.result import Result
from adaline.comparison.table import LOSSES, REGRESSION
from adaline.inference.effects import Effect, effects, strongest
from adaline.results import Certificate
from adaline.storage.container import replacing
from adaline.systems import LogisticRegression
from adaline.wording import amount, counted, p_value, visible

MOST_COEFFICIENTS = 25
MOST_COLUMNS = 60
MOST_CLASSES = 8
MOST_LEVELS = 5


def write_report(found: Comparison, path: str | os.PathLike[str]) -> Path:
    """Write the report of a comparison; what was there is replaced only once the new report is whole.

    Parameters
    ----------
    found : what `compare` returned.
    path : of the HTML file.

    Examples
    --------
    >>> import tempfile
    >>> from adaline import compare
    >>> from adaline.comparison.report import write_report
    >>> found = compare("longley", target="Employed")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "Employed" in write_report(found, folder + "/report.html").read_text(encoding="utf-8")
    True
    """
    page = visible(render(found))
    with replacing(path) as temporary:
        Path(temporary).write_text(page, encoding="utf-8", errors="replace")
    return Path(path)


def render(found: Comparison) -> str:
    """Return the report as HTML."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["number"] = _number
    pages.filters["p"] = lambda value: p_value(value).replace("-", "–")
    n, d = found.data.X.shape
    chosen = found.recommended
    return pages.get_template("report.html.jinja").render(
        found=found,
        table=found.data,
        rows=n,
        coded=d,
        chosen=chosen,
        ranked=[_entry(found, result) for result in found.results],
        baseline=_entry(found, found.baseline),
        chart=None if chosen is None else _figure(plots.comparison(found), "", _comparison_words(found)),
        coefficients=None if chosen is None else _coefficients(found, chosen),
        pictures=[] if chosen is None else _pictures(found, chosen),
        proof=None if chosen is None or chosen.certificate is None else _proof(chosen.certificate),
        columns=[_column(column) for column in found.data.columns[:MOST_COLUMNS]],
        more_columns=max(len(found.data.columns) - MOST_COLUMNS, 0),
        python=_python(found),
        date=datetime.date.today().isoformat(),
    )


def _entry(found: Comparison, result: Result) -> dict[str, Any]:
    return {
        "label": result.label,
        "chosen": result is found.recommended and found.recommendation.useful,
        "error": with_error(result, found.measure),
        "second": "–" if math.isnan(result.second) else f"{result.second:.4f}",
        "train": amount(result.train_error, found.measure),
        "seconds": f"{result.seconds:.2g}",
        "certificate": "–" if result.certificate is None else status_text(result.certificate),
        "failure": result.failure,
    }


def _figure(ax: Any, title: str, alt: str) -> dict[str, str]:
    image = base64.b64encode(plots.svg(ax).encode("utf-8", errors="replace")).decode()
    return {"title": title, "alt": alt, "uri": f"data:image/svg+xml;base64,{image}"}


def _comparison_words(found: Comparison) -> str:
    parts = [f"{r.label} {with_error(r, found.measure)}" for r in found.results if not r.failure]
    return f"{found.measure} of each system on rows held out: {'; '.join(parts)}"


def _coefficients(found: Comparison, chosen: Result) -> dict[str, Any] | None:
    """Return the picture and the table of the strongest coefficients; None where the model is not linear."""
    every = effects(chosen.model, found.data.X, found.data.names)
    if not every:
        return None
    shown, left = strongest(every, MOST_COEFFICIENTS)
    rows: dict[str, list[Effect]] = {}
    for effect in every:
        rows.setdefault(effect.name, []).append(effect)
    order = [name for name in ("intercept",) if name in rows and name not in found.data.names] + shown
    inference = any(not math.isnan(effect.std_error) for effect in every)
    axes = plots.coefficients(chosen.model, found.data.X, names=found.data.names, limit=MOST_COEFFICIENTS)
    alt = "Effects of one standard deviation, strongest first: " + ", ".join(shown[:8])
    notes = chosen.model.summary().to_dict()["notes"] if hasattr(chosen.model, "summary") else []
    notes = [found.data.with_names(text) for text in notes]
    sides = [effect.side for effect in rows[order[0]]]
    return {
        "figure": _figure(axes, "", alt),
        "rows": [(name, rows[name][:MOST_CLASSES]) for name in order],
        "inference": inference,
        "units": _units(found, chosen),
        "sides": sides[:MOST_CLASSES],
        "more_sides": max(len(sides) - MOST_CLASSES, 0),
        "left": left,
        "notes": notes,
    }


def _units(found: Comparison, chosen: Result) -> str:
    """Return what the outputs of a linear model are measured in."""
    if found.task != REGRESSION:
        return "log odds" if isinstance(chosen.model, LogisticRegression) else "units of the discriminant"
    if chosen.settings.get("loss") in LOSSES:
        return f"units of the logarithm of {found.data.target}"
    return f"units of {found.data.target}"


def _pictures(found: Comparison, chosen: Result) -> list[dict[str, str]]:
    X, y, names = found.data.X, found.data.y, found.data.names
    numbers = len(names) == len(found.data.groups())
    out = []
    if found.task == REGRESSION:
        predicted = np.asarray(chosen.predicted, dtype=np.float64)
        out += [
            _figure(
                plots.residuals(y, predicted),
                "Errors against predictions: no trend and an even width are good",
                "Scatter plot of target minus prediction against prediction, rows held out",
            ),
            _figure(
                plots.quantiles(y - predicted),
                "Are the errors normal? On the line they are",
                "Quantiles of the errors against those of a normal distribution",
            ),
        ]
        if "path_" in vars(chosen.model) and isinstance(chosen.model.path_, dict):
            title = "How the penalty was chosen"
            out.append(_figure(plots.penalty_path(chosen.model), title, "Criterion along the penalty"))
        if len(names) == 1:
            ax = plots.line(chosen.model, X[:, 0], y, names=(names[0], found.data.target))
            out.append(_figure(ax, "The fit", f"{found.data.target} against {names[0]} with the fitted line"))
        return out
    predicted = np.asarray(chosen.predicted)
    ax = plots.confusion(y, predicted)
    out.append(_figure(ax, "What was taken for what, rows held out", "Confusion table of true and predicted classes"))
    if chosen.probability is not None:
        ax = plots.calibration(y, chosen.probability)
        title = "Do the probabilities hold? On the line they do"
        out.append(_figure(ax, title, "Share of rows of a class against the probability given to it"))
    if len(names) == 2 and numbers:
        ax = plots.decision_regions(chosen.model, X, y, names=names)
        title = "Regions of the classes; rows on the wrong side are ringed"
        out.append(_figure(ax, title, f"Decision regions in the plane of {names[0]} and {names[1]}"))
    return out


def _proof(proof: Certificate) -> dict[str, Any]:
    """Return a certificate in words."""
    words = [f"The fit ended as “{proof.status}”, by {proof.solver}."]
    if math.isnan(proof.digits):
        words.append("How many digits of the coefficients are right is not known.")
    else:
        words.append(
            f"At least {math.floor(proof.digits)} significant digits of every coefficient agree with the exact answer "
            "for the numbers given."
        )
    if math.isfinite(proof.gap):
        words.append(f"The objective is at most {proof.gap:.2g} above its minimum, {proof.objective:.6g}.")
    if not math.isnan(proof.condition):
        easy = "well" if proof.condition < 100 else "fairly well" if proof.condition < 1e4 else "badly"
        words.append(
            f"The columns are {easy} conditioned ({proof.condition:.3g}, 1 is best) and {proof.rank} of them are "
            "independent."
        )
    words.append(f"The rows were read {counted(proof.passes, 'time')}.")
    return {"words": " ".join(words), "advice": proof.advice, "text": str(proof)}


def _column(column: dict[str, Any]) -> dict[str, Any]:
    levels = [f"{_clipped(str(level))} ({count:,})" for level, count in column["levels"][:MOST_LEVELS]]
    distinct = column["distinct"] if column["distinct"] is not None else len(column["levels"])
    more = max(distinct, len(column["levels"])) - len(levels) if levels else 0
    holds = ", ".join(levels) + (f" and {more:,} more" if more > 0 else "")
    if not levels and column["low"] is not None:
        holds = f"{_number(column['low'])} to {_number(column['high'])}, mean {_number(column['mean'])}"
    return column | {"holds": holds}


def _clipped(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _python(found: Comparison) -> str:
    """Return the lines that fit the recommended system again: from the table, or from arrays where there was none."""
    label = "LinearRegression" if found.recommended is None else found.recommended.label
    system = f"adaline.{label if label.endswith(')') else label + '()'}"
    lines = [f"# pip install 'adaline[app]=={found.version}'", "import adaline", ""]
    if found.data.opening:
        lines += [] if found.data.source else ["# data: the frame, or the columns, that were compared"]
        lines += [f"table = {found.data.opening}", f"model = {system}.fit(table)"]
    else:
        n, d = found.data.X.shape
        lines += [
            f"# X: the {counted(n)} and {counted(d, 'column')}; y: the target",
            f"model = {system}.fit(X, y)",
        ]
    return "\n".join(lines)


def _number(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.4g}"
    return f"{value:.5g}" if isinstance(value, float) and abs(value) < 1e5 else f"{value:,.0f}"
