"""What the lectures say of perceptrons, pocket and Kesler's construction; values computed outside this project."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as ScikitLearns

from adaline import KeslerPerceptron, Perceptron, Pocket, Status, open_table
from adaline.arrays import Array
from adaline.block import Shape
from adaline.scans import PerceptronRule as Rule
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_module

inseparable = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def separable(seed: int, n: int = 40, d: int = 3) -> tuple[Array, NDArray[np.intp]]:
    """Rows on both sides of a random plane, none too near it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10.0, d)
    z = (X - X.mean(axis=0)) @ rng.normal(size=d)
    keep = np.abs(z) > 0.05 * np.abs(z).max()
    return X[keep], (z[keep] > 0).astype(np.intp)


@pytest.mark.parametrize("seed", range(40))
def test_mistakes_never_exceed_the_bound(seed: int) -> None:
    """S1, S2: at most R^2/M^2 corrections, M the margin of the plane that is found, each by the textbook's rule."""
    X, y = separable(seed)
    if len(np.unique(y)) < 2:
        pytest.skip("all rows on one side")
    model = Perceptron(epochs=100_000).fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    assert model.history_[-1] == 0
    assert model.mistakes_ == sum(model.history_) <= model.bound_ < np.inf
    assert model.bound_ == pytest.approx((model.radius_ / model.margin_) ** 2)
    rows, t = np.column_stack([np.ones(len(y)), X]), 2 * y - 1
    found = np.concatenate([model.intercept_, model.coef_[0]])
    assert model.radius_ == pytest.approx(np.linalg.norm(rows, axis=1).max())
    assert model.margin_ == pytest.approx((t * (rows @ found)).min() / np.linalg.norm(found), rel=1e-9)
    assert model.score(X, y) == 1.0
    if seed < 5:
        theirs = ScikitLearns(shuffle=False, tol=None, max_iter=model.n_iter_, alpha=0.0).fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-10)
        w = np.zeros(1 + X.shape[1])
        for x, s in list(zip(rows, t, strict=True)) * model.n_iter_:
            w = w + s * x * (s * (w @ x) <= 0)
        np.testing.assert_allclose(found, w, rtol=1e-9)


def test_iris_in_whole_numbers() -> None:
    """Reference: adaptive.json, perceptron_iris_setosa_versicolor, exact arithmetic; rows in tenths of a centimetre."""
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(np.rint(10 * X[:100]), y[:100])
    assert model.coef_[0].tolist() == [-13.0, -41.0, 52.0, 22.0]
    assert model.intercept_.tolist() == [-1.0]
    assert (model.mistakes_, model.history_) == (5, [2.0, 2.0, 1.0, 0.0])
    rest = Perceptron().fit(np.rint(10 * X), y == 0)
    assert rest.coef_[0].tolist() == [13.0, 41.0, -52.0, -22.0]
    assert (rest.intercept_[0], rest.mistakes_, rest.n_iter_) == (1.0, 5, 4)


def test_rate_and_reading_of_the_targets_change_nothing_but_the_length() -> None:
    """{0, 1} and {-1, +1} agree: with t in {0, 1} the rule adds (t - y) x, half the step of -1 and +1 (S4)."""
    X, y = separable(3)
    one, half = Perceptron().fit(X, y), Perceptron(rate=0.5).fit(X, 2 * y - 1)
    np.testing.assert_array_equal(2 * half.coef_, one.coef_)
    assert half.mistakes_ == one.mistakes_
    assert one.classes_.tolist() == [0, 1]
    assert ((one.decision_function(X) > 0) == (y == 1)).all()
    np.testing.assert_array_equal(Perceptron().fit(X, np.array(["b", "a"])[y]).coef_, -one.coef_)


def test_the_length_of_w_grows_no_faster_than_the_square_root_and_its_part_along_a_solution_linearly() -> None:
    """S1, the two halves of the convergence theorem."""
    X, y = separable(7)
    rows, t = np.column_stack([np.ones(len(y)), X]), 2.0 * y - 1
    solution = Perceptron(epochs=100_000).fit(X, y)
    u = np.concatenate([solution.intercept_, solution.coef_[0]])
    u /= np.linalg.norm(u)
    margin, radius = (t * (rows @ u)).min(), np.linalg.norm(rows, axis=1).max()
    scan = Rule.start(Shape(X.shape[1], 1))
    for x, s in itertools.islice(itertools.cycle(list(zip(X, t, strict=True))), 5 * len(y)):
        scan.learn(x, s)
        n, w = scan.tally.updates, scan.theta[0]
        assert np.linalg.norm(w) <= np.sqrt(n) * radius * (1 + 1e-12)
        assert w @ u >= n * margin * (1 - 1e-9) - 1e-9


@inseparable
def test_on_inseparable_rows_it_wobbles_for_ever_and_says_so() -> None:
    """S2, S4: the total error is not monotone, and no epoch is clean."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="no plane separates the classes"):
        model = Perceptron(epochs=50).fit(X, [0, 1, 1, 0])
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert "Pocket" in model.certificate_.advice
    assert model.bound_ == np.inf
    assert np.isnan(model.margin_)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200) > 0
    history = Perceptron(epochs=50).fit(X, y).history_
    assert any(b > a for a, b in itertools.pairwise(history))


def test_start_and_order_change_the_solution_but_not_the_answer() -> None:
    """S2: not unique, depends on initialisation and on the order of rows."""
    X, y = separable(11)
    started, shuffled = {"init": "random", "random_state": 1}, {"shuffle": True, "random_state": 1}
    plain, *others, again = (
        Perceptron(epochs=10_000, **one).fit(X, y)
        for one in ({}, started, shuffled, {"init": np.arange(4.0)}, shuffled)
    )
    for other in others:
        assert not np.array_equal(other.coef_, plain.coef_)
        assert other.score(X, y) == 1.0
    assert others[0].bound_ == np.inf  # the theorem is about a start from zero
    np.testing.assert_array_equal(again.coef_, others[1].coef_)


@inseparable
def test_the_batch_rule_adds_up_the_wrong_rows() -> None:
    X, y = separable(5)
    rows, t = np.column_stack([np.ones(len(y)), X]), 2.0 * y - 1
    for intercept in (True, False):
        w = np.zeros(4)
        for epochs in (1, 2, 3):
            wrong = t * (rows @ w) <= 0
            w = w + 0.1 * (t[wrong] @ rows[wrong]) * [intercept, 1, 1, 1]
            model = Perceptron(mode="batch", rate=0.1, epochs=epochs, tol=0.0, fit_intercept=intercept).fit(X, y)
            np.testing.assert_allclose(np.concatenate([model.intercept_, model.coef_[0]]), w, rtol=1e-12)
    with pytest.warns(ConvergenceWarning):
        Perceptron(mode="batch", rate=0.1, epochs=3, tol=0.0).fit(X, y)
    done = Perceptron(mode="batch", epochs=100_000).fit(X, y)
    assert done.score(X, y) == 1.0
    assert done.history_[-1] == 0
    assert done.certificate_.objective == 0.0


@inseparable
def test_many_classes_are_one_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = np.array([[0.0, 4.0], [4.0, -3.0], [-4.0, -3.0]])[y] + 0.4 * rng.normal(size=(90, 2))
    model = Perceptron().fit(X, y)
    assert model.coef_.shape == (3, 2)
    assert model.mistakes_ <= model.bound_ < np.inf
    for k in range(3):
        alone = Rule.start(Shape(2, 1))
        for x, t in list(zip(X, np.where(y == k, 1.0, -1.0), strict=True)) * model.n_iter_:
            alone.learn(x, t)
        np.testing.assert_array_equal(alone.theta[0, 1:], model.coef_[k])


@inseparable
def test_the_pocket_never_gets_worse_and_ends_at_the_optimum() -> None:
    """S2, with the optimum of small sets known by trying every plane; with probability 1, but not in a given time."""
    reached = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(11, 2))
        y = (X[:, 0] + 1.2 * rng.normal(size=11) > 0).astype(int)
        model = Pocket(epochs=1000, random_state=seed).fit(X, y)
        assert all(b <= a for a, b in itertools.pairwise(model.history_))
        assert model.history_[-1] == (model.predict(X) != y).sum() == model.certificate_.gap
        least = fewest(X, y)
        assert least <= model.history_[-1] <= least + 1
        reached += model.history_[-1] == least
    assert reached >= 3
    X, y = separable(3)
    model = Pocket(epochs=10_000).fit(X, y)
    assert model.errors_ == [0.0]
    assert model.n_iter_ == len(model.history_) < 10_000


@inseparable
@pytest.mark.parametrize(("classes", "weighted"), [(2, False), (3, False), (2, True)])
def test_more_epochs_of_the_pocket_never_end_with_more_errors(classes: int, weighted: bool) -> None:
    """A shorter fit is the beginning of a longer one, and no perceptron on the same draws is better after an epoch."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 8))
        y = np.digitize(X[:, 0] + rng.normal(size=40), [-0.5, 0.5][: classes - 1])
        weight = rng.integers(0, 4, size=40).astype(float) if weighted else np.ones(40)
        fits = [Pocket(epochs=k, random_state=seed).fit(X, y, weight if weighted else None) for k in range(1, 7)]
        assert all((b.errors_ <= a.errors_).all() for a, b in itertools.pairwise(fits))
        assert all(one.history_ == fits[-1].history_[: len(one.history_)] for one in fits)
        if classes > 2 or weighted:
            continue
        draw, w = np.random.default_rng(seed), np.zeros(9)
        rows, t = np.column_stack([np.ones(40), X]), 2.0 * y - 1
        for errors in fits[-1].history_:
            for i in draw.integers(40, size=40):
                w += t[i] * rows[i] * (t[i] * (w @ rows[i]) <= 0)
            assert errors <= (t * (rows @ w) <= 0).sum()


@inseparable
def test_more_epochs_over_a_stream_never_end_with_more_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that an epoch ended with are counted while the next one reads."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 16)
    for seed in (0, 13):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(40, 8)), columns=list("abcdefgh"))
        frame["y"] = (frame["a"] + rng.normal(size=40) > 0).astype(int)
        frame.to_csv(tmp_path / "rows.csv", index=False)
        table = open_table(tmp_path / "rows.csv", target="y")
        fits = [Pocket(epochs=k, random_state=seed).fit(table) for k in (1, 2, 3, 4)]
        assert all((b.errors_ <= a.errors_).all() for a, b in itertools.pairwise(fits))
        for one in fits:
            assert one.history_[-1] == (one.predict(frame.drop(columns="y")) != frame["y"]).sum()


def fewest(X: Array, y: Any) -> int:
    """Fewest errors of a plane: those through two rows, moved a little to either side of each of them."""
    t, best = 2.0 * y - 1, min((y == 0).sum(), (y == 1).sum())
    for i, j in itertools.combinations(range(len(y)), 2):
        normal = np.array([X[i, 1] - X[j, 1], X[j, 0] - X[i, 0]])
        z = X @ normal - X[i] @ normal
        z[[i, j]] = 0.0  # a turn about a point between the two puts each on the side it wants, one at least
        best = min(best, *((sign * t * z < -1e-12).sum() for sign in (1.0, -1.0)))
    return int(best)


@pytest.mark.parametrize("seed", range(8))
def test_kesler_converges_where_a_solution_exists(seed: int) -> None:
    """S2: all rows can be got right by the largest of K outputs; one against the rest cannot always do it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 2))
    z = np.column_stack([np.ones(len(X)), X]) @ rng.normal(size=(4, 3)).T
    keep = np.diff(np.sort(z, axis=1))[:, -1] > 0.1
    X, y = X[keep], z.argmax(axis=1)[keep]
    model = KeslerPerceptron(epochs=20_000).fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    assert model.score(X, y) == 1.0
    assert model.mistakes_ >= sum(model.history_)


def test_kesler_of_two_classes_is_a_perceptron() -> None:
    X, y = separable(2)
    kesler, plain = KeslerPerceptron(epochs=10_000).fit(X, y), Perceptron(epochs=10_000).fit(X, y)
    assert kesler.coef_.shape == (1, 3)
    np.testing.assert_allclose(kesler.coef_, 2 * plain.coef_, rtol=1e-9)
    np.testing.assert_array_equal(kesler.predict(X), plain.predict(X))


def test_the_margin_is_known_where_squares_of_weights_overflow() -> None:
    X, _ = separable(0)
    y = (X @ [1.0, 2.0, 0.5] > 0).astype(np.intp)
    plain = Perceptron(fit_intercept=False).fit(X, y)
    large = Perceptron(fit_intercept=False, rate=2.0**120).fit(np.ldexp(X, 400), y)
    assert plain.certificate_.status is Status.SOLVED
    assert large.margin_ == pytest.approx(np.ldexp(plain.margin_, 400))
    assert large.bound_ == pytest.approx(plain.bound_)


def test_separability_of_many_classes_by_many_columns_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*given: Any) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("adaline.fits.separation.separating_weights", searched)
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        Perceptron(epochs=2).fit(rng.normal(size=(200, 29)), np.arange(200) % 16)
    with pytest.raises(AssertionError, match="searched"):
        Perceptron(epochs=2).fit(rng.normal(size=(200, 4)), np.arange(200) % 3)
