"""`adaline summary`: shows a saved model; and how every command shows a fitted model and its certificate."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from adaline import storage
from adaline.attributes import own_attributes
from adaline.cli.output import console, print_facts, print_json, say, show
from adaline.fitted import AnyModel, has_certificate, has_classes, has_summary, is_linear, rows_of, uses_basis
from adaline.inference.summary import CoefficientTable, cell, certificate_shown
from adaline.input.basis import basis_of, columns_of
from adaline.input.system import names_on
from adaline.results import Status, some
from adaline.storage.pipelines import last_step
from adaline.wording import counted, number, plain

MOST_SHOWN = 40  # coefficients, columns and classes that are shown by default
CLASSES_ABREAST = 8  # classes beside each other in a table
FROM_TABLE = ("target", "offset", "weight")  # columns or expressions of a table that are shown where there are any
WIDE_TERMINAL = 96  # columns of a terminal from which estimates have six digits


def run_summary(path: Path, as_json: bool) -> None:
    """Show a saved model."""
    head = storage.read_header(path)
    whole = storage.load(path)
    model = last_step(whole)
    steps = {name: " ".join(str(step).split()) for name, step in whole.steps} if model is not whole else {}
    values = described(model) if has_certificate(model) else {}
    if as_json:
        inside = {"steps": steps, "columns": head["columns"]} if steps else {}
        print_json({**values, **inside, "created": head["created"], "adaline": head["adaline"]})
        return
    written = ("written", f"{head['created']} by adaline {head['adaline']}")
    lines = [("model", str(path))]
    lines += [(f"step {name}", step) for name, step in steps.items()]
    if not values:
        print_facts([*lines, written])
        return
    lines.append(("system", type(model).__name__))
    changed = ", ".join(f"{key}={value!r}" for key, value in values["parameters"].items() if _is_set(model, key))
    lines += [("settings", changed)] if changed else []
    lines += [(name, str(values[name])) for name in FROM_TABLE if values[name] is not None]
    if values["columns"] is not None:
        coded = model.n_features_in_ if model.n_features_in_ != len(values["columns"]) else None
        more = f" (coded as {coded})" if coded is not None else ""
        lines.append(("columns", some(values["columns"], most=MOST_SHOWN) + more))
    if values["classes"] is not None:
        lines.append(("classes", some([*map(str, values["classes"])], most=MOST_SHOWN)))
    lines += [("rows", f"{values['rows']:,}")] if values["rows"] is not None else []
    print_facts([*lines, written])
    say()
    explain(model)


def described(model: AnyModel, summary: CoefficientTable | None = None) -> dict[str, Any]:
    """Return a fitted model as plain values, for JSON; with its own summary where none is given."""
    coding = getattr(model, "coding_", None)
    out: dict[str, Any] = {
        "system": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "rows": rows_of(model),
        **{name: None if coding is None else getattr(coding, name) for name in FROM_TABLE},
        "columns": list(coding.needed) if coding is not None else None,
        "features": columns_of(model) if names_on(model) is not None or uses_basis(model) else None,
        "classes": getattr(model, "classes_", None),
        "intercept": getattr(model, "intercept_", None),
        "coef": getattr(model, "coef_", None),
        "certificate": own_attributes(model.certificate_),
    }
    if summary is None and has_summary(model):
        summary = model.summary()
    if summary is not None:
        out["summary"] = {key: value for key, value in summary.to_dict().items() if key not in ("certificate", "title")}
    return dict(plain(out))


def explain(model: AnyModel, most: int | None = None, rest: str = "", summary: CoefficientTable | None = None) -> None:
    """Print coefficients and certificate; no more than `most` coefficients, then `rest`, which says where they are.

    The table is the model's own summary where none is given.
    """
    proof = model.certificate_
    if summary is not None or has_summary(model):
        summary = summary or model.summary()
        proof = certificate_shown(summary)
        _show_summary(summary, most, rest)
    elif has_classes(model):
        _show_discriminants(model, most, rest)
    elif is_linear(model):
        _show_weights(model, most, rest)
    else:
        _show_centres(model, most, rest)
    say()
    certify(proof)


def certify(proof: Any) -> None:
    """Print a certificate, and what to do about it."""
    first, *advice = str(proof).splitlines()
    say(f"certificate: {first}", style="green" if proof.status is Status.SOLVED else "yellow")
    for line in advice:
        say(f"advice: {line.replace(' (see aliased_)', '')}", style="yellow")


def _show_summary(summary: CoefficientTable, most: int | None, rest: str) -> None:
    digits = 6 if console().width >= WIDE_TERMINAL else 5
    for part in summary.sections():
        if part.heading:
            say(part.heading, style="bold")
        for k, columns in enumerate(summary.groups()):
            rows = part.rows[k > 0 and summary.intercept :]  # the odds where all columns are zero are of no interest
            cells = [[row["name"], *(cell(row, column, digits) for column in columns)] for row in rows[:most]]
            show(["", *columns.values()], cells)
            _more(len(part.rows), most, rest)
            say()
        for line in part.lines:
            say(line)
    closing = summary.closing()
    for line in [*([""] if closing else []), *closing, *(f"note: {text}" for text in summary.notes)]:
        say(line)


def _show_discriminants(model: AnyModel, most: int | None, rest: str) -> None:
    """Print the weights of a classifier, a column a class; those of two classes favour the second."""
    classes = [str(label) for label in model.classes_]
    machines = getattr(model, "estimators_", [model])
    if not all(is_linear(machine) for machine in machines):
        print_facts([("classes", ", ".join(classes)), ("boundaries", "quadratic: there are no linear weights to show")])
        return
    coef = np.concatenate([np.atleast_2d(machine.coef_) for machine in machines])
    constant = np.concatenate([np.ravel(machine.intercept_) for machine in machines])
    sides = [f"for {classes[1]}, against {classes[0]}"] if len(coef) == 1 else classes
    if machines[0] is not model:
        sides = model.questions()
    inner = None if machines[0] is model else basis_of(machines[0])
    names = ["intercept", *(columns_of(model) if inner is None else inner.names(columns_of(model)))]
    shown = zip(names[:most], [constant, *coef.T[:most]], strict=False)
    table = [[name, *(number(float(v)) for v in row)] for name, row in shown]
    for first in range(0, len(sides), CLASSES_ABREAST):
        if first:
            say()
        chosen = slice(first, first + CLASSES_ABREAST)
        show(["", *sides[chosen]], [[row[0], *row[1:][chosen]] for row in table[:most]])
    _more(len(names), most, rest)


def _show_centres(model: AnyModel, most: int | None, rest: str) -> None:
    """Print the centres of clusters or the means of densities, a row each."""
    centres = getattr(model, "cluster_centers_", getattr(model, "means_", None))
    rows = [[str(k), *(number(float(v)) for v in row)] for k, row in enumerate(np.asarray(centres))]
    show(["", *columns_of(model)], rows[:most])
    _more(len(rows), most, rest)


def _show_weights(model: AnyModel, most: int | None, rest: str) -> None:
    """Print the coefficients of a filter, or of anything else that is linear."""
    coef = np.atleast_2d(model.coef_)
    names = model._tap_names() if hasattr(model, "_tap_names") else columns_of(model)
    heads = ["coefficient"] if len(coef) == 1 else [f"target {k}" for k in range(len(coef))]
    rows = [[name, *(number(float(v)) for v in row)] for name, row in zip(names, coef.T, strict=True)]
    if np.any(np.asarray(model.intercept_) != 0):
        constant = np.broadcast_to(np.ravel(model.intercept_), (len(coef),))
        rows.insert(0, ["intercept", *(number(float(v)) for v in constant)])
    show(["", *heads], rows[:most])
    _more(len(rows), most, rest)


def _more(count: int, most: int | None, rest: str) -> None:
    if most is not None and count > most:
        say(f"... and {count - most} more{rest}")


def model_label(model: AnyModel) -> str:
    """Return a system with its parameters where that is short, else its name."""
    text = " ".join(str(model).split()).removesuffix("()")
    return text if len(text) < 60 else type(model).__name__


def rows_text(rows: int | None) -> str:
    """Return a number of rows in words; "? rows" where it is not known."""
    return "? rows" if rows is None else counted(rows)


def _is_set(model: AnyModel, key: str) -> bool:
    """Whether a parameter differs from its default."""
    return repr(getattr(model, key)) != repr(inspect.signature(type(model)).parameters[key].default)
