"""Arrays of any size, type and scale, given to the methods of every registered system."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import is_classifier

from adaline.errors import AdalineError
from adaline.results import Status
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.fuzz.targets import Random, is_sound, target

EXAMPLES = settings(
    max_examples=5,  # a case
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SCALES = (1.0, 1e-320, 1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300)

numbers = st.one_of(
    st.floats(-10, 10, width=32), st.floats(-10, 10), st.sampled_from([0.0, -0.0, 1.0, 1e308, 5e-324, np.inf, np.nan])
)
systems = st.sampled_from([*SYSTEMS.values(), *UNSUPERVISED.values()])


@st.composite
def rows(draw: st.DrawFn) -> Any:
    """Return rows (n, D): dense of some type and layout, or sparse; well-behaved more often than not."""
    n, d = draw(st.integers(1, 24)), draw(st.integers(1, 5))
    if draw(st.booleans()):
        x = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, d))
    else:
        x = draw(hnp.arrays(np.float64, (n, d), elements=numbers))
    with np.errstate(all="ignore"):
        x = x * np.array([draw(st.sampled_from(SCALES)) for _ in range(d)] if draw(st.booleans()) else [1.0] * d)
        match draw(st.integers(0, 7)):
            case 0:
                return x.astype(np.float32)
            case 1:
                return np.asfortranarray(x)
            case 2:
                return np.repeat(x, 2, axis=0)[::2][::-1]
            case 3:
                return sparse.csr_array(x)
            case 4:
                return np.nan_to_num(x, posinf=9, neginf=-9).clip(-120, 120).astype(np.int8)
            case 5:
                return x.tolist()
    return x


@st.composite
def targets(draw: st.DrawFn, n: int, labels: bool) -> Any:
    """Return targets or labels, (n,)."""
    if labels:
        classes = draw(st.sampled_from([[0, 1], ["no", "yes"], [0, 1, 2], [1.0, 2.0], [True, False], [0], [2**63, 1]]))
        return np.array([classes[i] for i in draw(st.lists(st.integers(0, len(classes) - 1), min_size=n, max_size=n))])
    if draw(st.booleans()):
        return np.random.default_rng(draw(st.integers(0, 99))).normal(size=n) * draw(st.sampled_from(SCALES))
    return draw(hnp.arrays(np.float64, n, elements=numbers))


def assert_honest(model: Any) -> None:
    """Assert that a fit that is called solved consists of finite numbers."""
    if model.certificate_.status is Status.SOLVED:
        for name in ("coef_", "intercept_", "cluster_centers_", "means_", "weights_"):
            assert np.isfinite(np.asarray(getattr(model, name, 0.0))).all(), f"solved, but {name} is not finite"


def use(model: Any, x: Any, y: Any) -> None:
    """Call the methods of a fitted model: each returns finite numbers, or refuses."""
    for name in ("predict", "decision_function", "predict_proba", "transform", "score_samples"):
        if hasattr(model, name):
            try:
                out = getattr(model, name)(x)
            except AdalineError:
                continue
            assert is_sound(model, out), f"{name} is not finite"
    for name, given_rows in (("summary", ()), ("score", (x, y)), ("partial_fit", (x, y)), ("forget", (x, y))):
        if hasattr(model, name):
            with contextlib.suppress(AdalineError):
                str(getattr(model, name)(*given_rows))


def attack(data: st.DataObject, system: type[Any], x: Any) -> None:
    """Fit a system and use it."""
    model = system()
    n = x.shape[0] if hasattr(x, "shape") else len(x)
    y = data.draw(targets(n, is_classifier(model)))
    weight = data.draw(st.none() | hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 2.5, 1e-320, 1e300])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(x, *(() if system in UNSUPERVISED.values() else (y,)), sample_weight=weight)
        except AdalineError:
            return
        assert_honest(model)
        use(model, x, y)


@target
def inputs(rng: Random, folder: Path) -> None:
    """Some examples of hypothesis, from one seed."""
    examples = given(data=st.data(), system=systems, x=rows())(lambda data, system, x: attack(data, system, x))
    hypothesis.seed(int(rng.integers(2**62)))(EXAMPLES(examples))()
