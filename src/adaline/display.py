"""The view of a fitted system in a notebook: its coefficients and certificate, above scikit-learn's diagram."""

from __future__ import annotations

from html import escape

from adaline.errors import AdalineError
from adaline.fitted import AnyModel, has_certificate, has_summary, is_linear

# coefficients up to which the whole summary is shown; beyond, only this many of the largest; doubling it makes the view
# longer
MOST_COEFFICIENTS = 30


def fit_as_html(model: AnyModel) -> str:
    """Return the summary of a fitted model as HTML, or its largest coefficients and its certificate; "" before a fit.

    Examples
    --------
    >>> from adaline import LinearRegression
    >>> from adaline.display import fit_as_html
    >>> model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> "certificate: solved" in fit_as_html(model), fit_as_html(LinearRegression())
    (True, '')
    """
    if not has_certificate(model):
        return ""
    certificate = f"<p>{escape(f'certificate: {model.certificate_}')}</p>"
    if not (is_linear(model) and hasattr(model, "coefficients")):
        return certificate
    if model.coef_.size <= MOST_COEFFICIENTS and has_summary(model):
        try:
            return str(model.summary()._repr_html_())
        except AdalineError:  # no standard errors, as of a penalised fit
            pass
    return str(model.coefficients(MOST_COEFFICIENTS).to_html()) + certificate
