"""`LinearRegressor` and `LinearClassifier`: what systems with targets share whatever they minimise."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline import inference
from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike
from adaline.estimator import ClassifierMixin, RegressorMixin
from adaline.input.coded import scored
from adaline.input.labels import Labels
from adaline.input.system import System
from adaline.systems.families.decisions import label_of_largest

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.inference.coefficients import Coefficients


class LinearRegressor(RegressorMixin, System):
    """A regression that takes sparse rows too, and sources to be scored on."""

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    def coefficients(self: Any, most: int = 100) -> Coefficients:
        """Return the coefficients of largest magnitude by the names of their columns, the largest first.

        Those of hashed columns come with the most frequent values in their bucket, where they were counted.

        Parameters
        ----------
        most : int
            How many.

        Examples
        --------
        >>> from adaline import LinearRegression, open_table
        >>> model = LinearRegression().fit(open_table("penguins", target="body_mass_g"))
        >>> [row["name"] for row in model.coefficients(2).rows]
        ['species[T.Gentoo]', 'sex[T.male]']
        """
        return inference.largest_coefficients(self, most)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(ClassifierMixin, System):
    """A classifier by the largest discriminant, which takes sparse rows too, and sources to be scored on."""

    classes_: Labels

    @abstractmethod
    def decision_function(self, X: RowsLike) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""

    def predict(self, X: RowsLike) -> Labels:
        """Return the label of the largest discriminant for each row."""
        return label_of_largest(self.decision_function(X), self.classes_)

    def predict_set(self, X: RowsLike, level: float = 0.95) -> NDArray[np.bool_]:
        """Return which labels are in the conformal set of each row, (n, K), in the order of `classes_`.

        A set holds the label of a new row with probability `level`, whatever the distribution of the rows; it may hold
        several labels, or none. The rows of the last `fit` are read again, by ten fits without a tenth of them each:
        `adaline.conformal` does that once for several questions.

        Examples
        --------
        >>> from adaline import GaussianClassifier, datasets
        >>> data = datasets.load("penguins", target="species")
        >>> model = GaussianClassifier().fit(data.X, data.y)
        >>> model.predict_set(data.X[:1], level=0.9)
        array([[ True, False, False]])

        References
        ----------
        M. Sadinle, J. Lei and L. Wasserman, JASA 114 (2019), 223-234; Y. Romano, M. Sesia and E. J. Candès, NeurIPS
        33 (2020).
        """
        from adaline.systems.families.conformal import conformal  # seldom needed

        return conformal(self).predict_set(X, level)

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    coefficients = LinearRegressor.coefficients

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
