"""Constructor arguments of estimators: unknown names are explained, values are checked before a fit.

An estimator is a dataclass, whose fields are its arguments: `penalty: Annotated[float, ZERO_OR_MORE] = 0.0`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING
from functools import cache, wraps
from inspect import Parameter, get_annotations, signature
from operator import is_
from typing import Any, TypeVar

from adaline import peers
from adaline.attributes import own_attributes
from adaline.errors import AdalineWarning, UnknownParameter, warn
from adaline.fitted import AnySystem
from adaline.parameters import Check

C = TypeVar("C", bound=type[Any])


def configured(cls: C) -> C:
    """Make the constructor and `set_params` of an estimator explain a parameter that it does not have.

    Its signature shows the plain types of the parameters.

    Examples
    --------
    >>> from adaline import Ridge
    >>> Ridge(alpha=1.0)
    Traceback (most recent call last):
    adaline.errors.UnknownParameter: Ridge has no parameter 'alpha': alpha is called penalty here
    """
    construct, set_params = cls.__init__, cls.set_params
    construct.__annotations__ = {name: _plain(hint) for name, hint in construct.__annotations__.items()}

    @wraps(construct)
    def explaining(self: Any, *args: Any, **given: Any) -> None:
        try:
            construct(self, *args, **given)
        except TypeError:
            message = _misnamed(type(self).__name__, construct, args, given)
            if message is None:
                raise
            raise UnknownParameter(message) from None

    @wraps(set_params)
    def setting(self: Any, **params: Any) -> Any:
        known = self.get_params()
        owners = {name.partition("__")[0]: value for name, value in params.items() if name not in known}
        strange = {name: value for name, value in owners.items() if name not in known}
        if strange:
            raise UnknownParameter(peers.unknown(type(self).__name__, self._get_param_names(), strange))
        for name in owners:
            if not hasattr(params.get(name, known[name]), "set_params"):
                raise UnknownParameter(f"{name} is {known[name]!r}, which has no parameters: set {name} first")
        return set_params(self, **params)

    cls.__init__, cls.set_params = explaining, setting
    return cls


@cache
def checks_of(cls: type[Any]) -> dict[str, Check]:
    """Return the check of each constructor parameter: that of its annotation, `Annotated[type, check]`, or a base's."""
    out: dict[str, Check] = {}
    for base in (one for one in reversed(cls.__mro__) if one.__module__.startswith("adaline.")):
        for name, hint in get_annotations(base, eval_str=True).items():
            for check in getattr(hint, "__metadata__", ()):
                out[name] = check
    return out


@cache
def _defaults(cls: Any) -> tuple[list[str], list[Any]]:
    """Return the names of the constructor parameters that have a check, and their defaults."""
    names = list(checks_of(cls))
    return names, [getattr(cls, name, MISSING) for name in names]


@cache
def _defaults_and_conditions(cls: Any) -> list[tuple[str, Any, dict[str, Check]]]:
    """Return the name, the default and the others of each parameter in `used_with`."""
    return [(name, getattr(cls, name), others) for name, others in getattr(cls, "used_with", {}).items()]


def is_system(estimator: AnySystem) -> bool:
    """Whether an estimator is one of adaline's, and so takes sources; others take only arrays."""
    kind: Any = type(estimator)
    return bool(checks_of(kind))


def check_parameters(system: AnySystem) -> None:
    """Refuse invalid constructor arguments, and warn of those that have no effect beside the others.

    `used_with` of a class has, by the name of a parameter, the others that make it effective: one of them has to have a
    value that its check accepts. A `random_state` is never warned of: it is set by habit.
    """
    if not check_values(system):
        return
    kind: Any = type(system)
    for name, default, others in _defaults_and_conditions(kind):
        value = getattr(system, name)
        if value is default or value is False or (isinstance(value, str | float | int) and value == default):
            continue  # False asks for nothing
        if not any(check.accepts(getattr(system, other)) for other, check in others.items()):
            needed = " or ".join(f"{other} to be {' or '.join(check.options)}" for other, check in others.items())
            found = ", ".join(f"{other}={getattr(system, other)!r}" for other in others)
            warn(f"{kind.__name__} ignores {name}={value!r}: it needs {needed}, not {found}", AdalineWarning)


def check_values(system: AnySystem) -> bool:
    """Refuse invalid constructor arguments: each by its check, then, by `_check_together`, in combination.

    Return whether any of them is not the default of its class.
    """
    kind: Any = type(system)
    names, defaults = _defaults(kind)
    values = list(map(own_attributes(system).get, names, defaults))
    changed = not all(map(is_, values, defaults))
    if changed:
        checks = checks_of(kind)
        for name, value, default in zip(names, values, defaults, strict=True):
            if value is not default and not checks[name].accepts(value):
                checks[name].refuse(name, value)  # defaults, attributes of the class, need no check
    system._check_together()
    return changed


class _Shown(str):
    """The text of an annotation, which signatures and `help` show without quotes."""

    __repr__ = str.__str__


def _plain(hint: Any) -> Any:
    """Return an annotation that is text without the check in it: "float" of "Annotated[float, POSITIVE]"."""
    return _Shown(re.sub(r"^Annotated\[((?:[^][,]|\[[^]]*\])+), .*\]$", r"\1", hint)) if isinstance(hint, str) else hint


def _misnamed(owner: str, construct: Callable[..., None], args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
    """Return the message for a call with unnamed or unknown parameters; None where it has none."""
    _, *taken = signature(construct).parameters.values()
    if any(one.kind is Parameter.VAR_KEYWORD for one in taken):
        return None
    names = [one.name for one in taken]
    if len(args) > sum(one.kind is Parameter.POSITIONAL_OR_KEYWORD for one in taken):
        return peers.say_unnamed(owner, names, args)
    unknown = {name: value for name, value in given.items() if name not in names}
    return peers.unknown(owner, names, unknown) if unknown else None
