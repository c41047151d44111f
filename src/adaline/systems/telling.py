"""What a fitted likelihood tells: tables of coefficients with standard errors and odds ratios, and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.errors import InvalidParameter
from adaline.namespaces import host
from adaline.proof.likelihood import WaldTest, wald_test
from adaline.proof.likelihood_summary import SEPARATED, LikelihoodSummary, summarise
from adaline.results import Certificate
from adaline.solvers.likelihood import LikelihoodFit
from adaline.systems.expanding import columns_of
from adaline.systems.labels import Labels
from adaline.systems.separation import Separation


class Telling:
    """A classifier with a likelihood, which explains itself."""

    fit_intercept: bool
    classes_: Labels
    intercept_: NDArray[np.float64]
    n_features_in_: int
    certificate_: Certificate
    separation_: Separation | None
    _fits: list[LikelihoodFit]

    def summary(self, level: float = 0.95, reference: Any = None) -> LikelihoodSummary:
        """Return coefficients with standard errors, z, p, intervals and odds ratios, and how well the model fits.

        With K > 2 classes each class is compared with `reference`, the first unless told otherwise. Standard errors are
        from the inverse of the observed information; with a penalty they are posterior ones.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1])
        >>> row = model.summary().to_dict()["coefficients"][1]
        >>> row["name"], round(row["estimate"], 4), round(row["std_error"], 4)
        ('x0', 1.214, 0.9126)
        """
        return summarise(
            self._one_fit("summary"),
            self._names(),
            self._told(),
            title=f"{type(self).__name__}",
            intercept=bool(self.fit_intercept),
            level=level,
            reference=reference,
            notes=[SEPARATED] if self.separation_ is not None else [],
            certificate=self.certificate_,
        )

    def test(self, hypothesis: Any, value: Any = 0.0, target: Any = None, reference: Any = None) -> WaldTest:
        """Test linear hypotheses about the coefficients by Wald's chi-squared.

        The hypothesis is written as for `LinearRegression.test`. With K > 2 classes it is about `target` against
        `reference`, or about all classes together where no target is named. Nested models are compared by `anova`.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1])
        >>> round(model.test("x0 = 0").p_value, 3)
        0.183
        """
        return wald_test(
            self._one_fit("test"),
            hypothesis,
            value,
            self._names(),
            self._told(),
            intercept=bool(self.fit_intercept),
            target=target,
            reference=reference,
        )

    def _one_fit(self, what: str) -> LikelihoodFit:
        check_is_fitted(self, "classes_")
        if len(self._fits) > 1:
            raise InvalidParameter(
                f"{what} needs one likelihood, and there are {len(self._fits)} machines: use scheme='softmax'"
            )
        return self._fits[0]

    def _told(self) -> list[Any]:
        """Return the classes that there is something to tell of: those that had rows."""
        had = host(self.intercept_) > -np.inf
        return list((self.classes_ if len(self.classes_) == 2 else self.classes_[had]).tolist())

    def _names(self) -> list[str]:
        return columns_of(self)
