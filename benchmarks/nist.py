"""Digits on NIST's Statistical Reference Datasets, where conditioning is what is tested."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers import OURS, PEERS, Array, Peer
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table
from benchmarks.report import digits as shown
from tests.nist import NAMES, Nist, digits, read


@benchmark("nist")
def nist(settings: Settings) -> Section:
    """All eleven linear sets."""
    lines = []
    for name in NAMES:
        data = read(name)
        ours = OURS.prepare(data.X, data.y, data.fit_intercept)()
        lines.append(
            (
                name,
                f"{_condition(data):.0e}",
                shown(digits(OURS.theta(ours), data.coef)),
                shown(ours.certificate_.digits),
                *(_reached(peer, data) for peer in PEERS),
            )
        )
    columns = ("", "condition", OURS.name, "certified", *(peer.name.split(",")[0] for peer in PEERS))
    return Section("Digits on NIST's reference sets", _TEXT, [Table("", columns, lines)])


def _reached(peer: Peer, data: Nist) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = peer.prepare(data.X, data.y, data.fit_intercept)()
        except (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:
            return type(error).__name__
    return shown(digits(peer.theta(result), data.coef))


def _condition(data: Nist) -> float:
    """2-norm condition number of the design, ones included, its columns of equal length."""
    design: Array = np.column_stack([np.ones(len(data.y)), data.X]) if data.fit_intercept else data.X
    return float(np.linalg.cond(design / np.linalg.norm(design, axis=0)))


_TEXT = """
Correct digits of the worst coefficient with respect to NIST's answer (30 digits, exact arithmetic on the decimal data);
0 or less: none. `certified` is what our certificate promises, with respect to the exact answer for the float64 input.
The two differ where rounding the decimal data and the powers of x to float64 already moves the answer: in rational
arithmetic, the exact answer for the float64 input has 7.6 digits on Filip, 13.2 on Wampler2, 13.5 on Pontius, 14.0 on
Norris and 14.7 on Longley.
"""
