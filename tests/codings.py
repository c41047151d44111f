"""Codings that make sparse rows of tables, or take effects out of them: one list, and rows for all of them.

A coding that is registered here is held to the laws of rows (tests/sources/tables/test_sparse.py) and of systems
(tests/systems/test_codings.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from adaline import open_table

WORDS = ["red", "Green", "blue", "naïve", "x", "don't", "日本", "a_b", "42"]
SPARSE: dict[str, dict[str, Any]] = {
    "many levels": {"features": ["user", "age"], "categories": ["user"]},
    "whole numbers": {"features": ["number", "age"], "categories": ["number"]},
    "hashed": {"features": ["user", "number", "age"], "hashed": {"user": 2**6, "number": 2**4}},
    "hashed product": {"formula": "y ~ age + user:city + age:user", "hashed": {"user": 2**5}},
    "words": {"features": ["title", "age"], "words": ["title"]},
    "binary": {"features": ["title"], "words": {"title": {"weighting": "binary", "ngrams": 2, "least": 3}}},
    "tfidf": {"features": ["title"], "words": {"title": {"weighting": "tfidf"}}},
    "hashed words": {"features": ["title", "city"], "words": {"title": {"width": 64}}},
}
"""Options of `open_table` that make sparse rows."""
ABSORBED: dict[str, dict[str, Any]] = {
    "absorbed": {"features": ["age"], "absorb": ["user"]},
    "absorbed twice": {"formula": "y ~ age | user + city"},
}
"""Options of `open_table` that absorb effects."""
CODINGS = {**SPARSE, **ABSORBED}
LEARNED_FROM_ROWS = ("tfidf",)
"""Codings that learn from rows, whatever their weights: rows that are repeated are others."""
NO_LEVEL_IS_NEW = ("hashed", "hashed product", "hashed words", "words", "binary", "tfidf")
"""Codings to which no value is new: it has a bucket, or counts nothing."""


def coded_frame() -> pd.DataFrame:
    """Return 600 rows of ids, a number, a city and a text, with an amount, two kinds and weights."""
    rng = np.random.default_rng(5)
    n = 600
    number = np.concatenate([np.arange(60), rng.integers(0, 60, n - 60)])
    out = pd.DataFrame({"user": [f"u{k}" for k in number], "number": number, "age": rng.normal(size=n)})
    out["city"] = rng.choice(["Bern", "Oslo", "Rome"], size=n)
    out["title"] = [" ".join(rng.choice(WORDS, size=k)) for k in rng.integers(1, 6, n)]
    out["y"] = out["age"] + rng.normal(size=60)[number] + rng.normal(size=n)
    out["kind"] = np.where(out["y"] > 0, "dear", "cheap")
    out["times"] = rng.integers(1, 4, size=n).astype(float)
    return out


def open_coded(data: Any, options: dict[str, Any], target: str = "y", **more: Any) -> Any:
    """Open a table by a coding; the target of a formula is replaced by the one named."""
    formula = options.get("formula")
    given = {"formula": formula.replace("y ~", f"{target} ~")} if formula else {"target": target}
    return open_table(data, **{**options, **given, **more})
