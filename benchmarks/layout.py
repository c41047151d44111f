"""Our own fit on the same numbers in other memory layouts."""

from __future__ import annotations

import numpy as np

from benchmarks import reference
from benchmarks.peers import OURS
from benchmarks.problems import regression
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, digits, ratio, seconds
from benchmarks.timing import race

BASE = "float64, C order"


@benchmark("layout")
def layout(settings: Settings) -> Section:
    """float32 against float64, Fortran against C order."""
    rows, features = settings.rows(1_000_000), 100
    X, y = regression(rows, features)
    single = X.astype(np.float32)
    double_exact, single_exact = reference.solve(X, y), reference.solve(single, y)
    layouts = {
        BASE: (X, double_exact),
        "float64, Fortran order": (np.asfortranarray(X), double_exact),
        "float32, C order": (single, single_exact),
        "float32, Fortran order": (np.asfortranarray(single), single_exact),
    }
    timings = race({name: OURS.prepare(x, y, True) for name, (x, _) in layouts.items()}, rounds=settings.rounds)
    lines = []
    for name, (_, exact) in layouts.items():
        reached = reference.digits(OURS.theta(timings[name].result), exact)
        times = timings[name].seconds / timings[BASE].seconds
        lines.append((name, seconds(timings[name].seconds), ratio(times), digits(reached)))
    caption = f"{rows} x {features}"
    return Section("Layout and precision", _TEXT, [Table(caption, ("", "time", f"time / {BASE}", "digits"), lines)])


_TEXT = """
`LinearRegression().fit(X, y)` of ours alone. The digits of a float32 fit are with respect to the exact answer for the
float32 numbers.
"""
