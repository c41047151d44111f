"""Modules of others that a command imports without using them: they are loaded when something in them is asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """Stands for a module until one of its names is asked for; then the module is loaded and takes its place."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def defer(name: str) -> None:
    """Load a module only when it is used; one that is loaded already stays.

    Examples
    --------
    >>> import sys
    >>> from adaline.cli.deferred import defer
    >>> defer("colorsys")
    >>> import colorsys
    >>> colorsys.rgb_to_hsv(0.0, 0.0, 1.0)[2], type(sys.modules["colorsys"]).__name__
    (1.0, 'module')
    """
    if name not in sys.modules:
        sys.modules[name] = DeferredModule(name)
