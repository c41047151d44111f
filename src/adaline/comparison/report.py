"""The comparison as one HTML file: opens anywhere, prints, needs no network and runs no script."""

from __future__ import annotations

import base64
import datetime
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from numpy.typing import NDArray

from adaline import plots
from adaline.comparison.changes import (
    LEVEL,
    Change,
    base_level,
    changes,
    differences,
    factors,
    products_of_step,
    rows_averaged,
    steps,
    steps_affordable,
    strongest_changes,
    unit_of,
)
from adaline.comparison.classes import held_out_scores, positive_class, recalls
from adaline.comparison.drawing import Drawing, DrawingProcess
from adaline.comparison.ranking import Ranking, certificate_text
from adaline.comparison.recommendation import SAME_ERROR, with_error
from adaline.comparison.result import Result, rms, system_call
from adaline.comparison.table import LOSSES, REGRESSION
from adaline.errors import AdalineError
from adaline.fitted import has_enclosure, has_summary, is_linear
from adaline.inference.strengths import Strength, strengths, strongest
from adaline.plots.additive import draw_curve, draw_effects
from adaline.plots.coefficients import draw_strengths
from adaline.plots.comparison import draw_errors, errors_of
from adaline.plots.style import on_dark
from adaline.plots.thresholds import MOST_CURVES
from adaline.results import Certificate
from adaline.sources.threads import blas_threads_for
from adaline.storage.container import replacing
from adaline.systems import ElasticNet, LogisticRegression, OnlineLogistic, OrdinalRegression
from adaline.wording import amount, counted, four_places, p_value, visible

MOST_COEFFICIENTS = 25  # coefficients in a picture; doubling it makes the picture twice as tall
MOST_COLUMNS = 60  # columns in the table of the data; doubling it makes the page longer
SHOWN_CLASSES = 8  # classes beside each other in a table; doubling it makes tables wider than a page
MOST_LEVELS = 5  # levels that a line names; doubling it makes lines hard to read
MOST_CHANGES = 8  # columns whose effect on the prediction is drawn; doubling it takes twice as long, and a longer page
MOST_DIFFERENCES = 5  # differences between two systems that are shown; doubling it makes the page longer
LEAST_NAMED = 0.1  # share of the largest change below which a class is not named; doubling it names fewer classes
MOST_PROVED = 2_000_000  # numbers of the rows up to which coefficients are enclosed; doubling it takes twice as long
MOST_STEPS = 60  # steps along all columns that are drawn; doubling it takes twice as long, for smoother curves
JOINTS = re.compile(r"(?<=[^\W\d][_/|\\])(?=\w)|(?<=\w)(?=[(\[])")  # where a long name may break


def write_report(found: Ranking, path: str | os.PathLike[str], drawing: DrawingProcess | None = None) -> Path:
    """Write the report of a comparison; what was there is replaced only once the new report is whole.

    Parameters
    ----------
    found : what `compare` returned.
    path : of the HTML file.
    drawing : a process that draws the pictures; None: they are drawn here.

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
    with blas_threads_for(min(found.data.X.shape)):
        page = visible(render(found, drawing))
    with replacing(path) as temporary:
        Path(temporary).write_text(page, encoding="utf-8", errors="replace")
    return Path(path)


@cache
def template() -> Template:
    """Return the page that a report fills; compiling it takes a while."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["number"] = _number
    pages.filters["share"] = lambda value: "–" if math.isnan(value) else f"{100 * value:.1f}%"
    pages.filters["name"] = _with_joints
    pages.filters["p"] = lambda value: p_value(value).replace("-", "–")
    return pages.get_template("report.html.jinja")


def render(found: Ranking, drawing: DrawingProcess | None = None) -> str:
    """Return the report as HTML."""
    n, d = found.data.X.shape
    chosen = found.recommended
    scores = None
    if chosen is not None and found.task != REGRESSION:
        scores = held_out_scores(chosen, found.data)
    pictures = [] if chosen is None else _pictures(found, chosen, scores)
    chart = None if chosen is None else _chart(found)
    coefficients = None if chosen is None else _coefficients(found, chosen)
    curves = None if chosen is None else _curves(found)
    figures = [*pictures, *([chart] if chart else []), *([coefficients["figure"]] if coefficients else [])]
    figures += [] if curves is None else curves["figures"]
    if drawing is not None:
        drawing.start([one.drawing for one in figures])
    shown = {
        "found": found,
        "table": found.data,
        "rows": n,
        "coded": d,
        "chosen": chosen,
        "ranked": [_entry(found, i, result) for i, result in enumerate(found.results)],
        "baseline": _entry(found, len(found.results), found.baseline),
        "chart": chart,
        "coefficients": coefficients,
        "curves": curves,
        "changes": None if chosen is None else _changes(found, chosen),
        "classes": None if chosen is None or found.task == REGRESSION else _classes(found, chosen, scores),
        "pictures": pictures,
        "left_out": _left_out(found),
        "proof": None if chosen is None or chosen.certificate is None else _proof(found, chosen, chosen.certificate),
        "columns": [_column(column) for column in found.data.columns[:MOST_COLUMNS]],
        "more_columns": max(len(found.data.columns) - MOST_COLUMNS, 0),
        "python": _python(found),
        "date": datetime.date.today().isoformat(),
    }
    texts = [one.drawing.svg() for one in figures] if drawing is None else drawing.finish()
    for one, text in zip(figures, texts, strict=True):
        one.text = text
    return template().render(shown)


def _entry(found: Ranking, i: int, result: Result) -> dict[str, Any]:
    return {
        "label": result.label,
        "chosen": result is found.recommended and found.recommendation.useful,
        "error": with_error(result, found.measure),
        "second": "–" if math.isnan(result.second) else four_places(result.second),
        "train": amount(result.train_error, found.measure),
        "seconds": f"{result.seconds:.2g}",
        "certificate": "–" if result.certificate is None else certificate_text(result),
        "failure": result.failure,
        "section": found.sections.get(i, ""),
    }


@dataclass
class Figure:
    """A picture of the report.

    Parameters
    ----------
    title, alt : above the picture, and what it shows in words.
    drawing : how it is drawn.
    themed : whether it has other colours on a dark page.
    text : SVG, once it is drawn.
    """

    title: str
    alt: str
    drawing: Drawing
    themed: bool = True
    text: str = ""

    @property
    def uri(self) -> str:
        """The picture for a light page."""
        return _data_uri(self.text)

    @property
    def dark(self) -> str:
        """The picture for a dark page; "" where it is the same."""
        return _data_uri(on_dark(self.text)) if self.themed else ""


def _figure(title: str, alt: str, plot: Callable[..., Any], *arguments: Any, **options: Any) -> Figure:
    return Figure(title, alt, Drawing(plot, arguments, options))


def _data_uri(text: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(text.encode('utf-8', errors='replace')).decode()}"


def _chart(found: Ranking) -> Figure:
    return _figure("", _comparison_words(found), draw_errors, **errors_of(found))


def _comparison_words(found: Ranking) -> str:
    parts = [f"{r.label} {with_error(r, found.measure)}" for r in found.results if not r.failure]
    return f"{found.measure} of each system on held-out rows: {'; '.join(parts)}"


def _coefficients(found: Ranking, chosen: Result) -> dict[str, Any] | None:
    """Return the picture and the table of the strongest coefficients; None where the model is not linear."""
    every = strengths(chosen.model, found.data.X, found.data.names, chosen.fold_models, found.data.spread)
    if not every:
        return None
    shown, left = strongest(every, MOST_COEFFICIENTS)
    rows: dict[str, list[Strength]] = {}
    for effect in every:
        rows.setdefault(effect.name, []).append(effect)
    order = [name for name in ("intercept",) if name in rows and name not in found.data.names] + shown
    alt = "Effects of one standard deviation, strongest first: " + ", ".join(shown[:8])
    summary = has_summary(chosen.model)
    notes = chosen.model.summary().to_dict()["notes"] if summary else []
    sides = [effect.side for effect in rows[order[0]]]
    return {
        "figure": _figure("", alt, draw_strengths, every, limit=MOST_COEFFICIENTS),
        "rows": [(name, rows[name][:SHOWN_CLASSES]) for name in order],
        "intervals": any(not math.isnan(effect.std_error) for effect in every),
        "summary": summary,
        "units": _units(found, chosen),
        "sides": sides[:SHOWN_CLASSES],
        "more_sides": max(len(sides) - SHOWN_CLASSES, 0),
        "about_mean": len(sides) > 1 and not summary,
        "shown": len(shown),
        "left": left,
        "notes": [found.data.with_names(text) for text in notes],
    }


def _curves(found: Ranking) -> dict[str, Any] | None:
    """Return the curves and the variance components of the additive model; None where there is none.

    Curves that bend most come first. Levels are named as the data have them where they are few.
    """
    result = next((one for one in found.results if one.columns is not None and not one.failure), None)
    if result is None or result.columns is None:
        return None
    model, shown, target = result.model, result.columns.shown(), found.data.target
    effects, tested = model.random_effects_, {row["term"]: row for row in model.terms_}
    figures = []
    for curve in sorted(model.curves(), key=lambda one: -tested[one.term]["edf"])[:MOST_CHANGES]:
        name = shown[curve.columns[0]]
        alt = f"{target} against {name}, about the mean, with the bands of the curve"
        figures.append(_figure("", alt, draw_curve, curve._replace(term=target, columns=(name,))))
    for own, frame in effects.items():
        levels = _levels_of(found, shown[own], np.asarray(frame["level"]).astype(np.intp))
        given = (levels, np.asarray(frame["intercept"]), np.asarray(frame["intercept_std_error"]), shown[own])
        figures.append(_figure("", f"Effects of {shown[own]} on {target}, in order", draw_effects, *given, target))
    return {
        "label": result.label,
        "error": with_error(result, found.measure),
        "figures": figures,
        "terms": [{**row, "term": shown[row["term"]]} for row in model.terms_],
        "components": [
            {
                "group": shown.get(row["group"], row["group"]),
                "levels": len(effects[row["group"]]["level"]) if row["group"] in effects else math.nan,
                "sd": row["sd"],
            }
            for row in model.variance_components_
        ],
    }


def _levels_of(found: Ranking, name: str, codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return the levels of a category as the data have them, by their numbers in a comparison."""
    for one in found.data.levels:
        if one.name == name:
            return one.values[codes]
    coded = [level[1] for j in found.data.groups()[name] if (level := LEVEL.search(found.data.names[j]))]
    return np.array([base_level(found.data, name, coded), *coded], dtype=object)[codes]


def _changes(found: Ranking, chosen: Result) -> dict[str, Any] | None:
    """Return what steps in the columns do by the recommended system, and what the runner-up says differently."""
    taken = every_step = steps(found.data)
    if not taken:
        return None
    other = next((result for result in found.results if result is not chosen and not result.failure), None)
    compared = [chosen] if other is None else [chosen, other]
    products = max(products_of_step(result, found.data, found.task) for result in compared)
    limit = steps_affordable(products, MOST_CHANGES, MOST_STEPS)
    if len(taken) > limit:
        every = strengths(chosen.model, found.data.X, found.data.names, spread=found.data.spread)
        first = strongest(every, limit)[0] or found.data.names
        taken = ([step for step in taken if found.data.names[step.column] in first] or taken)[:limit]
    averaged = rows_averaged(products * len(taken), found.data, found.task)
    ours = changes(chosen, found.data, found.task, taken, averaged)
    positive = ""
    if found.task != REGRESSION and len(np.unique(found.data.y)) == 2:
        positive = str(positive_class(found.data.y))
        ours = [[change for change in own if change.side == positive] for own in ours]
    unlike = [] if other is None else differences(ours, changes(other, found.data, found.task, taken, averaged))
    summed = has_summary(chosen.model) and is_linear(chosen.model)
    by_summary = found.task == REGRESSION and summed and chosen.settings.get("loss") not in LOSSES
    n, count = len(found.data.y), len(range(len(found.data.y))[averaged])
    times = {factor.step.text: [_multiplied(factor)] for factor in factors(chosen, found.data, taken)}
    return {
        "rows": [
            {
                "step": own[0].step.text,
                "sides": [
                    (change.side, *_said(found, change), change.known)
                    for change in own[:3]
                    if abs(change.estimate) >= LEAST_NAMED * abs(own[0].estimate)
                ]
                + times.get(own[0].step.text, []),
            }
            for own in strongest_changes(ours, MOST_CHANGES)
        ],
        "more": max(len(every_step) - MOST_CHANGES, 0),
        "over": "the rows" if by_summary or count == n else f"{count:,} of the {n:,} rows",
        "multiplied": bool(times),
        "what": _changed(found, chosen, positive),
        "two": bool(positive),
        "how": "of the coefficients" if by_summary else f"by the jackknife over {found.folds} folds",
        "other": None if other is None else other.label,
        "other_error": None if other is None else with_error(other, found.measure),
        "apart": "" if other is None else _apart(found, chosen, other),
        "unlike": [
            {
                "step": one.step.text,
                "side": "" if positive else one.side,
                "ours": _said(found, one),
                "theirs": _said(found, its),
                "known": its.known,
            }
            for one, its in unlike[:MOST_DIFFERENCES]
        ],
        "more_unlike": max(len(unlike) - MOST_DIFFERENCES, 0),
    }


def _multiplied(factor: Change) -> tuple[str, str, str, bool]:
    """Return what a step multiplies the prediction by, in words: "×1.22", "1.15 to 1.3", and whether it surely does."""
    interval = f"{factor.lower:.3g} to {factor.upper:.3g}"
    return "", f"×{factor.estimate:.3g}", interval, not factor.lower <= 1 <= factor.upper


def _changed(found: Ranking, chosen: Result, positive: str) -> str:
    """Return the quantity that changes."""
    if found.task == REGRESSION:
        return f"Predicted {found.data.target}"
    what = "Probability of" if chosen.probability is not None else "Share of rows given the label"
    return f"{what} {positive}" if positive else f"{what} a class" if chosen.probability is not None else what


def _said(found: Ranking, change: Change) -> tuple[str, str]:
    """Return a change and its interval in words: "+185 g" and "124 to 246"."""
    scale, unit = (1.0, unit_of(found.data.target)) if found.task == REGRESSION else (100.0, "points")
    values = [scale * value for value in (change.estimate, change.lower, change.upper)]
    size = max(abs(value) for value in values if not math.isnan(value))
    places = 0 if size == 0 else min(max(2 - math.floor(math.log10(size)), 0), 12)
    places = places if size == 0 or 1e-6 < size < 1e9 else -1
    texts = [(f"{value:.{places}f}" if places >= 0 else f"{value:.3g}").replace("-", "−") for value in values]
    sign = "+" if change.estimate > 0 else ""
    interval = "" if math.isnan(change.lower) or size == 0 else f"{texts[1]} to {texts[2]}"
    return f"{sign}{texts[0]}{' ' if unit else ''}{unit}", interval


def _apart(found: Ranking, chosen: Result, other: Result) -> str:
    """Return how far the predictions of two systems for held-out rows are apart."""
    if found.task == REGRESSION:
        apart = rms(np.asarray(chosen.predicted) - np.asarray(other.predicted), found.data.weight)
        if apart < SAME_ERROR * chosen.error:
            return "its predictions are the same"
        unit = unit_of(found.data.target)
        return f"its predictions differ by {_number(apart, 3)}{' ' if unit else ''}{unit} (root mean square)"
    same = np.average(np.asarray(chosen.predicted) == np.asarray(other.predicted), weights=found.data.weight)
    return (
        "it gives every held-out row the same label"
        if same == 1
        else f"it gives {100 * same:.1f}% of the held-out rows the same label"
    )


def _classes(found: Ranking, chosen: Result, scores: Any) -> dict[str, Any]:
    """Return how well each class is recognised on rows held out."""
    y = found.data.y
    rows = recalls(y, np.asarray(chosen.predicted), scores, found.data.weight)
    two = len(rows) == 2
    positive = str(positive_class(y)) if two else ""
    return {
        "rows": sorted(rows, key=lambda row: -row.rows)[: 3 * SHOWN_CLASSES],
        "more": max(len(rows) - 3 * SHOWN_CLASSES, 0),
        "scored": scores is not None,
        "positive": positive,
        "auc": next((row.auc for row in rows if row.label == positive), math.nan),
        "of": "probabilities" if chosen.probability is not None else "decision values",
        "balanced": sum(row.recall for row in rows) / len(rows),
        "threshold": found.threshold,
        "costs": found.costs,
    }


def _left_out(found: Ranking) -> list[str]:
    """Return the rows and columns that were left out, with reasons."""
    table, sampled = found.data, found.data.total_rows - len(found.data.y)
    out = [text for text in found.notes if "left out" in text]
    if table.constant:
        names = ", ".join(table.constant[:MOST_COLUMNS])
        out.append(f"{counted(len(table.constant), 'column')} left out, the same value in every row: {names}")
    if table.dropped and not found.notes:
        rows = counted(table.total_rows + table.dropped)
        out.append(f"{table.dropped:,} of {rows} left out because of missing values")
    if sampled > 0:
        out.append(f"{sampled:,} of {counted(table.total_rows)} not in the random sample that was compared")
    return out


def _units(found: Ranking, chosen: Result) -> str:
    """Return the unit of the outputs of a linear model."""
    if isinstance(chosen.model, OrdinalRegression):
        return "log odds of a higher class"
    if found.task != REGRESSION:
        log_odds = isinstance(chosen.model, LogisticRegression | OnlineLogistic | ElasticNet)
        return "log odds" if log_odds else "units of the discriminant"
    if chosen.settings.get("loss") in LOSSES:
        return f"units of the logarithm of {found.data.target}"
    return f"units of {found.data.target}"


def _pictures(found: Ranking, chosen: Result, scores: Any) -> list[Figure]:
    X, y, names = found.data.X, found.data.y, found.data.names
    numbers = len(names) == len(found.data.groups())
    out, path = [], []
    if isinstance(getattr(chosen.model, "path_", None), dict):
        path = [
            _figure("How the penalty was chosen", "Criterion along the penalty", plots.penalty_path, chosen.model),
        ]
    if found.task == REGRESSION:
        predicted = np.asarray(chosen.predicted, dtype=np.float64)
        out += [
            _figure(
                "Residuals against predictions: no trend and an even spread are good",
                "Scatter plot of target minus prediction against prediction, on held-out rows",
                plots.residuals,
                y,
                predicted,
            ),
            _figure(
                "Normal quantile plot: points on the line mean normal errors",
                "Quantiles of the errors against those of a normal distribution",
                plots.quantiles,
                y - predicted,
            ),
        ]
        out += path
        if len(names) == 1 and found.data.offset is None:
            alt = f"{found.data.target} against {names[0]} with the fitted line"
            both = (names[0], found.data.target)
            out.append(_figure("The fit", alt, plots.line, chosen.model, X[:, 0], y, names=both))
        return out
    predicted = np.asarray(chosen.predicted)
    title = "Confusion table on held-out rows"
    out.append(_figure(title, "Confusion table of true and predicted classes", plots.confusion, y, predicted))
    labels: Sequence[Any] = list(np.unique(y))
    if len(labels) == 2:  # the positive class last, as the plots have it
        positive = labels.index(positive_class(y))
        labels = [labels[1 - positive], labels[positive]]
        scores = None if scores is None else scores[:, positive]
    if scores is not None and len(labels) <= MOST_CURVES:
        title = "ROC: up and to the left is good; the diagonal is chance"
        out.append(_figure(title, "ROC curves", plots.roc, y, scores, classes=labels))
        title = "Precision and recall: up and to the right is good; the faint lines are chance"
        alt = "Curves of precision against recall"
        out.append(_figure(title, alt, plots.precision_recall, y, scores, classes=labels))
    if chosen.probability is not None:
        title = "Calibration: points on the line mean correct probabilities"
        alt = "Share of rows of a class against the probability given to it"
        out.append(_figure(title, alt, plots.calibration, y, scores, classes=labels))
    if len(names) == 2 and numbers:
        known = np.isin(y, chosen.model.classes_)  # a model fitted to a sample may not know them all
        title = "Decision regions; misclassified rows are ringed"
        alt = f"Decision regions in the plane of {names[0]} and {names[1]}"
        regions = _figure(title, alt, plots.decision_regions, chosen.model, X[known], y[known], names=names)
        out.append(replace(regions, themed=False))
    return out + path


def _enclosed(found: Ranking, chosen: Result) -> str:
    """Return what is proved of the coefficients of a model, "" where nothing is."""
    data = found.data
    if chosen.sampled or not has_enclosure(chosen.model) or math.prod(data.X.shape) > MOST_PROVED:
        return ""
    offset = {} if data.offset is None else {"offset": data.offset}
    try:
        enclosure = chosen.model.enclose(data.X, data.y, data.weight, **offset)
    except (AdalineError, TypeError):  # of its settings, or without offsets
        return ""
    if not enclosure.proved:
        return ""
    widest = counted(math.ceil(float(np.max(enclosure.width))), "unit")
    return f"It is proved that every coefficient lies between bounds at most {widest} in the last place apart."


def _proof(found: Ranking, chosen: Result, proof: Certificate) -> dict[str, Any]:
    """Return a certificate in words."""
    words = [f"The fit ended as “{proof.status}”, by {proof.solver}."]
    if math.isnan(proof.digits):
        words.append("How many digits of the coefficients are right is not known.")
    else:
        words.append(
            f"At least {math.floor(proof.digits)} significant digits of every coefficient agree with the exact answer "
            "for the numbers given."
        )
    if enclosed := _enclosed(found, chosen):
        words.append(enclosed)
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


def _with_joints(text: Any) -> Markup:
    """Return a name as HTML that may break after an underscore or a dot, not inside a word."""
    return Markup("<wbr>").join(escape(part) for part in JOINTS.split(str(text)))


def _clipped(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _python(found: Ranking) -> str:
    """Return the lines that fit the recommended system again: from the table, or from arrays where there was none."""
    best = found.recommended
    call = "LinearRegression" if best is None else system_call(best.system, best.settings)
    system = f"adaline.{call if call.endswith(')') else call + '()'}"
    lines = [f"# made with adaline-learn {found.version}", "import adaline", ""]
    if found.data.opening is not None:
        lines += [] if found.data.source else ["# data: the frame, or the columns, that were compared"]
        opening = found.data.opening(() if best is None or best.columns is None else best.columns.many)
        lines += [f"table = {opening}", f"model = {system}.fit(table)"]
    else:
        n, d = found.data.X.shape
        lines += [
            f"# X: the {counted(n)} and {counted(d, 'column')}; y: the target",
            f"model = {system}.fit(X, y)",
        ]
    return "\n".join(lines)


def _number(value: Any, digits: int = 5) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float) and value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}g}"
    return f"{value:.{digits}g}" if isinstance(value, float) and abs(value) < 1e4 else f"{value:,.0f}"
