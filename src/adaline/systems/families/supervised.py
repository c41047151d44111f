"""`LinearRegressor` and `LinearClassifier`: what systems with targets share whatever they minimise."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike
from adaline.estimator import ClassifierMixin, MultiOutputMixin, RegressorMixin
from adaline.input.coded import scored
from adaline.input.labels import Labels
from adaline.input.system import System
from adaline.systems.families.decisions import label_of_largest

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.inference.coefficients import Coefficients


class LinearRegressor(MultiOutputMixin, RegressorMixin, System):
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
        from adaline.inference.coefficients import largest_coefficients

        return largest_coefficients(self, most)

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

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    coefficients = LinearRegressor.coefficients

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
