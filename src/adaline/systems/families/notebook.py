"""What a notebook shows of a fitted system: its coefficients and certificate, above scikit-learn's diagram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adaline.errors import AdalineError

MOST_COEFFICIENTS = 30  # up to which the whole summary is shown; of more, as many of the largest


class NotebookDisplay:
    """Shows the fit where scikit-learn shows the parameters; with `set_config(display="text")` neither is shown."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        inherited: Any = super()
        diagram = inherited._repr_html_
        return lambda: fit_as_html(self) + str(diagram())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        inherited: Any = super()
        shown: dict[str, str] = inherited._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = fit_as_html(self) + shown["text/html"]
        return shown


def fit_as_html(model: Any) -> str:
    """Return the summary of a fitted model as HTML, or its largest coefficients and its certificate; "" before a fit.

    Examples
    --------
    >>> from adaline import LinearRegression
    >>> from adaline.systems.families.notebook import fit_as_html
    >>> model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> "certificate: solved" in fit_as_html(model), fit_as_html(LinearRegression())
    (True, '')
    """
    if not hasattr(model, "certificate_"):
        return ""
    from adaline.inference.coefficients import largest_coefficients
    from adaline.inference.summary import escaped

    certificate = f"<p>{escaped(f'certificate: {model.certificate_}')}</p>"
    if not hasattr(model, "coef_"):
        return certificate
    if model.coef_.size <= MOST_COEFFICIENTS and hasattr(model, "summary"):
        try:
            return str(model.summary()._repr_html_())
        except AdalineError:  # no standard errors, as of a penalised fit
            pass
    return largest_coefficients(model, MOST_COEFFICIENTS).to_html() + certificate
