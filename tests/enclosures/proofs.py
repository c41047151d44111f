"""Proofs of random problems as files have them, and mutations of them of which an oracle knows that they are false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaline.enclosures import checker
from tests.certificates.cases import Case, draw_case
from tests.certificates.exact import mp
from tests.enclosures.cases import LIKELIHOODS, draw_problem, fitted
from tests.enclosures.exact import solve

ENOUGH_DIGITS = 50  # to tell whether bounds in float64 hold; mutated rows may have no minimum, which takes long to find


class Proven(NamedTuple):
    """A proof as plain values, and the rows that it is about."""

    proof: dict[str, Any]
    case: Case

    def table(self) -> Iterator[dict[str, Any]]:
        """Return the rows as a CSV file has them."""
        case = self.case
        extra = {"w": case.weight, "o": case.offset}
        for i, row in enumerate(case.x.tolist()):
            found = {f"x{j}": repr(value) for j, value in enumerate(row)} | {"y": repr(float(case.t[i]))}
            yield found | {name: repr(float(v[i])) for name, v in extra.items() if v is not None}

    def accepted(self) -> bool:
        """Whether the checker verifies the proof."""
        try:
            checker.verify(self.proof, self.table())
        except checker.Refuted:
            return False
        return True

    def holds(self) -> bool:
        """Whether the exact minimum for the rows lies within the bounds."""
        case = self.case
        if case.family == "least squares":
            exact: Any = solve(case.x, case.t, case.weight, case.penalty, case.intercept)
        else:
            start = 0.5 * (np.array(self.proof["lower"]) + np.array(self.proof["upper"]))
            best = case.objective().minimum(start, digits=ENOUGH_DIGITS)
            exact = None if best is None else best.theta
        ends = zip(np.ravel(self.proof["lower"]), np.ravel(self.proof["upper"]), exact or [], strict=True)
        number = Fraction if case.family == "least squares" else mp.mpf
        return exact is not None and all(number(float(a)) <= v <= number(float(b)) for a, b, v in ends)


def proven(seed: int, number: int, folder: Path) -> Proven | None:
    """Return the proof of a random problem, written and read again; None where nothing is proved."""
    rng = np.random.default_rng([seed, number])
    if number % 2:
        p = draw_problem(rng)
        case = Case("least squares", p.design, p.x, p.t, p.weight, None, p.penalty, p.intercept)
        model = fitted(p)
    else:
        case = draw_case(rng, LIKELIHOODS[number // 2 % len(LIKELIHOODS)])
        model = case.fit()
    if model is None:
        return None
    given = {} if case.offset is None else {"offset": case.offset}
    found = model.enclose(case.x, case.t, sample_weight=case.weight, **given)
    if not found.proved:
        return None
    found.save(folder / "m.proof", weight="w", offset="o")
    return Proven(checker.load_proof(folder / "m.proof"), case)


def _bounds(one: Proven, rng: np.random.Generator) -> Proven:
    """Return bounds beside those of a coefficient."""
    proof = deepcopy(one.proof)
    k, j = rng.integers(len(proof["lower"])), rng.integers(not one.case.intercept, len(proof["lower"][0]))
    low, high = proof["lower"][k][j], proof["upper"][k][j]
    if rng.uniform() < 0.5:
        proof["lower"][k][j], proof["upper"][k][j] = float(np.nextafter(high, np.inf)), high + (high - low)
    else:
        proof["lower"][k][j], proof["upper"][k][j] = low - (high - low), float(np.nextafter(low, -np.inf))
    return one._replace(proof=proof)


def _no_bounds(one: Proven, rng: np.random.Generator) -> Proven:
    proof = deepcopy(one.proof)
    proof["lower" if rng.uniform() < 0.5 else "upper"][0][-1] = float("nan")
    return one._replace(proof=proof)


def _map(one: Proven, rng: np.random.Generator) -> Proven:
    """Return T of which a column is zero, or twice as long."""
    proof = deepcopy(one.proof)
    matrix = proof["solutions"][0]["map"]
    k, factor = rng.integers(len(matrix)), float(rng.choice([0.0, 2.0]))
    for row in matrix:
        row[k] *= factor
    return one._replace(proof=proof)


def _shape(one: Proven, rng: np.random.Generator) -> Proven:
    """Return a proof that lacks something."""
    proof = deepcopy(one.proof)
    at = [proof, proof["solutions"][0]][int(rng.integers(2))]
    key = str(rng.choice(sorted(set(at) - {"format", "tie"})))
    if (key in ("weight", "offset", "classes", "codes", "class_weights") and at[key] is None) or key == "drops_rows":
        at[key] = "no such column"
        if key != "weight":
            del proof["solutions"]
    else:
        del at[key]
    return one._replace(proof=proof)


def _penalty(one: Proven, rng: np.random.Generator) -> Proven:
    proof, penalty = deepcopy(one.proof), one.case.penalty
    other = penalty * float(rng.choice([0.5, 1.001, 3.0])) if penalty else float(10.0 ** rng.uniform(-3, 3))
    proof["solutions"][0]["penalty"] = other
    return Proven(proof, replace(one.case, penalty=other))


OF_CLASSES = ("softmax", "logistic", "binomial", "probit", "cloglog", "binomial log")


def _row(one: Proven, rng: np.random.Generator) -> Proven:
    """Return rows of which one number is another one."""
    case, i = one.case, int(rng.integers(len(one.case.t)))
    x, t = case.x.copy(), case.t.copy()
    if rng.uniform() < 0.5 or case.family in OF_CLASSES:
        x[i, rng.integers(x.shape[1])] += float(rng.normal())
    else:
        t[i] = abs(t[i]) * 1.25 + 1
    return one._replace(case=replace(case, x=x, t=t))


def _swapped(one: Proven, rng: np.random.Generator) -> Proven:
    """Return rows of which two columns are exchanged."""
    x = one.case.x.copy()
    i, j = rng.choice(x.shape[1], 2, replace=False)
    x[:, [i, j]] = x[:, [j, i]]
    return one._replace(case=replace(one.case, x=x))


def _fewer(one: Proven, rng: np.random.Generator) -> Proven:
    """Return all rows but one."""
    case = one.case
    kept = np.arange(len(case.t)) != rng.integers(len(case.t))
    parts = {name: None if (v := getattr(case, name)) is None else v[kept] for name in ("x", "t", "weight", "offset")}
    proof = deepcopy(one.proof)
    proof["rows"] -= 1
    return Proven(proof, replace(case, **parts))


MUTATIONS: tuple[Callable[[Proven, np.random.Generator], Proven], ...] = (
    _bounds,
    _bounds,
    _no_bounds,
    _map,
    _shape,
    _penalty,
    _row,
    _swapped,
    _fewer,
)
BROKEN = (_no_bounds, _map, _shape)  # which say nothing that could be true


def mutated(one: Proven, rng: np.random.Generator) -> Proven | None:
    """Return a proof of something that is not true, or no proof; None where the mutation left it true."""
    mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
    other = mutation(one, rng)
    return other if mutation in BROKEN or not other.holds() else None
