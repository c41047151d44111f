"""adaline: every linear learning system of the lectures, exact, fast, and with a proof of its answer.

>>> from adaline import LinearRegression
>>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
>>> [round(float(w), 12) for w in model.coef_]
[2.0]
"""

from importlib.util import find_spec

from adaline.lazy import lazily
from adaline.namesake import warn_of_namesake

__version__ = "0.3.0"

warn_of_namesake()

_find, __dir__, __all__ = lazily(__name__)


def __getattr__(name: str) -> object:
    try:
        return _find(name)
    except AttributeError as error:
        if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:  # what Python looks for, and modules
            raise
        from adaline.peers import our_system

        if not (ours := our_system(name)):
            raise
        raise AttributeError(f"{error}: use {ours} instead") from None
