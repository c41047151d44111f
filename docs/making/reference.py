"""The reference: a page for each public name, found in `__all__`, so that a new name appears by itself."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from formulas import marked

Names = list[tuple[str, Any]]

ABOUT = {
    "Systems": "Learners with scikit-learn's interface: `fit`, `predict`, `score`, and a `certificate_`.",
    "Functions": "What is done with data and models.",
    "Results and errors": "What every fit carries, and what can go wrong.",
}


FIRST = [
    *("fit", "predict", "predict_proba", "decision_function", "transform", "filter", "score", "summary", "test"),
    *("influence", "partial_fit", "learn_one", "predict_one", "merge", "forget", "value", "slope", "curvature"),
]
HIDDEN = {
    "compared",
    "get_params",
    "set_params",
    "set_output",
    "get_metadata_routing",
}  # the last four as in scikit-learn


def chapters() -> dict[str, tuple[str, Names]]:
    """Return by title what a chapter is about and its names, as one writes them, with the objects behind them.

    The names of `adaline` come first, then those of each public module that lists its own.
    """
    import adaline

    values = {name: getattr(adaline, name) for name in adaline.__all__}
    modules = {name: value for name, value in values.items() if isinstance(value, ModuleType)}
    found: dict[str, tuple[str, Names]] = {title: (about, []) for title, about in ABOUT.items()}
    for name in values.keys() - modules.keys():
        found[_chapter(values[name])][1].append((name, values[name]))
    for name, module in sorted((name, module) for name, module in modules.items() if hasattr(module, "__all__")):
        members = ((f"{name}.{member}", getattr(module, member)) for member in module.__all__)
        found[f"adaline.{name}"] = (_first(module), [pair for pair in members if callable(pair[1])])
    return {title: (about, sorted(names, key=lambda pair: pair[0].lower())) for title, (about, names) in found.items()}


def _chapter(value: Any) -> str:
    if not isinstance(value, type):
        return "Functions"
    return "Systems" if value.__module__.startswith("adaline.systems") else "Results and errors"


def _first(value: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def page(value: Any) -> str:
    """Return the page of a name: mkdocstrings writes it from the docstrings, where it is defined."""
    told = f"::: {value.__module__}.{value.__qualname__}\n"
    return told + f"    options: {{members: {members(value)}}}\n" if isinstance(value, type) else told


def members(value: type) -> list[str]:
    """Return the public methods and properties of a class that have a docstring here, those that all need first."""
    found = [
        name
        for base in value.__mro__
        if base.__module__.startswith("adaline")
        for name, member in vars(base).items()
        if not name.startswith("_") and name not in HIDDEN and getattr(member, "__doc__", None)
        if callable(member) or isinstance(member, property | classmethod | staticmethod)
    ]
    return sorted(set(found), key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def index(found: dict[str, tuple[str, Names]]) -> str:
    """Return the page that lists all names."""
    parts = ["# Reference\n\nEvery public name, from its docstring; all examples run as tests.\n"]
    for title, (about, names) in found.items():
        lines = [f"| [`{name}`]({name}.md) | {_summary(value)} |" for name, value in names]
        parts.append(f"## {title}\n\n{about}\n\n| name | what it is |\n|---|---|\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _summary(value: Any) -> str:
    """What the first paragraph says before its colon, for a cell of a table: a bar would end it, in formulas too."""
    said = marked(_first(value).split(": ")[0].rstrip("."))
    said = re.sub(r"\\\(.*?\\\)", lambda found: found[0].replace(r"\|", r"\Vert ").replace("|", r"\vert "), said)
    return said.replace("|", r"\|")


def on_config(config: Any) -> Any:
    """Put the pages into the navigation."""
    parts = [{title: [{name: f"reference/{name}.md"} for name, _ in names]} for title, (_, names) in chapters().items()]
    chapter = ["reference/index.md", *parts]
    config.nav = [{"Reference": chapter} if entry == {"Reference": "reference/"} else entry for entry in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File

    found = chapters()
    files.append(File.generated(config, "reference/index.md", content=index(found)))
    for _, names in found.values():
        for name, value in names:
            files.append(File.generated(config, f"reference/{name}.md", content=page(value)))
    return files
