"""Separability: the laws that the answer obeys, and answers that are known."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import open_table
from adaline.block import Block
from adaline.errors import InvalidData
from adaline.separation import survey
from adaline.separation.budget import Budget, Undecided
from adaline.separation.contests import Contests
from adaline.separation.decision import _Working
from adaline.separation.exact import complement, whole
from adaline.separation.separability import decide_jointly, is_separable, separability
from adaline.separation.verdict import Combination, ManyClasses, ProofFailed, Separability
from adaline.sources.array import ArraySource, SparseSource
from tests.separation.separable_sets import generated

XOR = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
BESIDE = [[0, 0], [2, 0], [1, 0], [3, 0], [0, 1], [0, -1]]
FAR = 2.0**40 + np.array([[0.0], [1.0], [2.0], [3.0]]) * 2.0**-12
SCALES = (1e-300, 1e-12, 1e12, 1e300)
KNOWN = [
    ("xor", *XOR, "none"),
    ("and", [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1], "complete"),
    ("a row in both classes, at the end of each", [[0], [1], [1], [2]], [0, 0, 1, 1], "quasi"),
    ("a row in both classes, in the middle", [[0], [1], [2], [0], [1], [2]], [0, 0, 0, 1, 1, 1], "none"),
    ("the same row twice", [[1, 1], [1, 1]], [0, 1], "none"),
    ("nothing but a constant", [[3.0], [3.0], [3.0]], [0, 1, 1], "none"),
    ("touching at a corner only", [[0, 0], [1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]], [0, 0, 0, 1, 1, 1], "quasi"),
    ("overlap on a line, apart beside it", BESIDE, [0, 0, 1, 1, 0, 1], "quasi"),
    ("a dummy that one class has", [[0, 0], [1, 0], [0, 0], [1, 0], [0.5, 1]], [0, 0, 1, 1, 1], "quasi"),
    ("interleaved on a line", [[0], [1], [2], [3]], [0, 1, 0, 1], "none"),
    ("interleaved far from zero", FAR, [0, 1, 0, 1], "none"),
    *((f"xor in units of {scale}", np.array(XOR[0]) * scale, XOR[1], "none") for scale in SCALES),
    *((f"or in units of {scale}", np.array(XOR[0]) * scale, [0, 1, 1, 1], "complete") for scale in SCALES),
    *((f"or, z in units of {scale}", np.array(XOR[0]) * [scale, 1.0], [0, 1, 1, 1], "complete") for scale in SCALES),
    *(  # where floats cannot tell, the exact simplex goes on
        (f"{kind}, by a shift of 2^-50", [[0, 0], [4, 4], [2, 2 + shift], [9, 0]], [0, 0, 1, 1], kind)
        for shift, kind in ((0.0, "quasi"), (2.0**-50, "none"), (-(2.0**-50), "complete"))
    ),
]


def ask(X: Any, y: Any) -> Separability:
    found = separability(X, y)
    assert isinstance(found, Separability)
    assert found.verify()
    return found


@pytest.mark.every
@pytest.mark.parametrize(("X", "y", "kind"), [pytest.param(*known[1:], id=known[0]) for known in KNOWN])
def test_known_answers(X: Any, y: Any, kind: str) -> None:
    found = ask(X, y)
    assert found.kind == kind
    assert found.separable == (kind == "complete")


@pytest.mark.parametrize("seed", range(0, 2000, 20))
def test_generated_sets_of_both_kinds_down_to_1e_9(seed: int) -> None:
    margin = 10.0 ** -(1 + seed // 20 % 9)
    near = ask(*generated(seed, margin))
    assert near.kind == "complete"
    assert near.margin > 0
    assert near.coef is not None
    assert ask(*generated(seed + 1, -margin)).kind == "none"


@pytest.mark.parametrize("margin", [1e-2, 1e-9, -1e-2, -1e-9])
def test_laws(margin: float) -> None:
    X, t = generated(7, margin)
    rng = np.random.default_rng(0)
    first = ask(X, t)
    order = rng.permutation(len(X))
    inner = [X[t == k].T @ rng.dirichlet(np.ones((t == k).sum())) for k in (-1, 1)]
    others = {
        "other order": ask(X[order], t[order]),
        "classes swapped": ask(X, -t),
        "units by powers of two": ask(np.ldexp(X, rng.integers(-40, 40, X.shape[1])), t),
        "rows twice": ask(np.concatenate([X, X]), np.concatenate([t, t])),
        "a constant column": ask(np.column_stack([X, np.full(len(X), 0.1)]), t),
        "a column twice": ask(np.column_stack([X, X[:, 0]]), t),
        "means of each class added": ask(np.concatenate([X, inner]), [*t, -1, 1]),
    }
    for name, other in others.items():
        assert other.kind == first.kind, name
    coarse = np.round(X, 3)
    assert ask(np.column_stack([coarse, coarse[:, :2].sum(axis=1)]), t).kind == ask(coarse, t).kind
    wrong = np.concatenate([X, X[t == 1].mean(axis=0)[None]]), np.append(t, -1)
    assert ask(*wrong).kind != "complete"


def test_proof_is_exact_and_small() -> None:
    X, t = generated(3, -1e-6)
    weights = ask(X, t).weights
    assert weights is not None
    assert len(weights) <= X.shape[1] + 2
    assert sum(weights.values) == 1
    for column in (np.ones(len(X)), *X.T):
        terms = zip(weights.values, t[weights.rows].tolist(), column[weights.rows].tolist(), strict=True)
        assert sum(value * side * Fraction(x) for value, side, x in terms) == 0


@pytest.mark.parametrize(("t", "overlap"), [([0, 1, 0], True), ([0, 0, 1], False)])
def test_contests_that_add_up_to_zero_with_both_signs_are_no_overlap(t: list[int], overlap: bool) -> None:
    source = ArraySource(np.array([[0.0], [1.0], [2.0]]), np.array(t, dtype=float)[:, None])
    contests = Contests(source, [0, 1], 2, survey.Survey.of(source, 2).scaling([0, 1]), Budget(1e9))
    room = complement(np.empty((0, 2), dtype=object), 2)
    found = _Working(contests, room, contests.sweep(whole(np.ones(2)), 9).lowest)._overlap(np.arange(3))
    assert (found is not None) == overlap
    assert found is None or sorted(found.share) == [1, 1, 2]


def test_extremes_on_a_device_are_those_of_the_host() -> None:
    rng = np.random.default_rng(0)
    classes, weight = rng.integers(0, 3, (30, 1)).astype(float), np.arange(30) % 4 / 2
    block = Block(rng.normal(size=(30, 2)), classes, weight)
    for count in (3, 4):  # the last of four has no rows
        np.testing.assert_array_equal(survey._extremes_on_device(block, count), survey._extremes(block, count))


def test_quasi_has_both_proofs_and_names_the_rows_on_the_plane() -> None:
    found = ask(BESIDE, [0, 0, 1, 1, 0, 1])
    assert found.on_plane.tolist() == [0, 1, 2, 3]
    assert found.plane is not None
    assert found.plane[0][0] == found.plane[0][1] == 0
    assert found.weights is not None
    assert set(found.weights.rows.tolist()) <= {0, 1, 2, 3}
    assert found.margin == 0.0


@pytest.mark.slow
def test_few_rows_in_general_position_are_always_separable() -> None:
    rng = np.random.default_rng(5)
    for n, d in ((3, 2), (6, 5), (20, 30), (40, 600), (30, 1500)):
        assert ask(rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, d), np.arange(n) % 2).kind == "complete"


def test_margin_is_the_distance_of_the_nearest_row() -> None:
    found = ask([[0.0, 5.0], [1.0, -5.0], [3.0, 0.0], [9.0, 1.0]], [0, 0, 1, 1])
    assert found.coef is not None
    heights = np.array([[0, 5], [1, -5], [3, 0], [9, 1]]) @ found.coef + found.intercept
    assert found.margin == pytest.approx(np.abs(heights).min() / np.linalg.norm(found.coef), rel=1e-12)
    assert ask([[1.0], [2.0], [4.0], [7.0]], list("aabb")).margin == pytest.approx(1.0, rel=1e-12)
    assert 2.0**-14 <= ask(FAR, [0, 0, 1, 1]).margin <= 2.0**-13  # the intercept is a float, 2^-12 apart from the next


def test_kinds_of_input(tmp_path: Path) -> None:
    X, t = generated(11, 1e-3)
    wanted = ask(X, t).coef
    labels = np.where(t > 0, "yes", "no")
    weight = np.ones(len(t) + 1)
    weight[-1] = 0.0
    for found in (
        ask(X.tolist(), labels),
        ask(np.asfortranarray(X), t > 0),
        ask(pd.DataFrame(X), labels),
        separability(ArraySource(X, (t > 0).astype(float)[:, None])),
        separability(np.concatenate([X, X[:1]]), [*t, -t[0]], sample_weight=weight),
    ):
        np.testing.assert_array_equal(found.coef, wanted)
    only = separability([[0.0], [1.0], [3.0], [4.0], [2.0]], list("aabbc"), sample_weight=[1, 1, 1, 1, 0])
    assert isinstance(only, Separability)
    with pytest.raises(InvalidData, match="there is one class, 'a'"):
        separability([[0.0], [1.0]], ["a", "b"], sample_weight=[1, 0])
    assert ask(sparse.csr_array(X), labels).separable
    assert ask(X.astype(np.float32), t).verify()
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "red", "blue", "blue"]})
    assert ask(frame, [0, 0, 1, 1]).separable
    assert ask(sparse.csr_array(np.array(XOR[0])), XOR[1]).kind == "none"
    (tmp_path / "rows.csv").write_text("x,z,label\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n5,0,yes\n")
    table = separability(open_table(tmp_path / "rows.csv", target="label"))
    assert isinstance(table, Separability)
    assert (table.kind, table.verify()) == ("none", True)
    named = separability([[0.0], [1.0], [2.0]], np.array(["a", "b", "c"], dtype=object))
    assert isinstance(named, ManyClasses)
    assert sorted(named.pairs) == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "NaN"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([[1.0], [2.0]], [1, 1], "2 classes"),
        ([[1.0], [2.0]], [1, 1, 2], "inconsistent"),
        ([[1.0], [2.0]], None, "target y is None"),
        ([[1.0], [2.0]], [0.5, 0.7], "label"),
        (np.zeros((60, 1)), np.arange(60), "50 classes"),
    ],
)
def test_bad_input(X: Any, y: Any, message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        separability(X, y)


def test_a_false_proof_is_found_out() -> None:
    X, t = generated(13, 1e-3)
    right = ask(X, t)
    assert right.plane is not None
    for wrong in (
        dataclasses.replace(right, plane=(tuple(-v for v in right.plane[0]),)),
        dataclasses.replace(right, plane=((right.plane[0][0] + 100, *right.plane[0][1:]),)),
        dataclasses.replace(right, kind="quasi"),
        dataclasses.replace(right, kind="none", plane=None),
    ):
        with pytest.raises(ProofFailed):
            wrong.verify()
    over = ask(*generated(13, -1e-3))
    assert over.weights is not None
    values = over.weights.values
    swapped = Combination(over.weights.rows, (values[1], values[0], *values[2:]))
    short = Combination(over.weights.rows[:2], (Fraction(1, 2), Fraction(1, 2)))
    for wrong in (dataclasses.replace(over, weights=swapped), dataclasses.replace(over, span=short)):
        with pytest.raises(ProofFailed):
            wrong.verify()
    quasi = ask([[0, 0], [1, 0], [0, 0], [1, 0], [0.5, 1]], [0, 0, 1, 1, 1])
    with pytest.raises(ProofFailed):
        dataclasses.replace(quasi, kind="none", plane=None).verify()


def test_a_proof_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.separation.decision.MOST_EXACT_ROWS", 3)
    with pytest.raises(Undecided, match="limit of 3"):
        separability(*generated(3, -1e-6))


def words(rows: int = 200, columns: int = 1500) -> tuple[Any, Any]:
    """Counts of words, of which three pairs of rows are the same text in both classes."""
    x = sparse.random(rows, columns, 0.02, format="csr", random_state=0)
    y = np.arange(rows) % 2
    return sparse.vstack([x, x[:3]]).tocsr(), np.append(y, 1 - y[:3])


@pytest.mark.slow
def test_texts_in_both_classes_are_found_at_the_price_of_few_exact_rows() -> None:
    x, y = words()
    source = SparseSource(x, y[:, None].astype(float))
    found = decide_jointly(source, np.array([0, 1]), Budget(1e9))
    assert found.kind == "quasi"
    np.testing.assert_array_equal(found.on_plane, [0, 1, 2, 200, 201, 202])
    assert found.verify()
    with pytest.raises(Undecided, match="given up"):
        decide_jointly(source, np.array([0, 1]), Budget(1e7))


def test_text() -> None:
    assert "not separable" in str(ask(*XOR))
    assert "quasi-separable" in str(ask([[0], [1], [1], [2]], [0, 0, 1, 1]))
    assert "distance 1 " in str(ask([[0], [2]], [0, 1]))


def test_three_classes_pairs_and_jointly() -> None:
    line = np.array([[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]])
    found = separability(line, list("aabbcc"))
    assert isinstance(found, ManyClasses)
    assert found.verify()
    assert found.separable
    assert found.kind == "complete"
    assert {pair.kind for pair in found.pairs.values()} == {"complete"}
    assert found.coef is not None
    assert ((line @ found.coef.T + found.intercept).argmax(axis=1) == [0, 0, 1, 1, 2, 2]).all()
    assert found.margin > 0
    assert "Of 3 pairs" in str(found)


def test_whether_a_plane_separates_is_told_without_the_kind_of_overlap_within_a_budget() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    apart = X[:, 0] > 0
    mixed = apart ^ (np.arange(60) == 0)
    assert is_separable(X, apart, 5e9)
    assert not is_separable(X, mixed, 5e9)
    assert is_separable(X, np.ones(60), 5e9)
    with pytest.raises(Undecided, match="given up"):
        is_separable(X, mixed, 1.0)
