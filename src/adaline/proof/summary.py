"""The table that `summary()` of a regression returns: text in a terminal, HTML in a notebook, a dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaline.proof.inference import Inference
from adaline.proof.tables import STATISTICS, CoefficientTable, Part, chance, number

QUALITY = (
    "r_squared",
    "adjusted_r_squared",
    "sigma",
    "freedom",
    "model_freedom",
    "f_statistic",
    "f_freedom",
    "f_p_value",
    "log_likelihood",
    "aic",
    "bic",
)


@dataclass(frozen=True, repr=False)
class Summary(CoefficientTable):
    """Coefficients with their statistics, how well the model fits, and its certificate.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic, p_value, lower, upper,
    intercept first; with several targets each row also names its target.
    """

    parts: list[Inference]
    intercept: bool = True
    errors: str = "classical"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "errors": self.errors,
            "coefficients": [
                row | ({"target": target} if len(self.targets) > 1 else {})
                for target, part in zip(self.targets, self.parts, strict=True)
                for row in self._rows(part, STATISTICS)
            ],
            "targets": [{"target": t} | _quality(p) for t, p in zip(self.targets, self.parts, strict=True)],
            **_quality(self.parts[0]),
            **self._foot(),
        }

    def _groups(self) -> list[dict[str, str]]:
        statistic = "t" if self.errors == "classical" else "z"
        headings = ("estimate", "std error", statistic, "p", *self._ends())
        return [dict(zip(STATISTICS, headings, strict=True))]

    def _sections(self) -> list[Part]:
        return [
            Part(f"target {target}" if len(self.targets) > 1 else "", self._rows(part, STATISTICS), _lines(part))
            for target, part in zip(self.targets, self.parts, strict=True)
        ]


def _quality(part: Inference) -> dict[str, float]:
    return {name: float(getattr(part, name)) for name in QUALITY}


def _lines(part: Inference) -> list[str]:
    return [
        f"R² {number(part.r_squared)}, adjusted {number(part.adjusted_r_squared)};  residual sd {number(part.sigma)} "
        f"on {part.freedom:.6g} degrees of freedom",
        f"F {number(part.f_statistic)} on {part.model_freedom:.6g} and {part.f_freedom:.6g} "
        f"(p {chance(part.f_p_value)})",
        f"log-likelihood {number(part.log_likelihood)}, AIC {number(part.aic)}, BIC {number(part.bic)}",
    ]
