"""Files that someone forged, checksums and all: each loads and works, or is refused, and takes little memory."""

from __future__ import annotations

import copy
import os
import tracemalloc
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import open_table
from adaline.coding.numerals import Notation
from adaline.errors import InvalidData, ModelFileError
from adaline.scans.tally import MISTAKES, SIZE, STATUS, STEPS, UPDATES, WEIGHT
from adaline.storage import container, load, save
from adaline.storage.relations import LARGEST_EXPONENT
from adaline.storage.tree import DEEPEST, encode
from adaline.systems import LMS, GeneralizedLinear, LinearRegression
from tests.storage.cases import assert_equal
from tests.storage.forge import altered, at, failures, grafted, misused, original, originals, with_changes, without_each

FORGERIES = int(os.environ.get("ADALINE_FORGERIES", "4"))
"""Of each file, drawn at random."""
FILES = originals()
DEFAULTS = [name for name in FILES if name.endswith("()")]

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5]


@pytest.mark.parametrize("name", FILES)
def test_a_forged_file_loads_and_works_or_is_refused(name: str, tmp_path: Path) -> None:
    file, rng = FILES[name](), np.random.default_rng(len(name))
    assert failures(file, file, tmp_path / "m") == []
    load(tmp_path / "m")
    for _ in range(FORGERIES):
        forgery = altered(rng, file)
        assert failures(file, forgery, tmp_path / "m") == [], forgery.name


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_lacks_an_attribute_is_refused_or_works(name: str, tmp_path: Path) -> None:
    file = FILES[name]()
    for forgery in without_each(file):
        assert failures(file, forgery, tmp_path / "m") == [], f"without {forgery.name}"


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_part_of_another_system_works_or_is_refused(name: str, tmp_path: Path) -> None:
    file, rng = FILES[name](), np.random.default_rng(len(name))
    for donor in rng.permutation(DEFAULTS)[:FORGERIES]:
        part = str(rng.choice(["state", *FILES[donor]().head["state"]]))
        assert failures(file, grafted(file, FILES[donor](), part), tmp_path / "m") == [], (donor, part)


@pytest.mark.every
@pytest.mark.parametrize(
    ("host", "donor", "part"),
    [
        *(("Pocket()", "Perceptron()", "result"), ("Pocket()", "LMS()", "result"), ("LMS()", "Adaline()", "scan")),
        *(("Perceptron()", "Pocket()", "result"), ("Ridge()", "RobustRegression()", "fits")),
        *(("Ridge()", "LeastSquaresClassifier()", "sums"), ("LogisticRegression()", "GeneralizedLinear()", "fits")),
        *(("GeneralizedLinear()", "LogisticRegression()", "fits"), ("Ridge()", "LMS()", "state")),
        *(("LogisticRegression()", "OrdinalRegression()", "fits"), ("LogisticRegression()", "Ridge()", "fits")),
    ],
)
def test_parts_of_other_families_are_refused(host: str, donor: str, part: str, tmp_path: Path) -> None:
    file = FILES[host]()
    with pytest.raises(ModelFileError):
        misused(file, grafted(file, FILES[donor](), part), tmp_path / "m")


ROWS_AT, WEIGHT_AT, MODE_AT, EXPONENT_AT, NOISE_AT = 0, 1, 2, 14, 19  # in a buffer of moments of five columns
SUMS, SCALES = "sums.buffer", "fits.0.factor.scaling.exponent"
CODING, COLUMN = "columns/InputColumns/coding/Coding", "columns/InputColumns/coding/Coding/columns/tuple/1/Column"
TAPS = "recording/Recording/taps"
MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("Ridge()", {"coef": np.ones(3)}, "coef of Ridge"),
    ("Ridge()", {"coef": np.ones((1, 1, 4))}, "coef of Ridge"),
    ("Ridge()", {"coef": at(1, np.nan)}, "coef of Ridge"),
    ("Ridge()", {"coef": np.float32}, "coef of Ridge"),
    ("Ridge()", {"intercept": {"float": "nan"}}, "intercept of Ridge"),
    ("Ridge()", {"rank": -1}, "rank of Ridge is not a whole number of zero or more"),
    ("Ridge()", {"rank": 2**63}, "rank of Ridge is not a whole number of zero or more"),
    ("Ridge()", {"columns/InputColumns/count": 5}, "theta of Solution"),
    ("Ridge()", {"estimable": np.ones(4)}, "estimable of Ridge"),
    ("Ridge()", {"flat": 1}, "flat of Ridge is not bool"),
    ("Ridge()", {"fits.0.solution.theta": np.ones((1, 4))}, "fits of Ridge|theta of Solution|of ColumnScaling"),
    ("Ridge()", {"fits.0.factor.length": at(0, 0.0)}, "length of CholeskyFactor is not positive float64"),
    (
        "Ridge()",
        {f"fits.0.factor.scaling.{name}": np.zeros(7) for name in ("exponent", "mean_hi", "mean_lo")},
        "scaled columns of a fit",
    ),
    ("Ridge()", {"fits.0.factor.r": at(0, 0.0)}, "a factor that is not singular"),
    ("Ridge()", {"fits.0.factor.alive": at(0, False)}, "a rank of at most the columns that vary"),
    ("Ridge()", {"fits/tuple/0/Fit/factor/CholeskyFactor/rank": 5}, "a rank of at most the columns that vary"),
    ("Ridge()", {"fits/tuple/0/Fit/rows": -1}, "rows of Fit is not a whole number of zero or more"),
    ("Ridge()", {"fits.0.trace": at(0, -np.inf)}, "trace of Fit is not float64 not below zero"),
    ("Ridge()", {"fits.0.unit": at(0, -1.0)}, "unit of Fit is not positive float64"),
    ("Ridge()", {"fits/tuple/0/Fit/weight": 0.0}, "weight of Fit is not a finite number above zero"),
    ("Ridge()", {SUMS: lambda a: a[:-1]}, "moments of that size"),
    ("Ridge()", {SUMS: at(ROWS_AT, 0.5)}, "rows, weight and mode"),
    ("Ridge()", {SUMS: at(ROWS_AT, -1.0)}, "rows, weight and mode"),
    ("Ridge()", {SUMS: at(ROWS_AT, 2.0**63)}, "rows, weight and mode"),
    ("Ridge()", {SUMS: at(WEIGHT_AT, -1.0)}, "rows, weight and mode"),
    ("Ridge()", {SUMS: at(MODE_AT, 2.0)}, "rows, weight and mode"),
    ("Ridge()", {SUMS: at(NOISE_AT, -1e-300)}, "noise of zero or more"),
    *(
        ("Ridge()", {SUMS: at(EXPONENT_AT, value)}, "exponents|buffer of Moments is not finite")
        for value in (np.nan, np.inf, 1e300, -1e300, 2.0**31, LARGEST_EXPONENT + 1, -LARGEST_EXPONENT - 1, 0.5)
    ),
    ("Ridge()", {SCALES: at(1, LARGEST_EXPONENT + 1)}, "exponents that are whole numbers in range"),
    ("Ridge()", {SCALES: lambda a: a[:-2]}, "mean_hi|mean_lo|exponent|scal"),
    ("LMS()", {"typical": np.ones(2)}, "theta of AdaptiveRule|typical of LMS"),
    ("LMS()", {"columns/InputColumns/coding": 1}, "coding of InputColumns"),
    ("Perceptron()", {"scan.good": np.ones((1, 6))}, "good of PerceptronRule|weights saved"),
    ("Perceptron()", {"scan.theta": np.ones((2, 5)), "scan.good": np.ones((2, 5))}, "outputs|output for each class"),
    ("Perceptron()", {"scan.lag": np.zeros((1, 5))}, "lag of a scan|lag of PerceptronRule"),
    ("Perceptron()", {"scan.root": np.zeros((1, 5, 8))}, "root of a scan"),
    ("Perceptron()", {"scan.numbers": at(STATUS, 7.0)}, "tallies of a scan"),
    ("Perceptron()", {"scan.numbers": at(STEPS, 2.0**53)}, "tallies of a scan"),
    ("Perceptron()", {"scan.numbers": at(STEPS, -1.0)}, "tallies of a scan"),
    *(("Perceptron()", {"scan.numbers": at(place, np.inf)}, "tallies") for place in (WEIGHT, MISTAKES, UPDATES)),
    ("Perceptron()", {"scan.numbers": np.full(SIZE, np.inf)}, "tallies of a scan"),
    ("Perceptron()", {"targets.a": at(0, 5.0)}, "targets of the classes"),
    ("Perceptron()", {"classes/array/values": ["b", "a", "c"]}, "classes of Perceptron is not .* sorted"),
    ("Perceptron()", {"classes/array/values": ["a", "a", "c"]}, "classes of Perceptron is not .* sorted"),
    ("KeslerPerceptron()", {"scan.numbers": at(UPDATES, np.inf)}, "tallies of a scan"),
    ("Pocket()", {"result/OnlineResult/pocket": None}, "a pocket"),
    ("GaussianClassifier()", {"priors": np.ones(4)}, "priors of Gaussian|hi of ClassDensities"),
    ("GaussianClassifier()", {"priors": np.ones(3)}, "priors of GaussianClassifier"),
    ("GaussianClassifier()", {"priors": np.array([1.5, -1.0, 0.5])}, "priors of GaussianClassifier"),
    ("GaussianClassifier()", {"intercept": at(1, np.inf)}, "intercepts of the classes"),
    ("GaussianClassifier()", {"densities.log_determinants": np.full(3, np.nan)}, "log_determinants of ClassDensities"),
    ("GaussianClassifier()", {"densities/ClassDensities/factors/1": None}, "densities of the classes"),
    ("LeastSquaresClassifier()", {"sums/ClassMoments/parts": lambda parts: parts[:2]}, "classes of the sums"),
    ("LeastSquaresClassifier()", {"intercept": at(0, np.inf)}, "intercepts of the classes"),
    ("LogisticRegression()", {"intercept": at(0, np.nan)}, "intercept of LogisticRegression"),
    ("LogisticRegression()", {"fits": lambda fits: fits * 2}, "machines of the fits"),
    ("LogisticRegression()", {"fits.0.dependence.left_out": np.array([0])}, "weights of Dependence"),
    ("GeneralizedLinear()", {"fits/0/LikelihoodFit/family": None}, "fits of one kind"),
    ("OrdinalRegression()", {"thresholds": lambda a: a[::-1]}, "thresholds of OrdinalRegression is not ascending"),
    ("OrdinalRegression()", {"thresholds": lambda a: a[:1]}, "thresholds that ascend"),
    ("OrdinalRegression()", {"thresholds": at(1, np.inf)}, "thresholds of the fit"),
    ("OrdinalRegression()", {"coef": lambda a: np.repeat(a, 2, axis=0)}, "coef of OrdinalRegression"),
    ("OrdinalRegression()", {"fits": lambda fits: fits * 2}, "one fit"),
    ("OneVsRest()", {"estimators": lambda all: all[:2]}, "machines"),
    ("OneVsRest()", {"estimators/0/system/state/columns/InputColumns/count": None}, "count of InputColumns"),
    ("WienerFilter()", {TAPS: {"tuple": [1, 1, 2]}}, "signals"),
    ("WienerFilter()", {TAPS: {"tuple": [1, 1, 2, 0]}}, "taps of one or more"),
    ("WienerFilter()", {TAPS: {"tuple": [1, 1, 1, 2]}}, "taps"),
    ("WienerFilter()", {"recording/Recording/delay": 10**7}, "a reach of at most 10000000"),
    ("WienerFilter()", {"recording/Recording/delay": -(10**7)}, "a reach of at most 10000000"),
    ("WienerFilter()", {"recording/Recording/total": None}, "sums of a recording"),
    ("AdaptiveFilter()", {"adaptation/Adaptation/rule": "nothing"}, "a rule of adaptive filters"),
    ("AdaptiveFilter()", {"adaptation/Adaptation/end": 0}, "samples of the filter"),
    ("AdaptiveFilter()", {"adaptation/Adaptation/end": 258}, "samples of the filter"),
    ("Ridge() table", {f"{COLUMN}/levels/tuple": ["x", "y", "x"]}, "levels"),
    ("Ridge() table", {f"{COLUMN}/share/tuple": [0.5, 0.5]}, "levels"),
    ("Ridge() table", {f"{COLUMN}/levels/tuple": ["x", "y"], f"{COLUMN}/share/tuple": [0.5, 0.5]}, "of the coding"),
    ("Ridge() table", {f"{COLUMN}/kind": "number"}, "columns of factors"),
    ("Ridge() table", {f"{CODING}/terms/tuple/0/Term/factors/tuple/0/TermFactor/full": True}, "factors of numbers"),
    ("Ridge() table", {f"{CODING}/terms/tuple/0/Term/factors/tuple": []}, "factors of terms"),
    ("Ridge() table", {f"{CODING}/offset": "f(a)"}, ""),
    ("Ridge() table", {f"{CODING}/unseen": "nothing"}, "unseen of Coding"),
    ("Ridge()", {"predict": 1}, "has no 'predict'"),
]


@pytest.mark.every
@pytest.mark.parametrize(
    ("name", "changes", "message"), MISFITS, ids=[f"{one[0]} {next(iter(one[1]))}" for one in MISFITS]
)
def test_what_does_not_fit_together_is_refused(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = FILES[name]()
    found = with_changes(file, changes)
    container.write(tmp_path / "m", found.head, found.tensors)
    with pytest.raises(ModelFileError, match=f"does not describe a fitted {name.split('(')[0]}: .*({message})"):
        load(tmp_path / "m")


@pytest.mark.parametrize("exponent", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**40])
def test_the_native_core_takes_any_exponent(exponent: float) -> None:
    first, second = (copy.deepcopy(LinearRegression().fit(X, Y)._sums) for _ in range(2))
    second.exponent[0] = exponent
    for a, b in ((first, second), (second, first)):
        a.merge(b)
        a.subtract(b)


WHOLE = (Notation(",", "%", ("x",)), Notation("%H:%M:%S", "", ("y",)))


@pytest.mark.parametrize(
    "notations",
    [
        WHOLE,
        (Notation("banana", "", ("x",)),),
        (Notation("%d banana", "", ("x",)),),
        (Notation(",", "", ("elsewhere",)),),
        (Notation(",", "", ("x",)), Notation(".", "%", ("x",))),
        (Notation(",", "", ("x", "x")),),
        (Notation(",", "\x1b[2J", ("x",)),),
        (Notation("%d.%m.%Y", "%", ("x",)),),
        (Notation(",", "", ()),),
    ],
)
def test_notations_that_no_file_has(notations: tuple[Notation, ...], tmp_path: Path) -> None:
    model = LinearRegression().fit(open_table({"x": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 2.0]}, target="y"))
    tree = encode({"a": replace(model.coding_, notations=notations)}, {})["a"]["Coding"]["notations"]
    save(model, tmp_path / "m")
    head, tensors = container.read(tmp_path / "m")
    head["state"]["columns"]["InputColumns"]["coding"]["Coding"]["notations"] = tree
    container.write(tmp_path / "m", {key: value for key, value in head.items() if key != "data"}, tensors)
    if notations == WHOLE:
        assert load(tmp_path / "m").coding_.notations == WHOLE
    else:
        with pytest.raises(ModelFileError, match="does not describe a fitted"):
            load(tmp_path / "m")


def text(kind: str, count: int) -> dict[str, Any]:
    """Return the tree of an array of texts, small in the file whatever its type says."""
    return {"array": {"dtype": kind, "shape": [count], "values": ["a"] * count}}


BOMBS = {
    "wide": (text("<U9999999", 20), "take too much room"),
    "many": ([text("<U100000", 20)] * 200, "take too much room"),
    "empty": ([text("<U9999999", 0)] * 200, "take too much room"),
    "deep": (reduce(lambda tree, _: [tree], range(DEEPEST + 1), 1), "inside each other"),
    "twice": ([{"json": "many"}] * 3, "is used twice"),
    "unused": (1, "tensors that nothing uses"),
}
"""Trees of state that are small as text, and huge as arrays; the last two go with a tensor."""


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    file, (tree, message) = FILES["Ridge()"](), BOMBS[name]
    more = {"many": np.frombuffer(b"[" + b"0," * 1999 + b"0]", np.uint8)} if name in ("twice", "unused") else {}
    head = {**file.head, "state": {**file.head["state"], "h": tree}}
    container.write(tmp_path / "m", head, {**file.tensors, **more})
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / "m")
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_many_levels_are_stored(tmp_path: Path) -> None:
    frame = pd.DataFrame({"kind": [f"level {i}" for i in range(1200)], "y": np.arange(1200.0)})
    model = LMS(rate=0.1, epochs=1).fit(open_table(frame, target="y", categories=["kind"]))
    save(model, tmp_path / "m")
    assert_equal(load(tmp_path / "m"), model)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("make", "y", "changes", "use", "message"),
    [
        (LinearRegression, Y, {"coef": 1e308}, lambda m: m.score(100 * X, Y), "the output of row 0 overflows float64"),
        (
            lambda: GeneralizedLinear(activation="tanh"),
            np.tanh(Y),
            {"coef": 1e308},
            lambda m: m.decision_function(100 * X),
            "overflows float64",
        ),
        (
            LinearRegression,
            Y,
            {"fits.0.factor.length": 5e-324},
            lambda m: m.summary(errors="HC0", X=X, y=Y),
            "no robust errors",
        ),
    ],
)
def test_predictions_beyond_the_range_have_no_score(
    make: Any, y: Any, changes: dict[str, float], use: Any, message: str, tmp_path: Path
) -> None:
    file = original("m", make, X, y)
    found = with_changes(file, {name: np.full(3, value) for name, value in changes.items()})
    container.write(tmp_path / "m", found.head, found.tensors)
    with pytest.raises(InvalidData, match=message):
        use(load(tmp_path / "m"))
