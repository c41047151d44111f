"""Forms: the parameters of a system that a page can set, as its checks have them, and the system made from an answer.

A page sends plain JSON, only numbers, strings and booleans: each goes through the check of its parameter, and
sizes that would take all memory or time are bounded by LIMITS. First weights (`init`) may be a list of numbers, and the
order of classes (`classes`) is a list of their names, which comes from the board.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from adaline.basis import BASES
from adaline.construction import checks_of
from adaline.errors import InvalidParameter
from adaline.estimator import is_classifier
from adaline.parameters import AnyOf, Check, ClassWeightCheck, Flag, Nothing, Number, OneOf, Seed, WholeNumber
from adaline.systems import SYSTEMS, UNSUPERVISED

LIMITS: dict[str, float] = {
    **{"epochs": 10_000, "max_iter": 1_000, "folds": 20, "points": 200, "n_init": 20, "mixing": 100},
    **{"n_clusters": 20, "n_components": 10, "components": 10, "random_state": 2**31},
    **{"degree": 12, "terms": 30, "centres": 200, "df": 40, "taps": 64, "delay": 64, "record": 0},
}
"""The largest numbers that a page may ask for."""
MADE_HERE = {"basis", "system"}  # parameters with fields of their own on the page
LEFT_OUT = {"init", "scoring", "warm_start", "mixing", "weights", "record", "groups", "classes", "priors"}
MOST_START_NUMBERS = 64  # numbers of first weights that a page gives
BASES_HERE = ("Polynomial", "Fourier", "Radial", "Spline")


@dataclass(frozen=True)
class ModelSpec:
    """A system as a page names it: its name, settings, a basis with its settings, and the system inside a scheme."""

    system: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    basis: str | None = None
    basis_settings: Mapping[str, Any] = field(default_factory=dict)
    inner: str | None = None

    def build(self, **more: Any) -> Any:
        """Return the system, with other settings beside its own; refuse what its form does not have."""
        kind = find_system(self.system)
        made = {**_checked(kind, self.settings), **more}
        if self.basis is not None:
            if self.system in UNSUPERVISED:
                raise InvalidParameter("clusters are drawn without a basis")
            if self.basis not in BASES_HERE:
                raise InvalidParameter(f"the board has no basis {self.basis!r}: {', '.join(BASES_HERE)}")
            basis = BASES[self.basis]
            made["basis"] = basis(**_checked(basis, self.basis_settings))
        if self.inner is not None:
            inner = find_system(self.inner)
            if "system" not in checks_of(kind) or not is_classifier(inner()) or "system" in checks_of(inner):
                raise InvalidParameter(f"{self.system} does not work on machines of {self.inner}")
            made["system"] = inner()
        return kind(**made)

    def with_order(self, classes: list[str]) -> ModelSpec:
        """Return the spec with classes in their order on the board, where its system learns an order."""
        if "classes" not in checks_of(find_system(self.system)):
            return self
        return replace(self, settings={**self.settings, "classes": classes})

    @property
    def call(self) -> str:
        """The system as Python writes it."""
        parts = [f"{name}={value!r}" for name, value in sorted(self.settings.items())]
        if self.basis is not None:
            inside = ", ".join(f"{name}={value!r}" for name, value in sorted(self.basis_settings.items()))
            parts.append(f"basis=basis.{self.basis}({inside})")
        if self.inner is not None:
            parts.insert(0, f"{self.inner}()")
        return f"{self.system}({', '.join(parts)})"


def find_system(name: str) -> Any:
    """Return the class of a system by its name in the registries."""
    for registry in (SYSTEMS, UNSUPERVISED):
        if name in registry:
            return registry[name]
    raise InvalidParameter(f"there is no system {name!r}")


def _checked(kind: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are; refuse names that are no fields, and numbers beyond the limits."""
    checks = checks_of(kind)
    known = {one["name"] for one in form_fields(kind)} | (LISTS.keys() & checks.keys())
    for name, value in settings.items():
        if name not in known:
            raise InvalidParameter(f"{kind.__name__} has no field {name!r} on the board")
        if isinstance(value, list | dict) and not (name in LISTS and LISTS[name](value)):
            raise InvalidParameter(f"{name} must be a number, a word, true or false on the board")
        most = _limit(name, inspect.signature(kind).parameters[name].default)
        if most is not None and type(value) in (int, float) and value > most:
            raise InvalidParameter(f"{name} may be at most {most:g} on the board, got {value!r}")
        checks[name].check(name, value)
    return dict(settings)


def _limit(name: str, default: Any) -> float | None:
    """Return the largest number that a page may ask for, which is never below the default; None for no limit."""
    if name not in LIMITS:
        return None
    return max(LIMITS[name], default) if type(default) in (int, float) else LIMITS[name]


def _is_start(value: Any) -> bool:
    """Whether a value is a list of numbers, or of rows of them, of a size that a start on the board can have."""
    rows = value if isinstance(value, list) else []
    flat = [one for row in rows for one in (row if isinstance(row, list) else [row])]
    return 0 < len(flat) <= MOST_START_NUMBERS and all(type(one) in (int, float) for one in flat)


def _is_order(value: Any) -> bool:
    """Whether a value is a list of names."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


LISTS = {"init": _is_start, "classes": _is_order}
"""Parameters that may be lists on the board, and what such a list must be."""


@cache
def systems_by_task() -> dict[str, list[str]]:
    """Return the names of the systems that suit each task."""
    classes = [name for name, kind in SYSTEMS.items() if is_classifier(kind())]
    numbers = [name for name in SYSTEMS if name not in classes]
    return {"classes": classes, "numbers": numbers, "clusters": list(UNSUPERVISED)}


@cache
def form_fields(kind: Any) -> tuple[dict[str, Any], ...]:
    """Return the fields of the form of a system or basis: name, kind of entry, limits, words, default, help."""
    checks, text = checks_of(kind), inspect.getdoc(kind) or ""
    shown = []
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in MADE_HERE or name in LEFT_OUT or name not in checks:
            continue
        default = parameter.default
        entry = _entry(checks[name], _limit(name, default))
        plain = default is None or isinstance(default, bool | int | float | str)
        if entry and plain:
            shown.append({"name": name, "default": default, "help": _help(text, name), **entry})
    return tuple(shown)


def _entry(check: Check, most: float | None) -> dict[str, Any]:
    """Return what may be entered for a parameter: numbers within limits, words, or both; {} for nothing plain."""
    words: list[Any] = []
    number: dict[str, Any] = {}
    for one in check.checks if isinstance(check, AnyOf) else (check,):
        match one:
            case Flag():
                words += [True, False]
            case Nothing():
                words.append(None)
            case OneOf():
                words += one.words
            case Number() | WholeNumber():
                number = {"number": True, "whole": isinstance(one, WholeNumber), "least": one.least}
                if isinstance(one, Number):
                    number |= {"most": one.most, "above": one.above, "below": one.below}
            case Seed():
                number = {"number": True, "whole": True, "least": 0}
            case ClassWeightCheck():
                pass
    if number and most is not None:
        number["most"] = most
    return {"words": words, "wanted": check.wanted, **number} if words or number else {}


def _help(text: str, name: str) -> str:
    """Return the sentence of a docstring that explains a parameter."""
    found = re.search(rf"^(?:\w+, )*{name}(?:, \w+)* : [^\n]*\n((?:    [^\n]*\n?)+)", text, re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def form_of(name: str) -> dict[str, Any]:
    """Return the form of a system by its name."""
    kind = find_system(name)
    checks = checks_of(kind)
    text = (inspect.getdoc(kind) or "").split("\n\n")[0]
    inner = [one for one in systems_by_task()["classes"] if "system" not in checks_of(SYSTEMS[one])]
    return {
        "system": name,
        "says": " ".join(text.split()),
        "fields": list(form_fields(kind)),
        "bases": {one: list(form_fields(BASES[one])) for one in BASES_HERE} if name in SYSTEMS else {},
        "inner": inner if "system" in checks else [],
    }
