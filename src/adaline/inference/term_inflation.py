"""Generalised variance inflation of the terms of a model.

    GVIF = det R_T det R_rest / det R = det R_T det (R^-1)_T

with R the correlations of the coefficients, and T the columns of the term.

J. Fox and G. Monette, J. Amer. Statist. Assoc. 87 (1992), 178-183.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel
from adaline.inference.covariance import coordinates, lengths
from adaline.inference.summary import RowsTable
from adaline.inference.term_tests import check_testable
from adaline.inference.terms import dependence_of, terms_of
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources.threads import one_blas_thread


@dataclass(frozen=True, repr=False)
class TermInflation(RowsTable):
    """What `term_inflation` returns.

    Parameters
    ----------
    rows : one a term: `term`, `df`, `gvif`, and `gvif_root`, gvif^(1/(2 df)), which compares terms of any `df`.
    """

    COLUMNS: ClassVar[dict[str, str]] = {"term": "", "df": "df", "gvif": "GVIF", "gvif_root": "GVIF^(1/(2 df))"}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {"title": self.title, "terms": [dict(row) for row in self.rows]}


def term_inflation(model: AnyModel) -> TermInflation:
    """Return by how much the other terms inflate the joint confidence region of each term's coefficients (GVIF).

    Of a term of one column this is the variance inflation factor. A factor of a term with `df` columns is compared with
    others by gvif^(1/(2 df)): by how much intervals are longer, on the whole. Infinite where the columns of a term
    depend on others. No pass over the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, datasets, term_inflation
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> model = LinearRegression().fit(birds[["species", "flipper_length_mm", "sex"]], birds.body_mass_g)
    >>> for row in term_inflation(model).rows:
    ...     print(f"{row['term']:18} {row['df']} {row['gvif_root']:.2f}")
    species            2 1.54
    flipper_length_mm  1 2.46
    sex                1 1.17

    References
    ----------
    J. Fox and G. Monette, J. Amer. Statist. Assoc. 87 (1992), 178-183; `vif` of R's car.
    """
    check_testable(model, "term_inflation")
    fit, terms = model._fits[0], terms_of(model)
    dependence = dependence_of(model)
    if isinstance(fit, LikelihoodFit):
        kept = fit.without_dependent()
        if fit.root is None or fit.coupled:
            raise InvalidParameter("term_inflation is of one output whose matrix of second derivatives was formed")
        assert kept.root is not None
        root = kept.root[0][1:]
    elif isinstance(fit, Fit):
        root = coordinates(fit.without_dependent(), np.eye(fit.solution.theta.shape[1])[1:])
    else:
        raise InvalidParameter(f"term_inflation of {type(model).__name__} is not known: use LinearRegression")
    involved = (dependence.weights != 0).any(axis=0)
    involved[dependence.left_out] = True
    place, rows = np.cumsum(dependence.kept) - 1, []  # of a column among those that are kept
    root = root[dependence.kept] / lengths(root[dependence.kept])[:, None]
    with one_blas_thread():
        inverse = np.linalg.inv(np.linalg.qr(root.T, mode="r"))  # a root of that of the correlations
    for term in terms:
        own, gvif = place[term.columns[dependence.kept[term.columns]]], np.inf
        if not involved[term.columns].any():
            gvif = float(np.exp(_log_volume(root[own]) + _log_volume(inverse[own])))
        df = len(term.columns[~dependence.constant[term.columns]])
        if df:
            rows.append({"term": term.name, "df": df, "gvif": gvif, "gvif_root": gvif ** (0.5 / df)})
    return TermInflation(f"{type(model).__name__}: generalised variance inflation", rows)


def _log_volume(root: Array) -> float:
    """Return ln det of the matrix whose root has these rows."""
    with np.errstate(divide="ignore"):
        return 2.0 * float(np.log(np.linalg.svd(root, compute_uv=False)).sum())
