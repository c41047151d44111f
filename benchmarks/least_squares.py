"""Least squares on large and on small data, by us and by everybody else."""

from __future__ import annotations

import math

from benchmarks import reference
from benchmarks.peers import GLUM, INTELEX, LSTSQ, OURS, OURS_WITH_SUMMARY, PEERS, SCIKIT_LEARN, STATSMODELS, opponent
from benchmarks.problems import regression
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, digits, ratio, seconds
from benchmarks.timing import race

SHAPES = ((4_000_000, 10), (500_000, 50), (1_000_000, 100), (200_000, 500))
COLUMNS = ("", "time", "ratio", "digits", "best of")


@benchmark("least_squares")
def large(settings: Settings) -> Section:
    """Four shapes of 4e7 to 1e8 numbers."""
    contenders = (OURS, OURS_WITH_SUMMARY, *PEERS)
    tables = []
    logs: dict[str, list[float]] = {peer.name: [] for peer in PEERS}
    for full, features in SHAPES:
        rows = settings.rows(full)
        X, y = regression(rows, features)
        exact = reference.solve(X, y)
        timings = race({peer.name: peer.prepare(X, y, True) for peer in contenders}, rounds=settings.rounds)
        lines = []
        for peer in contenders:
            timing = timings[peer.name]
            times = timing.seconds / timings[opponent(peer).name].seconds
            if peer in PEERS:
                logs[peer.name].append(math.log(times))
            reached = reference.digits(peer.theta(timing.result), exact)
            shown = ratio(times) if peer in PEERS else "-"
            lines.append((peer.name, seconds(timing.seconds), shown, digits(reached), str(timing.runs)))
        tables.append(Table(f"{rows} x {features}", COLUMNS, lines))
        del X, y, timings
    means = [(name, ratio(math.exp(sum(values) / len(values)))) for name, values in logs.items()]
    tables.append(Table("All shapes", ("", "geometric mean of the ratios"), means))
    return Section("Least squares", _LARGE, tables)


@benchmark("small")
def small(settings: Settings) -> Section:
    """A fit that costs nothing but its overhead."""
    contenders = (OURS, OURS_WITH_SUMMARY, INTELEX, SCIKIT_LEARN, STATSMODELS, GLUM, LSTSQ)
    X, y = regression(150, 4)
    exact = reference.solve(X, y)
    calls = 20 if settings.quick else 200
    timings = race({peer.name: peer.prepare(X, y, True) for peer in contenders}, rounds=settings.rounds, calls=calls)
    lines = []
    for peer in contenders:
        timing = timings[peer.name]
        times = timing.seconds / timings[opponent(peer).name].seconds
        reached = reference.digits(peer.theta(timing.result), exact)
        shown = ratio(times) if peer in PEERS else "-"
        lines.append((peer.name, seconds(timing.seconds), shown, digits(reached), f"{timing.runs} x {calls}"))
    return Section("Small data", _SMALL, [Table("150 x 4", COLUMNS, lines)])


_LARGE = """
`LinearRegression().fit(X, y)` on float64 rows in C order, with an intercept and our certificate. Columns have spreads
from 0.01 to 100 and means of a few spreads. statsmodels computes standard errors, so it is compared with our fit
and `summary()`; statsmodels and lstsq get their column of ones for free. Digits are against a solution refined in
extended precision.
"""

_SMALL = """
The same on 150 rows, where the time is that of the call itself. Our fit includes the refinement and the certificate.
"""
