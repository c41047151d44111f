"""What linear discriminants decide: scores of rows, and the label of the largest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.namespaces import beside, host, is_device, namespace
from adaline.systems.by_blocks import by_blocks
from adaline.systems.labels import Labels
from adaline.systems.reading import read_finite

Array = NDArray[np.float64]


class Decides:
    """A classifier whose discriminants are linear: `coef_` (1, D) for two classes, (K, D) for more."""

    classes_: Labels
    coef_: Array
    intercept_: Array

    @by_blocks
    def decision_function(self, X: Any) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        check_is_fitted(self, "classes_")
        values = self._scores(self._read(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Labels:
        """Return the label of the largest discriminant for each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _scores(self, x: Any) -> Array:
        """Return discriminants, (n, 1) for two classes or (n, K), on the host."""
        coef, constant = host(self.coef_), host(self.intercept_)
        if is_device(x):
            return host(namespace(x).matmul(x, beside(x, coef.T.copy()))) + constant
        return np.asarray(x @ coef.T) + constant

    def _read(self, X: Any) -> Any:
        return read_finite(self, X)
