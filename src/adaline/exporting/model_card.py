"""`card`: what a fitted model knows of itself on one page, Markdown or HTML, and questions for people to answer."""

from __future__ import annotations

import html
import inspect
import math
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from adaline.coding import Column
from adaline.errors import AdalineError, InvalidParameter, InvalidType
from adaline.fitted import AnyModel, AnySystem, check_is_fitted, has_classes, has_summary, is_linear, rows_of
from adaline.inference.summary import cell, escaped, html_row
from adaline.input.system import System, columns_on
from adaline.results import Status, some
from adaline.storage.container import replacing
from adaline.storage.pipelines import flat_steps, is_pipeline
from adaline.systems.families.filter import SignalSystem
from adaline.wording import counted, number, visible

MOST_COEFFICIENTS = 60  # that are listed; of more, the largest, so that the page stays one
MOST_LEVELS = 12  # of a column that are named
FINE = (Status.SOLVED, Status.GIVEN)
MISSING = {
    "error": "refused",
    "drop": "such rows were left out, and are refused in predictions",
    "mean": "filled by the mean of a column, or by the shares of its levels",
    "indicator": "filled by the mean, with an indicator column; a separate level in categories",
}
UNSEEN = {"error": "refused", "other": "predicted as an average level"}
STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem .8rem; border-bottom: 1px solid #8885 }
tbody th, th:first-child, .words td { text-align: left; font-weight: 500 }
.blank { border-left: 4px solid #b84a00; padding: .4rem .8rem; color: #777 }
"""
TO_FILL_IN = {
    "Intended use": "What is the model for, who uses its predictions, and what must it not be used for?",
    "Risks": "Whom can a wrong prediction harm? Were the errors compared between groups of people?",
    "Contact": "Who answers questions, and when is the model due to be fitted again?",
}


@dataclass
class Section:
    """A heading with paragraphs, a list and a table below it.

    Parameters
    ----------
    title : the heading.
    lines : paragraphs.
    items : of a list.
    heads, rows : of a table.
    preformatted : lines of tables of text, with their columns aligned.
    blank : a question that is left to be answered.
    """

    title: str
    lines: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    rows: list[Sequence[str]] = field(default_factory=list)
    preformatted: list[str] = field(default_factory=list)
    blank: str = ""


def card(model: AnyModel, path: str | os.PathLike[str] | None = None) -> str:
    """Return the model card of a fitted model: data, coefficients, certificate, findings, and questions to answer.

    The card says what the model itself knows. Intended use and risks are left to be filled in.

    Parameters
    ----------
    model : a fitted system, or a Pipeline that ends with one.
    path : a file to write, .md or .html, which says whether the text is Markdown or HTML; None returns Markdown.

    Examples
    --------
    >>> from adaline import LinearRegression, card, open_table
    >>> model = LinearRegression().fit(open_table("penguins", formula="body_mass_g ~ sex + flipper_length_mm"))
    >>> print(card(model).splitlines()[0])
    # LinearRegression of body_mass_g

    References
    ----------
    M. Mitchell et al., Model cards for model reporting, FAT* (2019), 220-229.
    """
    ending = ".md" if path is None else Path(path).suffix.lower()
    if ending not in (".md", ".html"):
        raise InvalidParameter(f"a card is Markdown or HTML: end {Path(str(path)).name!r} in .md or .html")
    system = flat_steps(model)[-1] if is_pipeline(model) else model
    if not isinstance(system, System):
        raise InvalidType(f"{type(system).__name__} is not an adaline model: convert it with from_sklearn")
    check_is_fitted(system)
    title, sections = _sections(model, system)
    text = _markdown(title, sections) if ending == ".md" else _page(title, sections)
    if path is not None:
        with replacing(path) as temporary:
            Path(temporary).write_text(text, encoding="utf-8")
    return text


def _sections(model: AnyModel, system: AnySystem) -> tuple[str, list[Section]]:
    coding = columns_on(system).coding
    target = None if coding is None else coding.target
    title = type(system).__name__ + (f" of {target}" if target else "")
    known = [_model(model, system), _data(system), _coefficients(system), _certificate(system), _findings(system)]
    return title, [*known, *(Section(name, blank=question) for name, question in TO_FILL_IN.items())]


def _model(model: AnyModel, system: AnySystem) -> Section:
    from adaline import __version__

    out = Section("Model", [(inspect.getdoc(type(system)) or "").split("\n\n")[0].replace("\n", " ")], heads=["", ""])
    out.rows.extend([("system", " ".join(str(system).split())), ("library", f"adaline {__version__}")])
    if is_pipeline(model):
        out.rows.append(("steps before", ", ".join(type(one).__name__ for one in flat_steps(model)[:-1])))
    if has_classes(system):
        out.rows.append(("classes", some([*map(str, system.classes_)])))
    return out


def _data(system: AnySystem) -> Section:
    """Return the rows and columns of the fit."""
    columns, out = columns_on(system), Section("Data", heads=["column", "kind", "values"])
    rows, coding = rows_of(system), columns.coding
    if rows:
        out.lines.append(f"Fitted to {counted(rows)}.")
    if coding is None:
        out.items.append(f"columns: {some(columns.given_names())}")
        return out
    named = {"target": coding.target, "weights": coding.weight, "offset": coding.offset}
    out.items.extend(f"{what}: {name}" for what, name in named.items() if name is not None)
    out.items.append(f"missing values: {MISSING[coding.missing]}")
    if any(one.is_category for one in coding.columns):
        out.items.append(f"levels that were not in these rows: {UNSEEN[coding.unseen]}")
    out.rows.extend((one.name, one.kind, _values(one)) for one in coding.columns)
    return out


def _values(column: Column) -> str:
    if not column.levels:
        return "" if math.isnan(column.mean) else f"mean {number(column.mean)}"
    shares = dict(zip(column.levels, column.share, strict=False))
    shown = [f"{one} ({shares[one]:.1%})" if one in shares else str(one) for one in column.levels]
    return some(shown, most=MOST_LEVELS)


def _coefficients(system: AnySystem) -> Section:
    """Return the table of coefficients, with intervals where the model has them."""
    out = Section("Coefficients")
    summary = None
    if has_summary(system):
        try:
            summary = system.summary()
        except AdalineError as error:
            out.lines.append(f"No standard errors: {error}")
    if summary is None:
        if isinstance(system, SignalSystem):
            out.lines.append("The weights are those of past samples: see coef_.")
            return out
        if not is_linear(system):
            out.lines.append("This model is not a weighted sum of columns.")
            return out
        found = system.coefficients(MOST_COEFFICIENTS)
        several = any("target" in row for row in found.rows)
        out.heads.extend(["coefficient", *(("of",) if several else ()), "estimate"])
        out.rows = [
            (row["name"], *((row["target"],) if several else ()), number(row["coefficient"])) for row in found.rows
        ]
        if found.count > len(found.rows):
            out.lines.append(f"The {len(found.rows)} largest of {found.count:,}.")
        return out
    values = summary.to_dict()
    rows, ends = values["coefficients"], 50 * (1 - values["level"])
    several = any("target" in row for row in rows)
    heads = {"estimate": "estimate", "std_error": "std. error", "lower": f"{ends:g}%", "upper": f"{100 - ends:g}%"}
    out.heads.extend(["coefficient", *(("of",) if several else ()), *heads.values(), "p"])
    for row in rows[:MOST_COEFFICIENTS]:
        numbers = [cell(row, name) for name in (*heads, "p_value")]
        out.rows.append((row["name"], *((str(row["target"]),) if several else ()), *numbers))
    if len(rows) > MOST_COEFFICIENTS:
        out.lines.append(f"The first {MOST_COEFFICIENTS} of {len(rows):,}.")
    if summary.rows:
        closing = summary.closing()
        tables = "" in closing  # with an empty line between them
        out.items.extend([*(line for part in summary.sections() for line in part.lines), *([] if tables else closing)])
        out.preformatted.extend(closing if tables else [])
    return out


def _certificate(system: AnySystem) -> Section:
    """Return what is proven of the solution."""
    proof = system.certificate_
    out = Section("Certificate", heads=["", ""])
    out.rows.extend([("status", str(proof.status)), ("solver", proof.solver)])
    if not math.isnan(proof.digits):
        out.rows.append(("correct digits of the worst coefficient", f"{proof.digits:.1f}"))
    if not math.isnan(proof.condition):
        out.rows.append(("condition number", f"{proof.condition:.3g}"))
        out.rows.append(("rank", str(proof.rank)))
    if proof.status is not Status.SOLVED:
        out.lines.append(proof.advice)
    return out


def _findings(system: AnySystem) -> Section:
    """Return what the fit found that its users should know."""
    out = Section("Findings")
    if system.certificate_.status not in FINE:
        out.items.append(f"The fit ended as {system.certificate_.status}: {system.certificate_.advice}.")
    if getattr(system, "dependencies_", None):
        out.items.extend([f"Columns depend on others: {one}." for one in system.dependencies_])
    if has_summary(system):
        with suppress(AdalineError):
            out.items.extend(system.summary().notes)
    if not out.items:
        out.lines.append("None by the fit itself. The command adaline compare looks for more in the data.")
    return out


def _markdown(title: str, sections: Sequence[Section]) -> str:
    """Return a page as Markdown; letters that mean something there, or in HTML, are written out."""
    out = [f"# {_plain(title)}"]
    for one in sections:
        out += ["", f"## {one.title}"]
        out += [part for line in one.lines for part in ("", _plain(line))]
        if one.rows:
            out += ["", _row(one.heads), _row(["---"] * len(one.heads), raw=True), *map(_row, one.rows)]
        out += [""] * bool(one.items) + [f"- {_plain(item)}" for item in one.items]
        out += ["", *_fenced([visible(line, kept="") for line in one.preformatted])] if one.preformatted else []
        out += ["", f"_To be filled in: {one.blank}_"] if one.blank else []
    return "\n".join(out) + "\n"


def _fenced(lines: list[str]) -> list[str]:
    """Return lines between fences that none of them can close."""
    fence = "`" * max([3, *(len(run) + 1 for line in lines for run in re.findall("`+", line))])
    return [fence, *lines, fence]


def _row(cells: Sequence[str], raw: bool = False) -> str:
    return f"| {' | '.join(cell if raw else _plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    line = " ".join(visible(text, kept="").split())
    return re.sub(r"([\\`*\[\]|#~]|\b_|_\b)", r"\\\1", html.escape(line, quote=False))


def _page(title: str, sections: Sequence[Section]) -> str:
    """Return a page of HTML."""
    head = f'<meta charset="utf-8">\n<title>{escaped(title)}</title>\n<style>{STYLE}</style>'
    out = [f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>', f"<h1>{escaped(title)}</h1>"]
    for one in sections:
        out.append(f"<h2>{escaped(one.title)}</h2>")
        out += [f"<p>{escaped(line)}</p>" for line in one.lines]
        if one.rows:
            named = any(one.heads)
            heads = "".join(f"<th>{escaped(head)}</th>" for head in one.heads)
            rows = "".join(html_row(row[1:], row[0]) for row in one.rows)
            top = f"<table><thead><tr>{heads}</tr></thead>" if named else '<table class="words">'
            out.append(f"{top}<tbody>{rows}</tbody></table>")
        out += ["<ul>", *(f"<li>{escaped(item)}</li>" for item in one.items), "</ul>"] if one.items else []
        out += [f"<pre>{escaped(chr(10).join(one.preformatted))}</pre>"] if one.preformatted else []
        out += [f'<p class="blank">To be filled in: {escaped(one.blank)}</p>'] if one.blank else []
    return "\n".join([*out, "</body>\n</html>\n"])
