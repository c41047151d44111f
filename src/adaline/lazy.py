"""Modules that are imported when one of their names is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Registry", "lazily", "nw"]


def lazily(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, from the names of each of its modules: {"moments": "Moments ROUNDING"}.

    Under "" are names of modules themselves.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        where = f"{package}.{home[name] or name}"
        try:
            module = import_module(where)
        except AttributeError as error:  # which `from package import name` would not show
            raise ImportError(f"{where} cannot be imported: {error}") from error
        value = getattr(module, name) if home[name] else module
        setattr(sys.modules[package], name, value)
        return value

    return find


class Registry(MutableMapping[str, Any]):
    """Classes by their names, those of a package imported when they are taken; `suffix` is left out of the names."""

    def __init__(self, package: str, names: str, suffix: str = "") -> None:
        self.package = package
        self.known: dict[str, Any] = {name.removesuffix(suffix): name for name in names.split()}

    def __getitem__(self, name: str) -> Any:
        found = self.known[name]
        return getattr(sys.modules[self.package], found) if isinstance(found, str) else found

    def __setitem__(self, name: str, value: type[Any]) -> None:
        self.known[name] = value

    def __delitem__(self, name: str) -> None:
        del self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}


class LazyModule:
    """Stands for a module, and imports it when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
else:
    nw = LazyModule("narwhals.stable.v1")
