"""The playground's answers without a browser: systems, scenes, programs that give the same bits, bad input."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, Perceptron
from adaline.basis import BASES
from adaline.playground import traces
from adaline.playground.boards import GENERATORS, Recipe
from adaline.playground.code import as_python
from adaline.playground.forms import BASES_HERE, ModelSpec, fields_of, form_of, systems_by_task
from adaline.playground.instruments import ALONE, INSTRUMENTS
from adaline.playground.messages import LONGEST_MESSAGE, BadMessage, read_text
from adaline.playground.pictures import Window, picture
from adaline.playground.scenes import PAGE, scenes
from adaline.playground.session import Session
from adaline.playground.traces import fitted_to, moments, quiet, trace, weights_of
from adaline.systems import SYSTEMS, UNSUPERVISED

WINDOW = {"left": -4, "right": 4, "low": -3, "high": 3, "columns": 16, "rows": 12}
KINDS = {"classes": "gaussians", "numbers": "line", "clusters": "blobs"}
EVERY = [(task, name) for task, names in systems_by_task().items() for name in names]


def points_of(kind: str, count: int = 24, noise: float = 0.3, seed: int = 1) -> dict[str, Any]:
    board = Recipe(kind, count, noise, seed).board()
    return {"task": board.task, "points": board.points.tolist()}


def fit(session: Session, kind: str, model: dict[str, Any], **more: Any) -> dict[str, Any]:
    return session.answer({"id": 1, "type": "fit", **points_of(kind), "model": model, **more})


def run(code: str) -> dict[str, Any]:
    """Run a program of the page; return what it makes, by name."""
    space: dict[str, Any] = {}
    with quiet(), redirect_stdout(StringIO()):
        exec(code, space)
    return space


def state_of(model: Any) -> list[Any]:
    names = ("cluster_centers_", "means_", "covariances_", "thresholds_")
    if hasattr(model, "estimators_"):
        return [weights_of(one) for one in model.estimators_]
    return [weights_of(model), *(getattr(model, name, None) for name in names)]


@pytest.fixture
def few_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let traces have few moments on the way: what is asked of them is as true of these."""
    monkeypatch.setattr(traces, "SINGLE", 4)
    monkeypatch.setattr(traces, "STRIDES", 4)


def test_every_system_is_offered_for_one_task() -> None:
    assert sorted(name for _, name in EVERY) == sorted([*SYSTEMS, *UNSUPERVISED])


@pytest.mark.usefixtures("few_moments")
@pytest.mark.parametrize(("task", "name"), EVERY)
def test_a_program_gives_the_model_of_its_moment_to_the_bit(task: str, name: str) -> None:
    board = Recipe(KINDS[task], 24, 0.3, 1).board()
    found = trace(board, ModelSpec(name))
    for moment in {len(found) - 1, len(found) // 2}:
        if found.positions[moment] == 0 or (found.unit == "step" and moment < len(found) - 1):
            continue
        for ours, theirs in zip(
            state_of(found.model(moment)), state_of(run(as_python(found, moment))["model"]), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("settings", [{"mode": "batch"}, {"shuffle": True}, {"standardize": True}, {"rate": 0.5}])
def test_a_scan_step_by_step_ends_where_fit_ends(settings: dict[str, Any]) -> None:
    board = Recipe("separable", 30, 0.5, 2).board()
    found = trace(board, ModelSpec("Perceptron", settings))
    np.testing.assert_array_equal(weights_of(found.fitted), weights_of(Perceptron(**settings).fit(board.X, board.y)))
    assert found.unit == ("row" if settings == {"rate": 0.5} else "epoch")
    if found.unit == "row":
        scan = Perceptron(**settings)
        rows = np.arange(found.positions[-1]) % len(board.X)
        scan.partial_fit(board.X[rows], np.asarray(board.y)[rows], classes=["Class 1", "Class 2"])
        np.testing.assert_array_equal(weights_of(scan), weights_of(found.fitted))


def test_newton_passes_from_zero_through_falling_errors_to_the_fit() -> None:
    board = Recipe("gaussians", 80, 1.1, 3).board()
    found = trace(board, ModelSpec("LogisticRegression"))
    path = np.array(found.weights)
    t = np.where(board.points[:, 2] == 1, 1.0, -1.0)
    ones = np.column_stack([np.ones(len(t)), board.X])
    errors = [np.logaddexp(0, -t * (ones @ w)).sum() for w in path]
    assert not path[0].any()
    assert np.all(np.diff(errors) < 1e-9)
    expected = LogisticRegression().fit(board.X, board.y)
    np.testing.assert_array_equal(path[-1], [*expected.intercept_, *expected.coef_[0]])
    np.testing.assert_allclose(path[-2], path[-1], rtol=1e-9)


def test_a_first_newton_step_is_the_textbooks() -> None:
    """From zero weights, R = 1/4 and w = 4 (X'X)^-1 X' (t - 1/2), solved here by NumPy."""
    board = Recipe("gaussians", 60, 1.1, 5).board()
    ones = np.column_stack([np.ones(60), board.X])
    expected = np.linalg.lstsq(ones, 4 * (board.points[:, 2] - 0.5))[0]
    found = trace(board, ModelSpec("LogisticRegression")).weights
    assert found is not None
    np.testing.assert_allclose(found[1], expected, rtol=1e-10)


def test_gradient_steps_are_the_textbooks() -> None:
    board = Recipe("line", 20, 0.5, 1).board()
    settings = {"solver": "gradient", "rate": 0.004, "init": [2.5, -1.5], "epochs": 6}
    found = trace(board, ModelSpec("LinearRegression", settings)).weights
    assert found is not None
    w, ones = np.array([2.5, -1.5]), np.column_stack([np.ones(20), board.X])
    for step in range(5):
        np.testing.assert_allclose(found[step], w, rtol=1e-12)
        w = w + 0.004 * ones.T @ (board.y - ones @ w)


def test_moments_are_few_and_end_at_the_end() -> None:
    for count in (1, 5, 240, 241, 1000, 10**7):
        found = moments(count)
        assert found[0] == 0
        assert found[-1] == count
        assert len(found) <= 241
        assert np.all(np.diff(found) > 0)


def test_regions_are_what_the_model_predicts_there() -> None:
    from base64 import b64decode

    board = Recipe("three", 60, 0.4, 1).board()
    window = Window(-4, 4, -3, 3, 16, 12)
    found = trace(board, ModelSpec("LogisticRegression", {"penalty": 0.1}))
    drawn = picture(found, len(found) - 1, window)
    grid = np.array([[-4 + 0.5 * (c + 0.5), 3 - 0.5 * (r + 0.5)] for r in range(12) for c in range(16)])
    model = LogisticRegression(penalty=0.1).fit(board.X, board.y)
    assert [f"Class {k + 1}" for k in b64decode(drawn["regions"])] == model.predict(grid).tolist()
    sure = np.frombuffer(b64decode(drawn["sure"]), np.uint8)
    np.testing.assert_allclose(sure / 255, model.predict_proba(grid).max(axis=1), atol=0.003)
    assert drawn["wrong"] == np.flatnonzero(model.predict(board.X) != board.y).tolist()


def test_frames_of_every_task_are_json() -> None:
    session = Session()
    for kind, name in (("gaussians", "Perceptron"), ("line", "LinearRegression"), ("blobs", "GaussianMixture")):
        fitted = fit(session, kind, {"system": name})
        assert fitted["type"] == "fitted", fitted
        for moment in range(0, len(fitted["positions"]), 9):
            frame = session.answer({"id": 2, "type": "frame", "moment": moment, "window": WINDOW})
            assert frame["type"] == "frame"
            json.dumps([fitted, frame], allow_nan=False)


def test_fresh_points_are_of_the_same_kind_and_others() -> None:
    recipe = Recipe("gaussians", 50, 0.5, 1)
    own, fresh = recipe.board(), recipe.board(fresh=True)
    assert len(fresh.points) == 1000
    assert not np.isin(fresh.points[:, 0], own.points[:, 0]).all()
    answer = fit(Session(), "gaussians", {"system": "LeastSquaresClassifier"}, recipe=vars(recipe))
    assert answer["facts"]["fresh"] == answer["curve"]["fresh"][-1]


@pytest.mark.parametrize(("kind", "name"), [("blobs", "KMeans"), ("blobs", "GaussianMixture"), ("line", "LMS")])
def test_the_number_of_a_frame_is_that_of_the_curve(kind: str, name: str) -> None:
    session = Session()
    answer = fit(session, kind, {"system": name})
    last = len(answer["positions"]) - 1
    frame = session.answer({"id": 2, "type": "frame", "moment": last, "window": WINDOW})
    assert frame["error"] == pytest.approx(answer["curve"]["own"][last], rel=1e-8)


@pytest.mark.parametrize("kind", GENERATORS)
def test_generated_points_are_on_the_board_and_the_same_each_time(kind: str) -> None:
    one, again = (Recipe(kind, 40, 0.3, 5).board() for _ in range(2))
    np.testing.assert_array_equal(one.points, again.points)
    assert len(one.points) == 40
    assert np.abs(one.points[:, :2]).max() < 6


def test_points_that_were_dragged_are_judged_by_fresh_ones_of_their_kind() -> None:
    recipe = Recipe("line", 20, 0.5, 1)
    points = recipe.board().points.tolist()
    points[3] = [2.0, -2.5, 0]
    message = {"id": 1, "type": "fit", "task": "numbers", "points": points, "recipe": vars(recipe)}
    session = Session()
    answer = session.answer({**message, "model": {"system": "LinearRegression"}})
    fresh, model = recipe.board(fresh=True), session.traces[0].fitted  # type: ignore[union-attr]
    assert answer["facts"]["fresh"] == pytest.approx(np.sqrt(np.mean((model.predict(fresh.X) - fresh.y) ** 2)))
    assert "Recipe" not in session.answer({"id": 2, "type": "python", "moments": [0]})["code"]


def test_points_that_are_held_back_judge() -> None:
    points = Recipe("gaussians", 30, 0.9, 1).board().points
    held, rest = points[2::3], np.delete(points, np.s_[2::3], axis=0)
    message = {"id": 1, "type": "fit", "task": "classes", "points": rest.tolist(), "fresh": held.tolist()}
    session = Session()
    answer = session.answer({**message, "model": {"system": "LeastSquaresClassifier"}})
    model = session.traces[0].fitted  # type: ignore[union-attr]
    names = np.array(["Class 1", "Class 2"])[held[:, 2].astype(int)]
    assert answer["facts"]["fresh"] == np.mean(model.predict(held[:, :2]) != names)
    code = {"id": 2, "type": "python", "moments": [0], "instrument": {"name": "posterior"}}
    space = run(session.answer(code)["code"])
    assert space["chart"]["facts"] == session.answer({**message, **code["instrument"], "type": "instrument"})["facts"]


def test_a_program_has_the_fresh_points_of_clusters() -> None:
    board, session = Recipe("blobs", 12, 0.5, 1).board(), Session()
    points, fresh = board.points[:8].tolist(), board.points[8:].tolist()
    message = {"type": "fit", "task": "clusters", "points": points, "fresh": fresh}
    session.answer({**message, "model": {"system": "KMeans", "settings": {"n_clusters": 2}}})
    code = session.answer({"type": "python", "moments": [0], "instrument": {"name": "ridge"}})["code"]
    space = run(code[: code.index("chart = ")])  # which is about numbers
    np.testing.assert_array_equal(space["fresh"].points[:, :2], board.points[8:, :2])


# Names of classes


SPARSE = [[0, 0, 0], [1, 1, 2], [2, 0, 4]]
ONE, OVERLAPPING = [[0, 0, 3], [1, 1, 3]], Recipe("five", 30, 2.0, 1).board().points.tolist()
OTHERS = ["zebra", "10", "9", "Class 2", "ant"]  # in another order than that of the alphabet
LABEL = re.compile(r"\bclass,? '?[0-4]\b|The classes '?[0-4]|(?<!Class )\b[0-4]'? (?:<|against) |label '?[0-4]\b")


def words_of(system: str, points: list[Any], names: list[str] | None = None) -> list[str]:
    """Return all that is said of a fit to classes, and of their separability."""
    session, board = Session(), {"id": 1, "task": "classes", "points": points, "names": names}
    answer = session.answer({**board, "type": "fit", "model": {"system": system, "settings": {}}})
    proof = session.answer({**board, "type": "instrument", "name": "proof"})
    said = [answer["message"]] if answer["type"] == "error" else [answer["certificate"]["text"], *answer["notes"]]
    return [*said, str(proof.get("text") or proof["message"])]


@pytest.mark.usefixtures("few_moments")
@pytest.mark.parametrize("name", systems_by_task()["classes"])
def test_classes_have_the_names_that_the_page_shows(name: str) -> None:
    for points in (ONE, SPARSE, OVERLAPPING):
        assert [one for one in words_of(name, points) if LABEL.search(one)] == []


def test_classes_of_a_table_keep_their_names() -> None:
    assert "all points are of Class 2" in words_of("Perceptron", ONE, OTHERS)[0]
    assert "class '10' from the rest" in " ".join(words_of("Perceptron", OVERLAPPING, OTHERS))
    assert "Class 4" in words_of("Perceptron", ONE)[0]
    assert "alphabet" not in " ".join(words_of("OrdinalRegression", SPARSE, OTHERS))


@pytest.mark.usefixtures("few_moments")
@pytest.mark.parametrize("name", ["LogisticRegression", "Perceptron", "OneVsRest", "OrdinalRegression"])
def test_names_of_classes_do_not_change_what_is_drawn(name: str) -> None:
    """Regions and errors go by the index of a class, whatever it is called."""
    drawn = []
    for names in (None, OTHERS):
        session = Session()
        points = [[x, y, (0, 2, 4)[int(k)]] for x, y, k in Recipe("three", 30, 0.3, 1).board().points.tolist()]
        message = {"id": 1, "type": "fit", "task": "classes", "points": points, "names": names, "fresh": points}
        answer = session.answer({**message, "model": {"system": name}})
        frame = session.answer({"id": 2, "type": "frame", "moment": 10**6, "window": WINDOW})
        drawn.append([frame["regions"], frame["wrong"], answer["curve"]])
    assert drawn[0] == drawn[1]


@pytest.mark.usefixtures("few_moments")
def test_the_error_surface_has_the_signs_of_the_weights() -> None:
    board = {"task": "classes", "points": points_of("gaussians")["points"], "names": ["9", "10", "a", "b", "c"]}
    session = Session()
    session.answer({"id": 1, "type": "fit", **board, "model": {"system": "Adaline"}})
    weights = session.answer({"id": 2, "type": "frame", "moment": 10**6, "window": WINDOW})["weights"]
    centre = session.answer({"id": 3, "type": "instrument", **board, "name": "surface"})["centre"]
    np.testing.assert_allclose(weights[1:], centre, rtol=0.2)


def test_a_program_keeps_the_names_of_classes() -> None:
    board = {"task": "classes", "points": points_of("gaussians")["points"], "names": OTHERS}
    recipe = vars(Recipe("gaussians", 24, 0.3, 1))
    for more in ({}, {"recipe": recipe}, {"fresh": points_of("gaussians", seed=2)["points"]}):
        session = Session()
        session.answer({"id": 1, "type": "fit", **board, **more, "model": {"system": "LogisticRegression"}})
        chart = {"name": "growth"}
        space = run(session.answer({"id": 2, "type": "python", "moments": [10**6], "instrument": chart})["code"])
        assert sorted(space["model"].classes_) == ["10", "zebra"]
        assert (
            space["chart"]["facts"]
            == session.answer({"id": 3, "type": "instrument", **board, **more, **chart})["facts"]
        )


# Forms


@pytest.mark.parametrize("name", [*SYSTEMS, *UNSUPERVISED])
def test_forms_are_json_and_their_defaults_are_accepted(name: str) -> None:
    form = form_of(name)
    json.dumps(form, allow_nan=False)
    assert form["fields"] or form["inner"]
    for one in form["fields"]:
        assert one["help"], f"{name}.{one['name']} has no explanation"
        assert one["words"] or one["number"]
        if type(one["default"]) in (int, float):
            assert one.get("least") is None or one["least"] <= one["default"], one
            assert one.get("most") is None or one["default"] <= one["most"], one
    ModelSpec(name, {one["name"]: one["default"] for one in form["fields"]}).build()


def test_fields_of_numbers_have_units() -> None:
    texts = json.loads((PAGE / "texts.json").read_text(encoding="utf-8"))["page"]
    kinds = [*SYSTEMS.values(), *UNSUPERVISED.values(), *(BASES[name] for name in BASES_HERE)]
    numbers = {one["name"] for kind in kinds for one in fields_of(kind) if one.get("number")}
    assert {f"unit-of {name}" for name in numbers} == {key for key in texts if key.startswith("unit-of ")}


def test_texts_that_the_page_asks_for_are_there() -> None:
    texts = json.loads((PAGE / "texts.json").read_text(encoding="utf-8"))["page"]
    scripts = "".join(path.read_text(encoding="utf-8") for path in PAGE.iterdir() if path.name.endswith(".js"))
    asked = set(re.findall(r'\bt\("([^"]+)"', scripts))
    asked |= set(re.findall(r'data-(?:text|label)="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")))
    assert asked <= texts.keys()
    assert {f"kind {kind}" for kind in GENERATORS} <= texts.keys()
    assert {f"chart {name}" for name in INSTRUMENTS} <= texts.keys()


def test_bases_of_forms_are_there() -> None:
    assert set(BASES_HERE) <= set(BASES)
    assert set(form_of("Ridge")["bases"]) == set(BASES_HERE)
    assert form_of("KMeans")["bases"] == {}


# Bad input


BAD = [
    {},
    {"type": 5},
    {"type": "nonsense"},
    {"type": "fit"},
    {"type": "fit", "task": "classes", "points": "many", "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 0]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 0, 9]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, True, 1]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 10**400, 1]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 1e9, 1]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 0, 1]], "model": {"system": "Perceptron"}},
    {"type": "fit", "task": "classes", "points": [[0, 0, 1]] * 20_001, "model": {"system": "Perceptron"}},
    {"type": "fit", **points_of("gaussians"), "names": ["a", "a\0", "b", "c", "d"], "model": {"system": "Perceptron"}},
    {"type": "fit", **points_of("line"), "model": {"system": "os.system"}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"rate": -1}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"rate": "__import__('os')"}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"epochs": 10**9}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"nothing": 1}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"init": [[1], [2, 3]]}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "settings": {"init": list(range(100))}}},
    {"type": "fit", **points_of("line"), "model": {"system": "LMS", "basis": "Custom"}},
    {
        "type": "fit",
        **points_of("line"),
        "model": {"system": "LMS", "basis": "Radial", "basis_settings": {"centres": 10**6}},
    },
    {"type": "fit", **points_of("blobs"), "model": {"system": "KMeans", "basis": "Polynomial"}},
    {"type": "fit", **points_of("gaussians"), "model": {"system": "OneVsRest", "inner": "OneVsOne"}},
    {"type": "fit", **points_of("gaussians"), "model": {"system": "Perceptron", "inner": "Perceptron"}},
    {"type": "fit", **points_of("gaussians"), "model": {"system": "LinearRegression"}},
    {"type": "fit", **points_of("line"), "model": {"system": "Perceptron"}},
    {"type": "fit", **points_of("blobs"), "model": {"system": "Perceptron"}},
    {"type": "instrument", "name": "ridge", **points_of("gaussians")},
    {"type": "instrument", "name": "growth", **points_of("line")},
    {"type": "fit", **points_of("gaussians"), "names": "ab", "model": {"system": "Perceptron"}},
    {"type": "fit", **points_of("gaussians"), "names": ["a", "b"], "model": {"system": "Perceptron"}},
    {"type": "fit", **points_of("gaussians"), "names": ["a", "b", "c", "d", "a"], "model": {"system": "Perceptron"}},
    {"type": "frame", "moment": 0, "window": WINDOW},
    {"type": "frame", "slot": 7, "moment": 0, "window": WINDOW},
    {"type": "frame", "moment": 0, "window": {**WINDOW, "columns": 1000, "rows": 1000}},
    {"type": "frame", "moment": 0, "window": {**WINDOW, "left": 9}},
    {"type": "python", "moment": 0},
    {"type": "python", "moments": [0]},
    {"type": "python", "moments": [0, 0, 0]},
    {"type": "python", "moments": ["0"]},
    {"type": "python", "moments": [0], "instrument": {"name": "open"}},
    {"type": "fit", **points_of("line"), "fresh": "none", "model": {"system": "LMS"}},
    {"type": "fit", **points_of("line"), "fresh": [[1, 2]], "model": {"system": "LMS"}},
    {"type": "generate"},
    {"type": "generate", "recipe": {"kind": "gaussians", "count": 10**9, "noise": 0, "seed": 1}},
    {"type": "generate", "recipe": {"kind": "../x", "count": 10, "noise": 0, "seed": 1}},
    {"type": "instrument", "name": "open", **points_of("line")},
    {"type": "instrument", "name": "noise", **points_of("line"), "settings": {"taps": 1e9}},
    {"type": "instrument", "name": "projection", **points_of("line")},
    {"type": "form", "system": "Nothing"},
    {"type": "noise", **points_of("line"), "amount": -1, "seed": 1},
]


@pytest.mark.parametrize("message", BAD, ids=range(len(BAD)))
def test_a_bad_message_is_answered_in_words(message: dict[str, Any]) -> None:
    answer = Session().answer({"id": 3, **message})
    assert answer["type"] == "error"
    assert answer["id"] == 3
    assert len(answer["message"]) > 10
    assert "could not be computed" not in answer["message"]


@pytest.mark.parametrize(
    "text", ["", "[]", "NaN", '{"a": NaN}', "{", "[" * 100_000, " " * (LONGEST_MESSAGE + 1), b"\xff"]
)
def test_a_text_that_is_no_message_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadMessage):
        read_text(text)


def test_a_failed_fit_leaves_nothing_of_the_one_before_it() -> None:
    session = Session()
    assert fit(session, "gaussians", {"system": "Perceptron"})["type"] == "fitted"
    assert fit(session, "gaussians", {"system": "Perceptron", "settings": {"rate": 0}})["type"] == "error"
    assert session.answer({"id": 1, "type": "frame", "moment": 0, "window": WINDOW})["type"] == "error"


def test_a_brief_fit_is_the_end_of_the_whole_one() -> None:
    sessions = [Session(), Session()]
    answers = [
        fit(session, "gaussians", {"system": "Perceptron"}, window=window)
        for session, window in zip(sessions, (None, WINDOW), strict=True)
    ]
    assert len(answers[1]["positions"]) == 1 < len(answers[0]["positions"])
    for name in ("weights", "error", "mistakes", "status"):
        assert answers[0]["facts"][name] == answers[1]["facts"][name]
    last = sessions[0].answer({"id": 1, "type": "frame", "moment": len(answers[0]["positions"]) - 1, "window": WINDOW})
    assert answers[0]["frame"] is None
    for name in ("regions", "planes", "wrong", "error"):
        assert answers[1]["frame"][name] == last[name]


def test_a_fit_that_is_no_longer_wanted_is_given_up() -> None:
    session, asked = Session(), iter([True, True, False])
    message = {"id": 1, "type": "fit", **points_of("xor"), "model": {"system": "Pocket"}}
    assert session.answer(message, lambda: next(asked))["type"] == "skipped"
    assert session.answer({"id": 2, "type": "frame", "moment": 0, "window": WINDOW})["type"] == "error"


def test_a_full_board_is_fitted() -> None:
    session = Session()
    board = Recipe("gaussians", 20_000, 0.5, 1).board()
    message = {"id": 1, "type": "fit", "task": "classes", "points": board.points.tolist()}
    answer = session.answer({**message, "model": {"system": "LogisticRegression"}})
    assert answer["type"] == "fitted"
    assert session.answer({"id": 2, "type": "frame", "moment": 3, "window": WINDOW})["type"] == "frame"


# Scenes


def states(scene: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what holds at each step of a scene: all that it and the steps before it have set."""
    out: list[dict[str, Any]] = []
    for step in scene["steps"]:
        state = {**(out[-1] if out else {}), "question": None, **step}
        for one, other in (("recipe", "points"), ("points", "recipe")):
            if one in step:
                state.pop(other, None)
        out.append(state)
    return out


def board_of(state: dict[str, Any]) -> dict[str, Any]:
    if "recipe" in state:
        board = Recipe(**state["recipe"]).board()
        return {"task": board.task, "points": board.points.tolist(), "recipe": state["recipe"]}
    return {"task": state["task"], "points": state["points"]}


class Stage:
    """What has been computed of a scene, so that steps that share a board or a model take up what is known."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[dict[str, Any], Any]] = {}

    def facts(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the facts of a step, by who knows them."""
        return {name: self.of(state, name)[0] for name in ("model", "rival", "instrument") if state.get(name)}

    def of(self, state: dict[str, Any], name: str) -> tuple[dict[str, Any], Any]:
        """Return the facts of a model or an instrument of a step, and its trace."""
        board = board_of(state)
        key = json.dumps([state[name], board])
        if key not in self.known:
            message = {"type": "fit", "model": state[name]} if name != "instrument" else state[name]
            session = Session()
            answer = session.answer({"id": 1, "type": "instrument", **board, **message})
            assert answer["type"] in ("fitted", "instrument"), answer
            json.dumps(answer, allow_nan=False)
            self.known[key] = answer["facts"], session.traces[0]
        return self.known[key]


@pytest.mark.usefixtures("few_moments")
@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene["id"])
def test_a_scene_runs_its_questions_can_be_answered_and_it_is_carried_away(scene: dict[str, Any]) -> None:
    stage = Stage()
    for state in states(scene):
        facts, question = stage.facts(state), state["question"]
        if question is None or "value" in question:
            continue
        if question["kind"] == "choice":
            assert 0 <= question["answer"] < len(state["options"])
            continue
        value = facts[question["of"]].get(question["fact"])
        if question["kind"] == "number":
            assert value is not None
        else:
            assert not is_done(question, value), "what is to be done is done already"
    most = max(states(scene), key=lambda one: bool(one.get("rival")) + bool(one.get("instrument")))
    check_program(stage, most)


def check_program(stage: Stage, state: dict[str, Any]) -> None:
    """The program of a step, with all that is shown beside the board, gives the same models and the same chart."""
    session, chart = Session(), state.get("instrument")
    names = [name for name in ("model", "rival") if state.get(name)]
    for slot, name in enumerate(names):
        session.traces[slot] = stage.of(state, name)[1]
    moments = [10**6] * len(names)
    answer = session.answer({"id": 2, "type": "python", "moments": moments, "instrument": chart})
    assert len(answer["code"].splitlines()) < 30
    made = run(answer["code"])
    if chart and chart["name"] in ALONE:
        assert ("model" if chart["name"] == "noise" else "chart") in made
        return
    for slot, name in enumerate(names):
        fitted = session.traces[slot].fitted  # type: ignore[union-attr]
        for ours, theirs in zip(state_of(fitted), state_of(made[name]), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    if chart:
        shown = stage.of(state, "instrument")[0]
        if chart["name"] == "proof":
            assert made["proof"].separable == shown["separable"]
        else:
            assert made["chart"]["facts"] == shown


def is_done(question: dict[str, Any], value: Any) -> bool:
    if "is" in question:
        return bool(value == question["is"])
    return bool(value > question["above"] if "above" in question else value < question["below"])


TASKS = {
    "ridge-2": {"model.settings.penalty": 0.1},
    "descent-2": {"model.settings.rate": 0.05},
    "lms-2": {"model.settings.rate": 1.5},
    "noise-2": {"instrument.settings.rate": 0.01},
    "gaussian-2": {"model.settings.covariance": "full"},
    "perceptron-3": {"recipe.noise": 0.9},
    "squares-3": {"model.settings.threshold": 0.2},
    "separability-2": {"recipe.kind": "xor"},  # as by dragging points
    "fisher-2": {"instrument.settings.angle": 129},
    "em-3": {"model.settings.n_components": 4},
    "xor-2": {"model.basis": "Polynomial"},
    "square-wave-2": {"model.basis_settings.terms": 12},
    "growth-2": {"model.settings.penalty": 1.0},
}
"""A way to do what each step asks to be done: its controls, by target."""


@pytest.mark.usefixtures("few_moments")
def test_what_scenes_ask_to_be_done_can_be_done() -> None:
    asked = {
        f"{scene['id']}-{k + 1}": state
        for scene in scenes()
        for k, state in enumerate(states(scene))
        if state["question"] and state["question"]["kind"] == "task"
    }
    assert asked.keys() == TASKS.keys()
    for name, given in asked.items():
        state = json.loads(json.dumps(given))
        for target, value in TASKS[name].items():
            *way, last = target.split(".")
            place = state
            for part in way:
                place = place.setdefault(part, {})
            place[last] = value
        question = state["question"]
        facts, _ = Stage().of(state, question["of"])
        assert is_done(question, facts[question["fact"]]), name


def test_scenes_have_what_the_page_and_others_read() -> None:
    found = scenes()
    assert len({one["id"] for one in found}) == len(found) >= 20
    for scene in found:
        assert {"id", "lecture", "title", "steps"} <= scene.keys()
        assert 3 <= len(scene["steps"]) <= 6
        assert any("question" in step for step in scene["steps"]), scene["id"]
        assert any("try" in step for step in scene["steps"]), scene["id"]
        assert scene["steps"][0]["formula"], scene["id"]
        for step in scene["steps"]:
            assert step["say"]
            assert (step.get("question", {}).get("kind") == "choice") <= ("wrong" in step or "right" in step)
            assert ("ask" in step) == ("question" in step)
            assert ("options" in step) == (step.get("question", {}).get("kind") == "choice")


def test_the_pocket_of_its_scene_never_gets_worse() -> None:
    scene = next(one for one in scenes() if one["id"] == "pocket")
    state = states(scene)[1]
    answer = Session().answer({"id": 1, "type": "fit", **board_of(state), "model": state["rival"]})
    own = [one for one in answer["curve"]["own"] if one is not None]
    assert np.all(np.diff(own) <= 0)
    assert own[-1] < own[0]


def test_lectures_all_have_scenes() -> None:
    assert {one["lecture"] for one in scenes()} == {"S0", "S1", "S2", "S3", "S4"}


# Instruments against formulas


def test_fishers_direction_is_the_peak_of_his_criterion() -> None:
    board = Recipe("stretched", 100, 0.4, 4).board()
    found = INSTRUMENTS["projection"](board, None, {"angle": 10})
    peak = found["x"][int(np.argmax(found["lines"][0]["y"]))]
    assert abs(peak - found["facts"]["best"]) <= 1


def test_combinations_of_a_proof_meet() -> None:
    board = Recipe("xor", 16, 0.2, 2).board()
    found = INSTRUMENTS["proof"](board, None, {})
    for label in (0, 1):
        parts = [(one["share"], one["row"]) for one in found["combination"] if board.points[one["row"], 2] == label]
        assert sum(share for share, _ in parts) == pytest.approx(1)
        mean = sum(share * board.X[row] for share, row in parts)
        np.testing.assert_allclose(mean, found["meeting"], atol=1e-7)


def test_the_error_surface_is_the_sum_of_squares() -> None:
    board = Recipe("line", 20, 0.5, 1).board()
    found = INSTRUMENTS["surface"](board, None, {})
    w = np.array([0.3, -1.2])
    direct = float(((board.y - w[0] - w[1] * board.X[:, 0]) ** 2).sum())
    away = w - found["centre"]
    assert away @ np.array(found["curvature"]) @ away + found["least"] == pytest.approx(direct, rel=1e-8)


def test_fits_of_the_page_are_those_of_the_package() -> None:
    board = Recipe("gaussians", 40, 0.9, 2).board()
    with quiet():
        direct = fitted_to(board, LogisticRegression(penalty=0.5))
    answer = Session().answer(
        {
            "id": 1,
            "type": "fit",
            "task": "classes",
            "points": board.points.tolist(),
            "model": {"system": "LogisticRegression", "settings": {"penalty": 0.5}},
        }
    )
    np.testing.assert_allclose(answer["facts"]["weights"], weights_of(direct), rtol=1e-8)
    assert answer["certificate"]["status"] == direct.certificate_.status.label
