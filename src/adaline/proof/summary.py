"""The table that `summary()` returns: text in a terminal, HTML in a notebook, a dictionary for programs."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from adaline.proof.inference import Inference
from adaline.results import Certificate

COLUMNS = ("estimate", "std_error", "statistic", "p_value", "lower", "upper")
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


@dataclass(frozen=True)
class Summary:
    """Coefficients with their statistics, how well the model fits, and its certificate.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic, p_value, lower, upper,
    intercept first; with several targets each row also names its target.
    """

    title: str
    names: list[str]
    targets: list[str]
    parts: list[Inference]
    level: float
    rows: int
    weight: float
    certificate: Certificate
    notes: list[str]
    intercept: bool = True
    errors: str = "classical"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            "title": self.title,
            "rows": self.rows,
            "weight": self.weight,
            "level": self.level,
            "errors": self.errors,
            "coefficients": [
                row | ({"target": target} if len(self.targets) > 1 else {})
                for target, part in zip(self.targets, self.parts, strict=True)
                for row in self._rows(part)
            ],
            "targets": [{"target": t} | _quality(p) for t, p in zip(self.targets, self.parts, strict=True)],
            **_quality(self.parts[0]),
            "certificate": {**vars(self.certificate), "status": str(self.certificate.status)},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        weight = "" if self.weight == self.rows else f" (weight {self.weight:g})"
        lines = [f"{self.title}, {self.rows} rows{weight}"]
        for target, part in zip(self.targets, self.parts, strict=True):
            if len(self.targets) > 1:
                lines += ["", f"target {target}"]
            lines += ["", *self._table(part), "", *_quality_lines(part)]
        lines += ["", *(f"note: {note}" for note in self.notes), f"certificate: {self.certificate}"]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{h}</th>" for h in self._headings())
        body = ""
        for target, part in zip(self.targets, self.parts, strict=True):
            if len(self.targets) > 1:
                body += f'<tr><th colspan="7">target {html.escape(target)}</th></tr>'
            for row in self._rows(part):
                cells = "".join(f"<td>{html.escape(_number(row[c], c))}</td>" for c in COLUMNS)
                body += f"<tr><th>{html.escape(row['name'])}</th>{cells}</tr>"
        notes = "".join(f"<p>{html.escape(line)}</p>" for part in self.parts for line in _quality_lines(part))
        notes += "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{html.escape(self.title)}, {self.rows} rows</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}<p>certificate: {html.escape(str(self.certificate))}</p>"
        )

    def _rows(self, part: Inference) -> list[dict[str, Any]]:
        return [
            {"name": name} | {column: float(getattr(part, column)[j]) for column in COLUMNS}
            for j, name in enumerate(["intercept", *self.names])
            if j or self.intercept
        ]

    def _headings(self) -> list[str]:
        tail = 100 * (1 - self.level) / 2
        return [
            "",
            "estimate",
            "std error",
            "t" if self.errors == "classical" else "z",
            "p",
            f"{tail:g}%",
            f"{100 - tail:g}%",
        ]

    def _table(self, part: Inference) -> list[str]:
        cells = [self._headings()]
        cells += [[r["name"], *(_number(r[c], c) for c in COLUMNS)] for r in self._rows(part)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        out = []
        for row in cells:
            right = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            out.append(f"{row[0].ljust(widths[0])}  {right}")
        return [out[0], "-" * len(out[0]), *out[1:]]


def _quality(part: Inference) -> dict[str, float]:
    return {name: float(getattr(part, name)) for name in QUALITY}


def _quality_lines(part: Inference) -> list[str]:
    f_p = _number(part.f_p_value, "p_value")
    return [
        f"R² {part.r_squared:.6g}, adjusted {part.adjusted_r_squared:.6g};  residual sd {part.sigma:.6g} "
        f"on {part.freedom:.6g} degrees of freedom",
        f"F {part.f_statistic:.6g} on {part.model_freedom:.6g} and {part.f_freedom:.6g} (p {f_p})",
        f"log-likelihood {part.log_likelihood:.6g}, AIC {part.aic:.6g}, BIC {part.bic:.6g}",
    ]


def _number(value: float, column: str) -> str:
    if math.isnan(value):
        return "-"
    if column == "p_value":
        return "<0.0001" if value < 1e-4 else f"{value:.4f}"
    return f"{value:.4g}" if column == "statistic" else f"{value:.6g}"
