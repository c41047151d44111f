"""Modules that are imported when one of their names is first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from adaline.attributes import own_attributes

__all__ = ["Registry", "lazily", "nw", "pa", "pd", "sklearn", "torch"]

NAME = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are those that its `__init__.pyi` imports.

    A line of that file is `from adaline.sums.moments import Moments as Moments`: type checkers read it, and the module
    is imported when the name is first asked for.
    """
    spec: Any = sys.modules[package].__spec__
    home = {name: module for module, name in NAME.findall(spec.loader.get_data(f"{spec.origin}i").decode())}

    def find(name: str) -> Any:
        if name not in home:
            text = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=sys.modules[package])  # so that Python suggests a close name
        where = f"{package}.{name}" if home[name] == package else home[name]  # a module, or a name in one
        try:
            module = import_module(where)
        except AttributeError as error:  # which `from package import name` would not show
            raise ImportError(f"{where} cannot be imported: {error}") from error
        value = module if home[name] == package else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        own = (name for name in own_attributes(sys.modules[package]) if name.startswith("__") or name.isupper())
        return sorted({*home, *own})

    return find, listed, sorted(home, key=lambda name: (not name.isupper(), name))


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
    """Stands for a module, and imports it, or a module in it, when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":  # pickle and doctest ask for these of any object
            raise AttributeError(name)
        try:
            value = getattr(import_module(self._name), name)
        except AttributeError:
            value = import_module(f"{self._name}.{name}")
        if hasattr(value, "__path__"):  # a package, whose modules may not have been imported
            value = LazyModule(f"{self._name}.{name}")
        setattr(self, name, value)
        return value

    def __reduce__(self) -> Any:
        return LazyModule, (self._name,)  # to a cluster's workers


if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pandas as pd
    import pyarrow as pa
    import sklearn
    import torch
else:
    nw, pa, pd, sklearn, torch = map(LazyModule, ("narwhals.stable.v1", "pyarrow", "pandas", "sklearn", "torch"))
