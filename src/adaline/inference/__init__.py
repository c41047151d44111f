"""Inference from the sums of a fit, and from its rows where they are given again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily

if TYPE_CHECKING:
    from adaline.inference.nested_models import (
        Anova,
        Deviances,
        FamilyDeviances,
        LikelihoodRatio,
        anova,
        likelihood_ratio,
    )
    from adaline.inference.table import RegressionTable, regression_table

__all__ = [
    "Anova",
    "Deviances",
    "FamilyDeviances",
    "LikelihoodRatio",
    "RegressionTable",
    "anova",
    "likelihood_ratio",
    "regression_table",
]

__getattr__ = lazily(
    __name__,
    {
        "nested_models": "Anova Deviances FamilyDeviances LikelihoodRatio anova likelihood_ratio",
        "table": "RegressionTable regression_table",
    },
)
