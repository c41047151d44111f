"""What is chosen among: one system with its parameters varied over a grid, or several systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from sklearn.base import clone

from adaline import peers
from adaline.errors import InvalidParameter

SHRINKING = ("penalty", "l1", "alpha", "shrinkage", "reg_covar")
"""Parameters of which a larger value is the simpler choice."""

SYSTEM = "system"


class Candidate(NamedTuple):
    """A system that was not fitted yet, what sets it apart from the others, and its place from simple to rich."""

    system: Any
    parameters: dict[str, Any]
    place: tuple[Any, ...]

    @property
    def label(self) -> str:
        """What sets it apart, as text."""
        if list(self.parameters) == [SYSTEM]:
            return shown(self.system)
        return ", ".join(f"{name}={shown(value)}" for name, value in self.parameters.items())


def read_candidates(system: Any, grid: Mapping[str, Any]) -> list[Candidate]:
    """Return the candidates in the order given, the last parameter varying fastest."""
    if isinstance(system, type) or not hasattr(system, "get_params"):
        return _whole_systems(system, grid)
    if not grid:
        raise InvalidParameter(
            f"nothing to choose from: name a parameter of {type(system).__name__} and its values, as in "
            "select(Ridge(), X, y, penalty=[0.1, 1, 10])"
        )
    known = system.get_params()
    names = [_full_name(system, known, name) for name in grid]
    if len(set(names)) < len(names):
        raise InvalidParameter(f"a parameter is named twice: {', '.join(names)}")
    lists = [_values(name, values) for name, values in grid.items()]
    places = [_places(name, values) for name, values in zip(names, lists, strict=True)]
    out = []
    for chosen in product(*(range(len(values)) for values in lists)):
        given = {name: values[i] for name, values, i in zip(names, lists, chosen, strict=True)}
        made = clone(system).set_params(**{name: clone(value, safe=False) for name, value in given.items()})
        out.append(Candidate(made, given, tuple(place[i] for place, i in zip(places, chosen, strict=True))))
    return out


def shown(value: Any) -> str:
    """Return a value of a parameter as one short line."""
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _whole_systems(systems: Any, grid: Mapping[str, Any]) -> list[Candidate]:
    if isinstance(systems, type | str) or not isinstance(systems, Iterable):
        raise InvalidParameter(f"select takes a system or a list of systems, as Ridge(), got {systems!r}")
    if grid:
        raise InvalidParameter("several systems are compared as they are: leave the parameters out, or give one system")
    given = list(systems)
    if not given:
        raise InvalidParameter("nothing to choose from: the list of systems is empty")
    for one in given:
        if not (hasattr(one, "fit") and hasattr(one, "get_params")) or isinstance(one, type):
            raise InvalidParameter(f"select takes a system or a list of systems, as Ridge(), got {one!r}")
    return [Candidate(clone(one), {SYSTEM: one}, (i,)) for i, one in enumerate(given)]


def _full_name(system: Any, known: Mapping[str, Any], name: str) -> str:
    """Return the parameter that a name stands for: itself, or that of the basis or of one step of a pipeline."""
    if name in known:
        return name
    inner = [full for full in known if full.endswith(f"__{name}")]
    if f"basis__{name}" in inner:
        return f"basis__{name}"
    if len(inner) == 1:
        return inner[0]
    owner = type(system).__name__
    if inner:
        raise InvalidParameter(f"{name!r} may be {' or '.join(inner)} of {owner}: write it in full")
    raise InvalidParameter(peers.unknown(owner, known, {name: None}))


def _values(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidParameter(
            f"{name} needs a list of values to choose from, got {values!r}: write {name}=[{values!r}]"
        )
    out = [value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value for value in values]
    if not out:
        raise InvalidParameter(f"{name} has no values to choose from: the list is empty")
    return out


def _places(name: str, values: Sequence[Any]) -> list[int]:
    """Return the place of each value from simple to rich: the order given, but large penalties first."""
    if name.rpartition("__")[2] not in SHRINKING or not all(isinstance(value, int | float) for value in values):
        return list(range(len(values)))
    order = sorted(range(len(values)), key=lambda i: -values[i])
    return [order.index(i) for i in range(len(values))]
