"""Constructor arguments: given by name, explained where a name is not known, checked before a fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from adaline import peers
from adaline.errors import UnknownParameter
from adaline.parameters import Check


class Configured(BaseEstimator):
    """An estimator whose constructor arguments are declared in one table, `parameters`.

    A class lists what it adds to the tables of its bases. Arguments are stored as given; `_check_parameters` checks
    them, once, where learning begins.

    Examples
    --------
    >>> from adaline import Ridge
    >>> Ridge(alpha=1.0)
    Traceback (most recent call last):
    adaline.errors.UnknownParameter: Ridge has no parameter 'alpha': alpha is called penalty here
    """

    parameters: ClassVar[dict[str, Check]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        own, cls.parameters = cls.__dict__.get("parameters", {}), {}
        for table in (*(getattr(base, "parameters", {}) for base in reversed(cls.__bases__)), own):
            cls.parameters |= table
        if "__init__" in cls.__dict__:
            cls.__init__ = _explaining(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set constructor arguments, also those of a basis or system inside by `basis__degree`."""
        known = self._get_param_names()
        strange = {name: value for name, value in params.items() if "__" not in name and name not in known}
        if strange:
            raise UnknownParameter(peers.unknown(type(self).__name__, known, strange))
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        """Refuse constructor arguments that mean nothing: each by itself, then together."""
        given = vars(self)
        for name, check in self.parameters.items():
            if name in given:
                check.check(name, given[name])
        self._check_together()

    def _check_together(self) -> None:
        """Refuse arguments that mean nothing beside each other."""


def _explaining(construct: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that says, of an argument it does not take, how that is written here."""

    @wraps(construct)
    def explaining(self: Any, *args: Any, **given: Any) -> None:
        try:
            construct(self, *args, **given)
        except TypeError:
            told = _misnamed(type(self).__name__, construct, args, given)
            if told is None:
                raise
            raise UnknownParameter(told) from None

    return explaining


def _misnamed(owner: str, construct: Callable[..., None], args: tuple[Any, ...], given: dict[str, Any]) -> str | None:
    """Return what is wrong with the names of a call; None where nothing is."""
    _, *taken = signature(construct).parameters.values()
    if any(one.kind is Parameter.VAR_KEYWORD for one in taken):
        return None
    names = [one.name for one in taken]
    if len(args) > sum(one.kind is Parameter.POSITIONAL_OR_KEYWORD for one in taken):
        return peers.by_name(owner, names, args)
    strange = {name: value for name, value in given.items() if name not in names}
    return peers.unknown(owner, names, strange) if strange else None
