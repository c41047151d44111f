"""Checks of parameters: the values allowed, and one message for all others: "NAME must be ..., got ...".

    Number(least=0)                    a number of zero or more
    Number(above=0, most=1)            a number above 0 and at most 1
    WholeNumber(1)                     a whole number of 1 or more
    OneOf("full", "tied")             one of full, tied
    AnyOf(OneOf("auto"), Number(0))   'auto' or a number of zero or more

A system has a check in the annotation of each of its constructor arguments. Checks convert nothing: a value is turned
into what a computation needs where that computation is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter

MOST_VALUE_CHARACTERS = 200  # characters of a value that a message shows


class Check(ABC):
    """The values that a parameter may have.

    Examples
    --------
    >>> from adaline.parameters import Number
    >>> Number(least=0).check("penalty", 1.5)
    >>> Number(least=0).check("penalty", -1)
    Traceback (most recent call last):
    adaline.errors.InvalidParameter: penalty must be a number of zero or more, got -1
    """

    wanted: str
    """The values allowed, in words that follow "must be"."""
    hint: str = ""
    """What to do instead of a value that is refused."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether a value is allowed."""

    @property
    def options(self) -> list[str]:
        """The values allowed, as one or more phrases, which `AnyOf` joins by "or"."""
        return [self.wanted]

    def reason(self, value: Any) -> str:
        """Return why a value is refused, or what to do instead; "" where the message needs no more."""
        return self.hint

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidParameter, with the name of the parameter, where its value is not allowed."""
        if not self.accepts(value):
            self.refuse(name, value)

    def refuse(self, name: str, value: Any) -> NoReturn:
        """Raise InvalidParameter for a value that is not allowed."""
        shown, why = repr(value), self.reason(value)
        got = shown if len(shown) <= MOST_VALUE_CHARACTERS else shown[:MOST_VALUE_CHARACTERS] + "..."
        raise InvalidParameter(f"{name} must be {self.wanted}, got {got}{why and f'; {why}'}")


class Number(Check):
    """A finite real number: `least` or more, `most` or less, `above` and `below` exclusive; None is no bound."""

    def __init__(
        self,
        least: float | None = None,
        most: float | None = None,
        *,
        above: float | None = None,
        below: float | None = None,
    ) -> None:
        self.least, self.most, self.above, self.below = least, most, above, below
        self.wanted = self._in_words()

    def accepts(self, value: Any) -> bool:
        real = type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
        if not real or not math.isfinite(value):
            return False
        number = float(value)
        return (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )

    def _in_words(self) -> str:
        match self.least, self.above, self.most, self.below:
            case None, None, None, None:
                return "a number"
            case 0, None, None, None:
                return "a number of zero or more"
            case None, 0, None, None:
                return "a positive number"
            case least, None, most, None if least is not None and most is not None:
                return f"a number from {least:g} to {most:g}"
            case None, above, None, below if above is not None and below is not None:
                return f"between {above:g} and {below:g}"
        bounds = {"at least": self.least, "above": self.above, "at most": self.most, "below": self.below}
        return "a number " + " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)


class WholeNumber(Check):
    """A whole number, `least` or more where that is given."""

    def __init__(self, least: int | None = None, *, hint: str = "") -> None:
        self.least, self.hint = least, hint
        self.wanted = "a whole number" if least is None else f"a whole number of {least} or more"

    def accepts(self, value: Any) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and (self.least is None or int(value) >= self.least)


class OneOf(Check):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words, self.wanted = words, f"one of {', '.join(words)}"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    @property
    def options(self) -> list[str]:
        return [repr(word) for word in self.words]


def one_of(literal: Any) -> OneOf:
    """Return the check of a type of words: `Literal["full", "tied"]`.

    Examples
    --------
    >>> from typing import Literal
    >>> from adaline.parameters import one_of
    >>> one_of(Literal["full", "tied"]).wanted
    'one of full, tied'
    """
    return OneOf(*get_args(literal))


class Flag(Check):
    """True or False."""

    wanted = "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    @property
    def options(self) -> list[str]:
        return ["True", "False"]


class Nothing(Check):
    """None."""

    wanted = "None"

    def accepts(self, value: Any) -> bool:
        return value is None


class Numbers(Check):
    """Finite numbers as an array, or a list that makes one, of one of the `dimensions`; `what` describes them."""

    def __init__(self, what: str, dimensions: Sequence[int] = (1, 2), *, positive: bool = False) -> None:
        self.wanted, self.dimensions, self.positive = what, tuple(dimensions), positive

    def accepts(self, value: Any) -> bool:
        given = _array(value)
        if given is None or given.ndim not in self.dimensions or given.size == 0:
            return False
        return bool(np.isfinite(given).all() and (not self.positive or (given > 0).all()))

    def reason(self, value: Any) -> str:
        given = _array(value)
        if given is None or given.ndim == 0:
            return ""
        return f"its shape is {given.shape}" if np.isfinite(given).all() else "numbers must be finite"


class ListOf(Check):
    """A list, or another ordered collection, not empty, of values that the check `each` accepts."""

    def __init__(self, each: Check, what: str) -> None:
        self.each, self.wanted = each, what

    def accepts(self, value: Any) -> bool:
        several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping | Set)
        if not several or getattr(value, "ndim", 1) != 1:
            return False
        return len(value) > 0 and all(map(self.each.accepts, value))


class Instance(Check):
    """An object of a class."""

    def __init__(self, kind: type[Any], what: str, *, hint: str = "") -> None:
        self.kind, self.wanted, self.hint = kind, what, hint

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.kind)


class Having(Check):
    """An object, not a class, that has some methods."""

    def __init__(self, *methods: str, what: str) -> None:
        self.methods, self.wanted = methods, what

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, type) and not self._missing(value)

    def reason(self, value: Any) -> str:
        return "it is a class" if isinstance(value, type) else f"it lacks {', '.join(self._missing(value))}"

    def _missing(self, value: Any) -> list[str]:
        return [name for name in self.methods if not callable(getattr(value, name, None))]


class Function(Check):
    """Anything that can be called."""

    wanted = "a function"

    def accepts(self, value: Any) -> bool:
        return callable(value)


class ClassWeightCheck(Check):
    """A dict of numbers of zero or more by labels."""

    wanted = "a dict by labels of numbers of zero or more"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(map(Number(least=0).accepts, value.values()))


class Seed(Check):
    """A `random_state`: None, a whole number, or a generator of NumPy."""

    wanted = "None, a whole number or a generator"

    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
            return True
        if isinstance(value, bool | np.bool_):
            return False
        if isinstance(value, Integral):
            return int(value) >= 0
        try:
            np.random.default_rng(value)
        except (TypeError, ValueError):
            return False
        return True


class AnyOf(Check):
    """A value that at least one of several checks accepts."""

    def __init__(self, *checks: Check) -> None:
        self.checks = checks
        *first, last = self.options
        self.wanted = f"{', '.join(first)} or {last}" if first else last

    def accepts(self, value: Any) -> bool:
        return any(one.accepts(value) for one in self.checks)

    @property
    def options(self) -> list[str]:
        return [option for one in self.checks for option in one.options]

    def reason(self, value: Any) -> str:
        reasons = dict.fromkeys(one.reason(value) for one in self.checks)
        return "; ".join(filter(None, reasons))


class Penalty(AnyOf):
    """A penalty as a number, or "auto"; the words of scikit-learn are translated."""

    def reason(self, value: Any) -> str:
        if value is None or (isinstance(value, str) and value.lower() == "none"):
            return "no penalty is penalty=0"
        words = {"l2": "write how strong it is, penalty=1/C", "l1": "write how strong it is, l1=1/C"}
        words["elasticnet"] = "write how strong its parts are, penalty=(1 - l1_ratio)/C and l1=l1_ratio/C"
        return words.get(value, "") if isinstance(value, str) else ""


def _array(value: Any) -> NDArray[np.float64] | None:
    """Return a value as an array of numbers; None where it cannot be one."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):  # RuntimeError: torch, of arrays on another device
        return None


Mode = Literal["online", "batch"]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
PredictedInterval = Literal["confidence", "prediction"]
AnyInterval = Literal["confidence", "prediction", "conformal"]
CoefficientInterval = Literal["wald", "profile"]
SandwichKind = Literal["HC0", "HC1", "HC2", "HC3", "HC4", "cluster", "CR1", "CR2", "CR3", "HAC"]
ErrorKind = Literal["classical", SandwichKind, "wild"]
QuantileErrorKind = Literal["smoothed", "nid", "iid", "kernel"]
RobustErrorKind = Literal["H1", QuantileErrorKind, SandwichKind]
StatisticDistribution = Literal["normal", "t"]
"""Types of arguments that several systems share."""

UsedWith = dict[str, dict[str, Check]]
"""By the name of a parameter, the other parameters that make it effective, and their values that do so."""

FLAG = Flag()
NONE = Nothing()
AUTO = OneOf("auto")
COUNT = WholeNumber(1)
ZERO_OR_MORE = Number(least=0)
POSITIVE = Number(above=0)
PENALTY = Penalty(AUTO, ZERO_OR_MORE)
LEVEL = Number(above=0, below=1)
SEED = Seed()
MODE = one_of(Mode)
PREDICTED_INTERVAL = AnyOf(one_of(AnyInterval), NONE)
CONFORMAL_INTERVAL = AnyOf(OneOf("conformal"), NONE)
COEFFICIENT_INTERVAL = one_of(CoefficientInterval)
ERROR_KIND = one_of(ErrorKind)
STATISTIC_DISTRIBUTION = AnyOf(NONE, one_of(StatisticDistribution))
CLASS_WEIGHT = AnyOf(NONE, OneOf("balanced"), ClassWeightCheck())
BATCH_RATE = AnyOf(AUTO, POSITIVE, Numbers("a vector", (1,)), Numbers("a matrix", (2,)))
FIRST_WEIGHTS = Numbers("weights, intercept first")
"""Checks that several systems share."""
