"""The table that `summary()` of a logistic or softmax regression returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adaline.parameters import LEVEL
from adaline.proof.left_out import left_out
from adaline.proof.likelihood import Quality, WaldInference, infer_class, place_of, quality
from adaline.proof.tables import STATISTICS, CoefficientTable, Part, chance, number
from adaline.results import Certificate
from adaline.solvers.likelihood import LikelihoodFit

ODDS = ("odds_ratio", "odds_lower", "odds_upper")

PENALISED = (
    "the penalty is read as a prior: estimates are the mode of its posterior, and errors, z, p and intervals those of "
    "the normal approximation there, not of repeated samples; no likelihood-ratio test, AIC or BIC"
)
FIRTH = (
    "Firth's correction (Jeffreys' prior): errors, z and intervals are those of the information at the estimate, rough "
    "near separation, where the likelihood is skew; no AIC or BIC"
)
BY_RATIO = "chi² and the p of slopes are those of penalised likelihood ratios"
SEPARATED = (
    "the classes are separated: the likelihood has no maximum, the coefficients are those of a tiny penalty, and their "
    "errors, z, p and intervals mean nothing; Firth's correction gives finite estimates"
)
TOO_LARGE = "no standard errors: the matrix of second derivatives was not formed (l1, or too many coefficients)"


@dataclass(frozen=True, repr=False)
class LikelihoodSummary(CoefficientTable):
    """Coefficients of each class against the reference, odds ratios, and how likely the model makes the rows.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic (z), p_value, lower, upper,
    odds_ratio, odds_lower, odds_upper, intercept first; with more than two classes each row also has its `target`.
    """

    parts: list[WaldInference]
    reference: str
    quality: Quality

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "reference": self.reference,
            "targets": list(self.targets),
            "coefficients": [
                row | ({"target": target} if len(self.targets) > 1 else {})
                for target, part in zip(self.targets, self.parts, strict=True)
                for row in self._rows(part, STATISTICS + ODDS)
            ],
            **vars(self.quality),
            **self._foot(),
        }

    def _groups(self) -> list[dict[str, str]]:
        headings = ("estimate", "std error", "z", "p", *self._ends())
        return [
            dict(zip(STATISTICS, headings, strict=True)),
            dict(zip(ODDS, ("odds ratio", *self._ends()), strict=True)),
        ]

    def _sections(self) -> list[Part]:
        return [
            Part(f"log odds of {target} against {self.reference}", self._rows(part, STATISTICS + ODDS), [])
            for target, part in zip(self.targets, self.parts, strict=True)
        ]

    def _closing(self) -> list[str]:
        q = self.quality
        null = "constants alone" if self.intercept else "equal odds"
        return [
            f"log-likelihood {q.log_likelihood:.6g}, {null} {q.null_log_likelihood:.6g};  "
            f"McFadden's R² {number(q.pseudo_r_squared)}",
            f"likelihood ratio chi² {number(q.chi2)} on {q.chi2_freedom} degrees of freedom "
            f"(p {chance(q.chi2_p_value)})",
            f"AIC {number(q.aic)}, BIC {number(q.bic)}, {q.parameters} parameters",
        ]


def summarise(
    fit: LikelihoodFit,
    names: Sequence[str],
    classes: Sequence[Any],
    *,
    title: str,
    intercept: bool,
    level: float = 0.95,
    reference: Any = None,
    notes: Sequence[str] = (),
    certificate: Certificate | None = None,
) -> LikelihoodSummary:
    """Return the table of a fit; `reference` is one of the classes, the first unless told otherwise.

    Parameters
    ----------
    fit : what was fitted; theta has one machine for two classes, otherwise one for each class.
    names, classes : of the columns and of the classes, in the order of the machines.
    title, intercept : of the model, and whether it has one.
    level : coverage of the intervals.
    reference : the class that all others are compared with.
    notes : what else is to be said, such as `SEPARATED`.
    certificate : that of the model, where it says more than that of the fit.
    """
    LEVEL.check("level", level)
    base = place_of(classes, reference, "reference")
    others = [k for k in range(len(classes)) if k != base]
    automatic = [
        (fit.penalised and SEPARATED not in notes, PENALISED),
        (fit.firth, FIRTH),
        (fit.ratios is not None, BY_RATIO),
        (fit.root is None, TOO_LARGE),
    ]
    fit = fit.without_dependent()
    missing = left_out(fit.dependence, names)
    return LikelihoodSummary(
        title=title,
        names=list(names),
        targets=[str(classes[k]) for k in others],
        parts=[infer_class(fit, k, base, level) for k in others],
        level=level,
        rows=fit.rows,
        weight=fit.weight,
        certificate=certificate or fit.solution.certificate,
        notes=[*notes, *(note for holds, note in automatic if holds), *missing.notes()],
        intercept=intercept,
        reference=str(classes[base]),
        quality=quality(fit, len(classes), intercept),
        left_out=missing,
    )
