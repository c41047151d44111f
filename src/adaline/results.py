"""Results of solvers: a solution, and a certificate of its quality.

Conventions
-----------
theta is (1 + D) or (K, 1 + D), intercept first. The objective is the sum over rows of weight x loss, plus
penalty/2 ||w||^2; the squared loss of a row is r^2/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.attributes import give_attributes, own_attributes
from adaline.forms import Count, Finite
from adaline.wording import counted, visible

R = TypeVar("R")

MOST_NAMES = 8  # columns named in one line
CONSTANT, EXPLAINED = "constant", "explained by the absorbed effects"  # columns that are left out


class Ending(Enum):
    """How something ended: a label, and one line of advice, which may end with remedies that depend on the system."""

    advice: str
    remedies: str

    def __new__(cls, label: str, finding: str, remedies: str = "") -> Self:
        """Make a member whose value is its label alone, from which it is rebuilt."""
        member = object.__new__(cls)
        member._value_, member.advice, member.remedies = label, finding + remedies, remedies
        return member

    def advise(self, remedies: str) -> str:
        """Return the advice with the remedies that a system has, where those named are not the same in all of them."""
        return self.advice.removesuffix(self.remedies) + remedies if self.remedies else self.advice

    @property
    def label(self) -> str:
        """How the fit ended, in words."""
        return str(self.value)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Return the class and the label, from which the member is rebuilt."""
        return type(self), (self.label,)

    def __reduce_ex__(self, protocol: Any) -> tuple[type[Self], tuple[str]]:
        """Return the same for any protocol."""
        return self.__reduce__()

    def __str__(self) -> str:
        return self.label


UNKNOWN_ROWS = "the weights are those of another library, and nothing is known of the rows"


class Status(Ending):
    """How a fit ended; `advice` says what can be done about it.

    Examples
    --------
    >>> from adaline import Status
    >>> print(Status.NOT_CONVERGED, Status.NOT_CONVERGED.advice, sep=': ')
    not converged: raise epochs or tol, or choose another solver
    """

    SOLVED = ("solved", "nothing to do")
    ILL_CONDITIONED = (
        "ill-conditioned",
        "some columns are nearly linear combinations of others: single coefficients mean little; "
        "drop a column or use Ridge",
    )
    RANK_DEFICIENT = (
        "rank-deficient",
        "some columns are linear combinations of others (see aliased_): coef_ is the solution of minimum norm, in "
        "which they share their effect; drop them or use Ridge",
    )
    RANK_UNCERTAIN = (
        "rank uncertain",
        "some columns are linear combinations of others up to the rounding of the sums or of the input itself: those "
        "directions were cut off and no digits are claimed; drop columns (see aliased_), use Ridge, or fit all rows in "
        "one go",
    )
    FEW_DIGITS = ("few digits", "the sums alone leave few correct digits; fit all rows in one go to have them refined")
    SEPARATED = (
        "separated",
        "a hyperplane separates the classes, so the weights grow without bound and the likelihood has no maximum: the "
        "weights under a tiny penalty are returned; ",
        "use penalty='auto', a number, or firth=True",
    )
    QUASI_SEPARATED = (
        "quasi-separated",
        "a hyperplane separates the classes up to rows that lie on it, so some weights grow without bound and the "
        "likelihood has no maximum: the weights under a tiny penalty are returned; ",
        "use penalty='auto', a number, or firth=True",
    )
    NOT_UNIQUE = (
        "not unique",
        "several hyperplanes are equally good, and one of them is returned: more rows or fewer columns make it unique",
    )
    NO_MINIMUM = (
        "no minimum",
        "the loss decreases without bound as some weights grow, as with counts that are all zero on one side: the "
        "weights under a tiny penalty are returned; give a number as penalty",
    )
    OUT_OF_RANGE = (
        "out of range",
        "the weights are solved for, but the objective or another number beside them overflows float64; divide the "
        "targets, or the rows where there are none, by a power of ten",
    )
    NOT_CONVERGED = ("not converged", "raise epochs or tol, or choose another solver")
    ONGOING = (
        "ongoing",
        "every row was processed once, and more rows may follow; fit makes several passes (epochs) over the rows",
    )
    GIVEN = (
        "given",
        f"{UNKNOWN_ROWS}: there are no standard errors, and no further rows can be learned; fit to the rows for these",
    )
    DIVERGED = ("diverged", "the rate is too large: lower it or use rate='auto'; the last good weights are kept")


@dataclass(frozen=True)
class Certificate:
    """The facts that a fit can prove about its solution.

    Parameters
    ----------
    objective : value of the objective at the solution (sum of half squared residuals, plus the penalty). Where classes
        are separated and the likelihood has no maximum, objective and gap are those under the tiny penalty that was put
        on it.
    gradient : largest absolute derivative of the objective, coefficients taken on standardised columns.
    gap : bound on objective minus optimum; infinity where none is known.
    digits : correct significant digits of the worst coefficient, with respect to the exact answer for the float64
        input. A coefficient that is zero to working precision is not counted.
    condition : condition number of the design with centred columns of equal length (2-norm, estimated); NaN where it
        is not known, as after a scan, and then the rank is not known either.
    rank : rank of the design, the intercept not counted.
    passes : times the rows were read.
    seconds : wall-clock time of the fit.
    solver : the solver that was chosen, and why.
    status, advice : how the fit ended, and one line on what can be done.

    Examples
    --------
    >>> from adaline import LinearRegression
    >>> fit = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> fit.certificate_.rank, str(fit.certificate_.status)
    (1, 'solved')
    """

    objective: float
    gradient: float
    gap: float
    digits: float
    condition: float
    rank: Count
    passes: Count
    seconds: float
    solver: str
    status: Status
    advice: str

    def __str__(self) -> str:
        digits = "unknown" if math.isnan(self.digits) else f"{self.digits:.1f}"
        known = "" if math.isnan(self.condition) else f"condition {self.condition:.3g}, rank {self.rank}, "
        known += "".join(
            f"{name} {value:.2g}, "
            for name, value in (("gradient", self.gradient), ("gap", self.gap))
            if value < math.inf
        )
        advice = "" if self.advice == Status.SOLVED.advice else f"\n{visible(self.advice)}"
        passes = counted(self.passes, "pass", "")
        return f"{self.status} by {self.solver}: {digits} digits, {known}{passes}, {self.seconds:.3g} s{advice}"


def made(kind: type[R], /, **fields: Any) -> R:
    """Return a frozen dataclass of all its fields, in their order; its constructor takes a share of a small fit."""
    out = object.__new__(kind)
    give_attributes(out, fields)
    return out


def changed(proof: Certificate, **fields: Any) -> Certificate:
    """Return the certificate with other values of some fields; `dataclasses.replace` takes a share of a small fit."""
    out = object.__new__(Certificate)
    give_attributes(out, own_attributes(proof) | fields)
    return out


def out_of_range(proof: Certificate) -> Certificate:
    """Return the certificate of a fit whose weights are solved for, beside numbers that overflow."""
    out = changed(proof, status=Status.OUT_OF_RANGE, advice=Status.OUT_OF_RANGE.advice)
    return out if proof.advice == Status.SOLVED.advice else with_note(out, proof.advice)


def after_one_go(proof: Certificate) -> Certificate:
    """Return the certificate of a fit to all rows in one go, without the advice to do so."""
    if proof.status is Status.SOLVED:
        return proof
    advice = proof.advice.replace(", use Ridge, or fit all rows in one go", " or use Ridge").replace(
        "the sums alone leave few correct digits; fit all rows in one go to have them refined",
        "few correct digits are left: rescale columns, drop some, or use Ridge",
    )
    return proof if advice == proof.advice else changed(proof, advice=advice)


def without_constants(proof: Certificate, names: Sequence[str], what: str = CONSTANT) -> Certificate:
    """Return the certificate; its advice names the columns that are constant, or `what`, and were left out, if any."""
    return with_note(proof, say_constant(names, what)) if names else proof


def with_note(proof: Certificate, note: str) -> Certificate:
    """Return the certificate with a note after its advice, or in place of it if there is none."""
    return changed(proof, advice=note if proof.advice == Status.SOLVED.advice else f"{proof.advice}; {note}")


def say_constant(names: Sequence[str], what: str = CONSTANT) -> str:
    """Return a note on columns that are constant, or what else they are."""
    return f"column{'s' * (len(names) > 1)} {some(names)} {'are' if len(names) > 1 else 'is'} {what} and left out"


def some(names: Sequence[str], between: str = ", ", most: int = MOST_NAMES) -> str:
    """Return up to `most` names in one line, and the number of the others."""
    return between.join(names[:most]) + (f"{between}and {len(names) - most} more" if len(names) > most else "")


def worst(certificates: Sequence[Certificate]) -> Certificate:
    """Return the weakest certificate: one that is not solved if there is any, then by the fewest digits."""
    return min(
        certificates, key=lambda one: (one.status is Status.SOLVED, -1.0 if math.isnan(one.digits) else one.digits)
    )


def combine_certificates(certificates: Sequence[Certificate]) -> Certificate:
    """Return one certificate for several targets or machines: totals, and the worst of each claim."""
    if len(certificates) == 1:
        return certificates[0]
    return changed(
        worst(certificates),
        objective=sum(one.objective for one in certificates),
        gradient=max(one.gradient for one in certificates),
        gap=sum(one.gap for one in certificates),
        condition=max(one.condition for one in certificates),
        passes=sum(one.passes for one in certificates),
    )


class Solution(NamedTuple):
    """Coefficients theta, (K, 1 + D) with the intercept first, and their certificate."""

    theta: Annotated[NDArray[np.float64], Finite("K 1+D")]
    certificate: Certificate
