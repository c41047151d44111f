"""`adaline systems`: lists the systems, or the bundled data sets."""

from __future__ import annotations

import inspect
import re
from typing import Any

from adaline import datasets
from adaline.cli.output import print_json, say, show
from adaline.estimator import is_classifier
from adaline.systems import SYSTEMS
from adaline.systems.families.filter import SignalSystem
from adaline.wording import plain

WIDEST_LIST = 100  # columns of the list of systems


def list_systems(lectures: bool, as_json: bool) -> None:
    """List the systems: for what, what each is, and with `lectures` where the lectures have it."""
    found = [describe_system(name) for name in SYSTEMS]
    if as_json:
        print_json(found)
        return
    shown = {"name": "system", "task": "for", "about": "what it is", **({"reference": "lectures"} if lectures else {})}
    rows = [[one[key] for key in shown] for one in found]
    show([*shown.values()], rows, left=len(shown), widest=WIDEST_LIST)
    say()
    say("Parameters are set by adaline fit --set key=value; adaline systems --json lists them.", style="dim")


def list_data(as_json: bool) -> None:
    """List the data sets that come with the package."""
    found = [
        dict(zip(("name", "about"), datasets.describe(name).split(": ", 1), strict=True)) for name in datasets.names()
    ]
    if as_json:
        print_json(found)
        return
    show(["data set", "what it holds"], [[one["name"], one["about"]] for one in found], left=2)


def describe_system(name: str) -> dict[str, Any]:
    """Return what a system is for, what it minimises, its reference and its parameters, from its docstring.

    Examples
    --------
    >>> from adaline.cli.systems import describe_system
    >>> describe_system("Ridge")["reference"]
    'S0, section 5.2, (5.12)-(5.18)'
    """
    cls = SYSTEMS[name]
    doc = inspect.getdoc(cls) or ""
    first = " ".join(doc.split("\n\n")[0].split()).rstrip(".")
    cited = re.search(r"References\n-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    cites = " ".join(cited.group(1).split()) if cited else ""
    reference = re.sub(r"^Lectures? ", "", re.split(r"; [A-Z]\. |\. (?=[A-Z])|\.$", cites)[0])
    task = "labels" if is_classifier(cls()) else "signals" if issubclass(cls, SignalSystem) else "numbers"
    defaults = {key: plain(one.default) for key, one in inspect.signature(cls).parameters.items()}
    return {"name": name, "task": task, "about": first, "reference": reference, "parameters": defaults}
