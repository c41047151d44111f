"""Systems of other packages, called as each of their versions asks for it."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.linear_model import LogisticRegression


def l1_logistic(l1: float, ridge: float, **settings: Any) -> LogisticRegression:
    """Return scikit-learn's logistic regression with the penalties l1 sum|w| + ridge/2 w'w."""
    if signature(LogisticRegression).parameters["penalty"].default == "l2":  # before 1.8 it has to be named
        settings["penalty"] = "elasticnet"
    return LogisticRegression(C=1 / (l1 + ridge), l1_ratio=l1 / (l1 + ridge), solver="saga", **settings)
