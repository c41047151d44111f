"""Writes pyfixest.json: coefficients and standard errors of pyfixest for the data of tests/solvers/absorb/designs.py.

Run it from the root of the repository with pyfixest installed: python -m tests.data.effects.make
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from tests.solvers.absorb.designs import DESIGNS, columns, sparse_counts

ERRORS: dict[str, Any] = {
    "iid": "iid",
    "HC1": "hetero",
    "firm": {"CRV1": "firm"},
    "town": {"CRV1": "town"},
    "firm+town": {"CRV1": "firm+town"},
    "firm+year": {"CRV1": "firm+year"},
}


def figures(fit: Any) -> dict[str, Any]:
    """Return the coefficients of a fit, and their errors of each kind."""
    errors = {name: fit.vcov(kind).se().tolist() for name, kind in ERRORS.items()}
    return {"coef": fit.coef().tolist(), "errors": errors}


def main() -> None:
    """Fit every design that pyfixest takes, and write what it finds."""
    import pyfixest  # which no test needs
    from pyfixest.demeaners import MapDemeaner

    warnings.simplefilter("ignore")
    precise = MapDemeaner(fixef_tol=1e-13, fixef_maxiter=100_000)
    found: dict[str, Any] = {"version": pyfixest.__version__}
    for name, design in DESIGNS.items():
        if not design.peer:
            continue
        frame = pd.DataFrame(columns(name))
        bar = " + ".join(design.absorb)
        options: dict[str, Any] = {"weights": "w"} if design.weighted else {}
        fit = pyfixest.feols(f"y ~ a + b | {bar}", frame, demeaner=precise, fixef_rm="none", **options)
        found[name] = {"least_squares": figures(fit), "r2": fit._r2, "within": fit._r2_within}
        if not design.weighted:
            counts = pyfixest.fepois(
                f"count ~ a + b | {bar}", frame, demeaner=precise, fixef_rm="none", iwls_tol=1e-13, iwls_maxiter=100
            )
            found[name]["poisson"] = {**figures(counts), "rows": int(counts._N)}
    for seed in (0, 2, 5, 8):  # its demeaner does not end on seed 7, whose rows two columns separate together
        frame = pd.DataFrame(sparse_counts(seed))
        counts = pyfixest.fepois(
            "y ~ x | a + b",
            frame,
            demeaner=precise,
            fixef_rm="none",
            separation_check=["fe", "ir"],
            iwls_tol=1e-13,
            iwls_maxiter=100,
        )
        found[f"separated {seed}"] = {"coef": counts.coef().tolist(), "rows": int(counts._N)}
    path = Path(__file__).with_name("pyfixest.json")
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
