"""A method that either succeeds or leaves the model as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def transaction(method: Method) -> Method:
    """Restore the attributes of an object where its method raises; the method may replace them, not change them."""

    @wraps(method)
    def restoring(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Method, restoring)
