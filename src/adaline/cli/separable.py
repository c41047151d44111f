"""`adaline separable`: whether a hyperplane separates the classes of a table, with the proof checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.cli.open import open_with_notes
from adaline.cli.options import Options
from adaline.cli.output import print_json, say, show
from adaline.separation.separability import separability
from adaline.separation.verdict import ManyClasses, Separability
from adaline.wording import counted


def run_separable(options: Options, as_json: bool) -> None:
    """Decide whether a hyperplane separates the classes, check the proof in exact arithmetic, and show both."""
    opened = open_with_notes(options)
    found = separability(opened.source)
    found.verify()
    names = [str(name) for name in opened.source.names]
    if as_json:
        print_json(
            {"target": opened.target, "rows": opened.source.count_rows(), **_plain(found, names), "verified": True}
        )
        return
    say(f"{opened.request.title}: {opened.target}, {counted(opened.source.count_rows())}")
    say()
    if isinstance(found, ManyClasses):
        rows = [
            [str(a), str(b), one.kind, f"{one.margin:.4g}" if one.separable else ""]
            for (a, b), one in found.pairs.items()
        ]
        show(["class", "class", "separation", "margin"], rows, left=3)
        say()
    say(str(found))
    say()
    if isinstance(found, Separability) and found.coef is not None:
        plane = [("intercept", found.intercept), *zip(names, found.coef, strict=True)]
        show(["plane", "coefficient"], [[name, f"{float(value):.6g}"] for name, value in plane])
        say()
    say("The proof was checked in exact arithmetic.")


def _plain(found: Separability | ManyClasses, names: list[str]) -> dict[str, Any]:
    if isinstance(found, ManyClasses):
        return {
            "pairs": [{"classes": [str(a), str(b)], **_plain(one, names)} for (a, b), one in found.pairs.items()],
            "joint": None if found.joint is None else found.joint.kind,
            "text": str(found),
        }
    coef = None if found.coef is None else dict(zip(names, np.ravel(found.coef).tolist(), strict=True))
    proof = None
    if found.weights is not None:
        proof = {"rows": found.weights.rows.tolist(), "values": [str(value) for value in found.weights.values]}
    return {
        "separable": found.separable,
        "kind": found.kind,
        "margin": found.margin,
        "intercept": None if found.intercept is None else float(found.intercept),
        "coefficients": coef,
        "combination": proof,
        "text": str(found),
    }
