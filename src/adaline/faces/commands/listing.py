"""What there is: systems with their place in the lectures, bundled data sets, and what a model file holds."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier

from adaline import datasets, storage
from adaline.faces.commands.explaining import described, explain
from adaline.faces.commands.showing import facts, plain, print_json, say, show
from adaline.systems import SYSTEMS
from adaline.systems.signals import SignalSystem


def systems(as_json: bool) -> None:
    """List the systems: for what, what each is, and where the lectures have it."""
    found = [system(name) for name in SYSTEMS]
    if as_json:
        print_json(found)
        return
    rows = [[one["name"], one["task"], one["about"], one["reference"]] for one in found]
    show(["system", "for", "what it is", "lectures"], rows, left=4)
    say()
    say("Parameters are set by adaline fit --set key=value; adaline systems --json lists them.", style="dim")


def data(as_json: bool) -> None:
    """List the data sets that come with the package."""
    found = [
        dict(zip(("name", "about"), datasets.describe(name).split(": ", 1), strict=True)) for name in datasets.names()
    ]
    if as_json:
        print_json(found)
        return
    show(["data set", "what it holds"], [[one["name"], one["about"]] for one in found], left=2)


def summary(path: Path, as_json: bool) -> None:
    """Show what a model file holds."""
    head = storage.read_header(path)
    model = storage.load(path)
    told = described(model)
    if as_json:
        print_json({**told, "created": head["created"], "adaline": head["adaline"]})
        return
    lines = [("model", str(path)), ("system", type(model).__name__)]
    changed = ", ".join(f"{key}={value!r}" for key, value in told["parameters"].items() if _differs(model, key))
    lines += [("settings", changed)] if changed else []
    lines += [("target", str(told["target"]))] if told["target"] is not None else []
    if told["columns"] is not None:
        coded = model.n_features_in_ if model.n_features_in_ != len(told["columns"]) else None
        more = f" (coded as {coded})" if coded is not None else ""
        lines.append(("columns", ", ".join(told["columns"]) + more))
    lines += [("classes", ", ".join(map(str, told["classes"])))] if told["classes"] is not None else []
    lines += [("rows", f"{told['rows']:,}")] if told["rows"] is not None else []
    lines.append(("written", f"{head['created']} by adaline {head['adaline']}"))
    facts(lines)
    say()
    explain(model)


def system(name: str) -> dict[str, Any]:
    """Return what a system says about itself.

    Examples
    --------
    >>> from adaline.faces.commands.listing import system
    >>> system("Ridge")["reference"]
    'S0, section 5.2, (5.12)-(5.18)'
    """
    cls = SYSTEMS[name]
    doc = inspect.getdoc(cls) or ""
    first = " ".join(doc.split("\n\n")[0].split()).rstrip(".")
    cited = re.search(r"References\n-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    cites = " ".join(cited.group(1).split()) if cited else ""
    reference = re.sub(r"^Lectures? ", "", re.split(r"\. (?=[A-Z])|\.$", cites)[0])
    task = "labels" if is_classifier(cls()) else "signals" if issubclass(cls, SignalSystem) else "numbers"
    defaults = {key: plain(one.default) for key, one in inspect.signature(cls).parameters.items()}
    return {"name": name, "task": task, "about": first, "reference": reference, "parameters": defaults}


def _differs(model: Any, key: str) -> bool:
    return repr(getattr(model, key)) != repr(inspect.signature(type(model)).parameters[key].default)
