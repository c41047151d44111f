"""The playground's answers without a browser: systems, scenes, programs that give the same bits, bad input."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, Perceptron
from adaline.basis import BASES
from adaline.playground import traces
from adaline.playground.boards import GENERATORS, Recipe, check_points
from adaline.playground.code import as_program
from adaline.playground.forms import BASES_HERE, ModelSpec, form_fields, form_of, systems_by_task
from adaline.playground.instruments import ALONE, INSTRUMENTS, _sound
from adaline.playground.messages import LONGEST_MESSAGE, BadMessage, message_object
from adaline.playground.pictures import Window, picture
from adaline.playground.scenes import PAGE, scenes
from adaline.playground.session import Session
from adaline.playground.traces import _by_newton, fitted_to, kept_moments, quiet, shown_weights, thinned, trace
from adaline.systems import SYSTEMS, UNSUPERVISED

WINDOW = {"left": -4, "right": 4, "low": -3, "high": 3, "columns": 16, "rows": 12}
LAST = {"id": 2, "type": "frame", "moment": 10**6, "window": WINDOW}
KINDS = {"classes": "gaussians", "numbers": "line", "clusters": "blobs"}
EVERY = [(task, name) for task, names in systems_by_task().items() for name in names]


def points_of(kind: str, count: int = 24, noise: float = 0.3, seed: int = 1) -> dict[str, Any]:
    board = Recipe(kind, count, noise, seed).board()
    return {"task": board.task, "points": board.points.tolist()}


def fit(session: Session, kind: str, system: str, settings: Any = None, **more: Any) -> dict[str, Any]:
    model = {"system": system, "settings": settings or {}}
    return session.answer({"id": 1, "type": "fit", **points_of(kind), "model": model, **more})


def run(code: str) -> dict[str, Any]:
    """Run a program of the page; return what it makes, by name."""
    space: dict[str, Any] = {}
    with quiet(), redirect_stdout(StringIO()):
        exec(code, space)
    return space


def program(session: Session, moments: list[int], chart: dict[str, Any] | None = None) -> str:
    return str(session.answer({"id": 2, "type": "python", "moments": moments, "instrument": chart})["code"])


def state_of(model: Any) -> list[Any]:
    names = ("cluster_centers_", "means_", "covariances_", "thresholds_")
    if hasattr(model, "estimators_"):
        return [shown_weights(one) for one in model.estimators_]
    return [shown_weights(model), *(getattr(model, name, None) for name in names)]


def assert_same(ours: Any, theirs: Any) -> None:
    for one, other in zip(state_of(ours), state_of(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def few_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let traces have few moments on the way: what is asked of them is as true of these."""
    monkeypatch.setattr(traces, "SINGLE_ROWS", 4)
    monkeypatch.setattr(traces, "STRIDES", 4)


# -- traces ----------------------------------------------------------------------------------------------------------


def test_every_system_is_offered_for_one_task() -> None:
    assert sorted(name for _, name in EVERY) == sorted([*SYSTEMS, *UNSUPERVISED])


@pytest.mark.usefixtures("few_moments")
@pytest.mark.parametrize(("task", "name"), EVERY)
def test_a_program_gives_the_model_of_its_moment_to_the_bit(task: str, name: str) -> None:
    found = trace(Recipe(KINDS[task], 24, 0.3, 1).board(), ModelSpec(name))
    for moment in {len(found) - 1, len(found) // 2}:
        if found.positions[moment] and (found.unit != "step" or moment == len(found) - 1):
            assert_same(found.model(moment), run(as_program(found, moment))["model"])


@pytest.mark.parametrize("settings", [{"mode": "batch"}, {"shuffle": True}, {"standardize": True}, {"rate": 0.5}])
def test_a_scan_step_by_step_ends_where_fit_ends(settings: dict[str, Any]) -> None:
    board = Recipe("separable", 30, 0.5, 2).board()
    found = trace(board, ModelSpec("Perceptron", settings))
    assert_same(found.fitted, Perceptron(**settings).fit(board.X, board.y))
    assert found.unit == ("row" if settings == {"rate": 0.5} else "epoch")
    if found.unit == "row":
        scan = Perceptron(**settings)
        for moment in range(1, len(found)):
            rows = np.arange(found.positions[moment - 1], found.positions[moment]) % len(board.X)
            scan.partial_fit(board.X[rows], np.asarray(board.y)[rows], classes=["Class 1", "Class 2"])
            assert_same(scan, found.model(moment))


def test_newton_passes_from_zero_by_the_textbooks_step_through_falling_errors_to_the_fit() -> None:
    """From zero weights, R = 1/4 and w = 4 (X'X)^-1 X' (t - 1/2), solved here by NumPy."""
    board = Recipe("gaussians", 80, 1.1, 3).board()
    path = np.array(trace(board, ModelSpec("LogisticRegression")).weights)
    ones, t = np.column_stack([np.ones(80), board.X]), board.points[:, 2]
    errors = [np.logaddexp(0, (1 - 2 * t) * (ones @ w)).sum() for w in path]
    assert not path[0].any()
    np.testing.assert_allclose(path[1], np.linalg.lstsq(ones, 4 * (t - 0.5))[0], rtol=1e-10)
    assert np.all(np.diff(errors) < 1e-9)
    np.testing.assert_array_equal(path[-1], shown_weights(LogisticRegression().fit(board.X, board.y)))
    np.testing.assert_allclose(path[-2], path[-1], rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"solver": "lbfgs"}, {"scheme": "one-vs-rest"}, {"class_weight": "balanced"}, {"l1": 1.0}, {"firth": True}],
)
def test_what_newtons_method_does_not_solve_is_not_shown_as_its_steps(settings: dict[str, Any]) -> None:
    assert _by_newton(LogisticRegression())
    assert not _by_newton(LogisticRegression(**settings))


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
        found = kept_moments(count)
        assert (found[0], found[-1], len(found) <= 241) == (0, count, True)
        assert np.all(np.diff(found) > 0)
    assert (kept_moments(240), kept_moments(5, 1)) == (list(range(241)), [1, 2, 3, 4, 5])
    assert thinned(list(range(11)), 10**7 // 55) == list(range(11))
    assert thinned(list(range(12)), 10**7 // 55) == [0, 2, 4, 6, 8, 10, 11]


# -- pictures --------------------------------------------------------------------------------------------------------


def test_regions_are_what_the_model_predicts_there() -> None:
    board = Recipe("three", 60, 0.4, 1).board()
    found = trace(board, ModelSpec("LogisticRegression", {"penalty": 0.1}))
    drawn = picture(found, len(found) - 1, Window(-4, 4, -3, 3, 16, 12))
    grid = np.array([[-4 + 0.5 * (c + 0.5), 3 - 0.5 * (r + 0.5)] for r in range(12) for c in range(16)])
    model = LogisticRegression(penalty=0.1).fit(board.X, board.y)
    assert [f"Class {k + 1}" for k in b64decode(drawn["regions"])] == model.predict(grid).tolist()
    sure = np.frombuffer(b64decode(drawn["sure"]), np.uint8)
    np.testing.assert_allclose(sure / 255, model.predict_proba(grid).max(axis=1), atol=0.003)
    assert drawn["wrong"] == np.flatnonzero(model.predict(board.X) != board.y).tolist()


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("blobs", name) for name in UNSUPERVISED), ("line", "LMS"), ("line", "Ridge"), ("gaussians", "Perceptron")],
)
def test_frames_are_json_and_their_number_is_that_of_the_curve(kind: str, name: str) -> None:
    session = Session()
    fitted = fit(session, kind, name)
    last = len(fitted["positions"]) - 1
    for moment in {*range(0, last, 9), last}:
        frame = session.answer({**LAST, "moment": moment})
        json.dumps([fitted, frame], allow_nan=False)
        expected = fitted["curve"]["own"][moment]
        assert frame.get("error") == (expected if expected is None else pytest.approx(expected, rel=1e-8))


@pytest.mark.parametrize("kind", GENERATORS)
def test_generated_points_are_on_the_board_and_the_same_each_time(kind: str) -> None:
    one, again = (Recipe(kind, 40, 0.3, 5).board() for _ in range(2))
    np.testing.assert_array_equal(one.points, again.points)
    assert len(one.points) == 40
    assert np.abs(one.points[:, :2]).max() < 6


# -- fresh points ----------------------------------------------------------------------------------------------------


def test_fresh_points_are_of_the_same_kind_and_others() -> None:
    recipe = Recipe("gaussians", 50, 0.5, 1)
    own, fresh = recipe.board(), recipe.board(fresh=True)
    assert len(fresh.points) == 1000
    assert not np.isin(fresh.points[:, 0], own.points[:, 0]).all()
    answer = fit(Session(), "gaussians", "LeastSquaresClassifier", recipe=vars(recipe))
    assert answer["facts"]["fresh"] == answer["curve"]["fresh"][-1]


def test_points_that_were_dragged_are_judged_by_fresh_ones_of_their_kind() -> None:
    recipe, session = Recipe("line", 20, 0.5, 1), Session()
    points = recipe.board().points.tolist()
    points[3] = [2.0, -2.5, 0]
    answer = fit(session, "line", "LinearRegression", points=points, recipe=vars(recipe))
    fresh, model = recipe.board(fresh=True), session.traces[0].fitted  # type: ignore[union-attr]
    assert answer["facts"]["fresh"] == pytest.approx(np.sqrt(np.mean((model.predict(fresh.X) - fresh.y) ** 2)))
    assert "Recipe" not in program(session, [0])


def test_points_that_are_held_back_judge() -> None:
    points, session = Recipe("gaussians", 30, 0.9, 1).board().points, Session()
    held, rest = points[2::3], np.delete(points, np.s_[2::3], axis=0)
    given = {"points": rest.tolist(), "fresh": held.tolist()}
    answer = fit(session, "gaussians", "LeastSquaresClassifier", **given)
    names = np.array(["Class 1", "Class 2"])[held[:, 2].astype(int)]
    model = session.traces[0].fitted  # type: ignore[union-attr]
    assert answer["facts"]["fresh"] == np.mean(model.predict(held[:, :2]) != names)
    chart = {"name": "posterior"}
    told = session.answer({"type": "instrument", "task": "classes", **given, **chart})["facts"]
    assert run(program(session, [0], chart))["chart"]["facts"] == told


def test_a_program_has_the_fresh_points_of_clusters() -> None:
    points, session = points_of("blobs", 12, 0.5)["points"], Session()
    fit(session, "blobs", "KMeans", {"n_clusters": 2}, points=points[:8], fresh=points[8:])
    code = program(session, [0], {"name": "ridge"})
    space = run(code[: code.index("chart = ")])  # which is about numbers
    np.testing.assert_array_equal(space["fresh"].points[:, :2], np.array(points)[8:, :2])


# -- names of classes ------------------------------------------------------------------------------------------------

SPARSE = [[0, 0, 0], [1, 1, 2], [2, 0, 4]]
ONE, OVERLAPPING = [[0, 0, 3], [1, 1, 3]], points_of("five", 30, 2.0)["points"]
OTHERS = ["zebra", "10", "9", "Class 2", "ant"]  # in another order than that of the alphabet
LABEL = re.compile(r"\bclass,? '?[0-4]\b|The classes '?[0-4]|(?<!Class )\b[0-4]'? (?:<|against) |label '?[0-4]\b")


def words_of(system: str, points: list[Any], names: list[str] | None = None) -> list[str]:
    """Return all that is said of a fit to classes, and of their separability."""
    session, board = Session(), {"task": "classes", "points": points, "names": names}
    answer = fit(session, "gaussians", system, **board)
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
    points, drawn = [[x, y, 2 * k] for x, y, k in points_of("three", 30)["points"]], []
    for names in (None, OTHERS):
        session = Session()
        answer = fit(session, "gaussians", name, points=points, names=names, fresh=points)
        frame = session.answer(LAST)
        drawn.append([frame["regions"], frame["wrong"], answer["curve"]])
    assert drawn[0] == drawn[1]


@pytest.mark.usefixtures("few_moments")
def test_the_error_surface_has_the_signs_of_the_weights() -> None:
    session, names = Session(), ["9", "10", "a", "b", "c"]
    fit(session, "gaussians", "Adaline", names=names)
    chart = session.answer({"type": "instrument", **points_of("gaussians"), "names": names, "name": "surface"})
    np.testing.assert_allclose(session.answer(LAST)["weights"][1:], chart["centre"], rtol=0.2)


@pytest.mark.parametrize("more", [{}, {"recipe": vars(Recipe("gaussians", 24, 0.3, 1))}, {"fresh": SPARSE}], ids=list)
def test_a_program_keeps_the_names_of_classes(more: dict[str, Any]) -> None:
    session, given, chart = Session(), {"names": OTHERS, **more}, {"name": "proof"}
    fit(session, "gaussians", "LogisticRegression", {"penalty": 1.0}, **given)
    space = run(program(session, [10**6], chart))
    assert sorted(space["model"].classes_) == ["10", "zebra"]
    told = session.answer({"type": "instrument", **points_of("gaussians"), **given, **chart})["facts"]
    assert space["proof"].separable == told["separable"]


# -- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SYSTEMS, *UNSUPERVISED])
def test_forms_are_json_and_their_defaults_are_accepted(name: str) -> None:
    form = form_of(name)
    json.dumps(form, allow_nan=False)
    assert form["fields"] or form["inner"]
    assert set(form["bases"]) == (set() if name in UNSUPERVISED else set(BASES_HERE))
    for one in form["fields"]:
        assert one["help"], f"{name}.{one['name']} has no explanation"
        assert one["words"] or one["number"]
        if type(one["default"]) in (int, float):
            assert one.get("least") is None or one["least"] <= one["default"], one
            assert one.get("most") is None or one["default"] <= one["most"], one
    ModelSpec(name, {one["name"]: one["default"] for one in form["fields"]}).build()


def test_texts_that_the_page_asks_for_are_there() -> None:
    texts = json.loads((PAGE / "texts.json").read_text(encoding="utf-8"))["page"]
    scripts = "".join(path.read_text(encoding="utf-8") for path in PAGE.iterdir() if path.name.endswith(".js"))
    asked = set(re.findall(r'\bt\("([^"]+)"', scripts))
    asked |= set(re.findall(r'data-(?:text|label)="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")))
    asked |= {f"kind {kind}" for kind in GENERATORS} | {f"chart {name}" for name in INSTRUMENTS}
    assert asked <= texts.keys()
    kinds = [*SYSTEMS.values(), *UNSUPERVISED.values(), *(BASES[name] for name in BASES_HERE)]
    numbers = {one["name"] for kind in kinds for one in form_fields(kind) if one.get("number")}
    assert {f"unit-of {name}" for name in numbers} == {key for key in texts if key.startswith("unit-of ")}


# -- bad input -------------------------------------------------------------------------------------------------------


def fitting(kind: str, system: str = "LMS", settings: Any = None, names: Any = None, **more: Any) -> dict[str, Any]:
    model = {"system": system, "settings": settings or {}, **more}
    return {"type": "fit", **points_of(kind), "names": names, "model": model}


PERCEPTRON = {"type": "fit", "task": "classes", "model": {"system": "Perceptron"}}
RECIPE = {"kind": "gaussians", "count": 10, "noise": 0, "seed": 1}
LINE = points_of("line")
BAD = [
    {},
    *({"type": kind} for kind in (5, "nonsense", "fit", "generate")),
    *(
        {**PERCEPTRON, "points": points}
        for points in (
            "many",
            [[0, 0]],
            *([[0, one, 1]] for one in (True, 10**400, 1e9)),
            *([[0, 0, one]] for one in (9, 5, -1, 0.5)),
            [[0, 0, 1], [0, 0]],
            [],
            [[0, 0, 1]],
            [[0, 0, 1]] * 20_001,
        )
    ),
    *(
        fitting("gaussians", "Perceptron", names=names)
        for names in ("ab", ["a", "b"], ["a", "b", "c", "d", "a"], ["a", "a\0", "b", "c", "d"], ["", *"bcde"])
    ),
    fitting("line", "os.system"),
    *(fitting("line", settings={"rate": rate}) for rate in (-1, "__import__('os')")),
    *(fitting("line", settings=one) for one in ({"epochs": 10**9}, {"nothing": 1}, {"init": [[1], [2, 3]]})),
    fitting("line", settings={"init": list(range(100))}),
    fitting("line", basis="Custom"),
    fitting("line", basis="Radial", basis_settings={"centres": 10**6}),
    fitting("blobs", "KMeans", basis="Polynomial"),
    fitting("gaussians", "OneVsRest", inner="OneVsOne"),
    fitting("gaussians", "Perceptron", inner="Perceptron"),
    fitting("gaussians", "LinearRegression"),
    fitting("line", "Perceptron"),
    fitting("blobs", "Perceptron"),
    *({**fitting("line"), "fresh": fresh} for fresh in ("none", [[1, 2]])),
    *({"type": "frame", "moment": 0, "window": WINDOW, **one} for one in ({}, {"slot": 7}, {"slot": -1})),
    *({"type": "frame", "moment": 0, "window": {**WINDOW, **one}} for one in ({"left": 9}, {"left": 4}, {"high": -3})),
    {"type": "frame", "moment": 0, "window": {**WINDOW, "columns": 1000, "rows": 1000}},
    {"type": "python", "moment": 0},
    *({"type": "python", "moments": moments} for moments in ([], [0], [0, 0, 0], ["0"])),
    {"type": "python", "moments": [0], "instrument": {"name": "open"}},
    *({"type": "generate", "recipe": {**RECIPE, **one}} for one in ({"count": 10**9}, {"kind": "../x"}, {"seed": 0.5})),
    {"type": "instrument", "name": "ridge", **points_of("gaussians")},
    *({"type": "instrument", "name": name, **LINE} for name in ("growth", "open", "projection")),
    {"type": "instrument", "name": "noise", **LINE, "settings": {"taps": 1e9}},
    {"type": "form", "system": "Nothing"},
    {"type": "noise", **LINE, "amount": -1, "seed": 1},
]


@pytest.mark.every
@pytest.mark.parametrize("message", BAD, ids=range(len(BAD)))
def test_a_bad_message_is_answered_in_words(message: dict[str, Any]) -> None:
    answer = Session().answer({"id": 3, **message})
    assert (answer["type"], answer["id"]) == ("error", 3)
    assert len(answer["message"]) > 10
    assert "could not be computed" not in answer["message"]


@pytest.mark.parametrize(
    "text", ["", "[]", "NaN", '{"a": NaN}', "{", "[" * 100_000, " " * (LONGEST_MESSAGE - 1) + "{}", b"\xff"]
)
def test_a_text_that_is_no_message_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadMessage):
        message_object(text)
    assert message_object(" " * (LONGEST_MESSAGE - 2) + "{}") == {}


def test_a_failed_fit_leaves_nothing_of_the_one_before_it() -> None:
    session, asked = Session(), iter([True, True, False])
    assert fit(session, "gaussians", "Perceptron")["type"] == "fitted"
    assert fit(session, "gaussians", "Perceptron", {"rate": 0})["type"] == "error"
    assert session.answer(LAST)["type"] == "error"
    unwanted = {"type": "fit", **points_of("xor"), "model": {"system": "Pocket"}}
    assert session.answer(unwanted, lambda: next(asked))["type"] == "skipped"
    assert session.answer(LAST)["type"] == "error"


def test_a_brief_fit_is_the_end_of_the_whole_one() -> None:
    sessions = [Session(), Session()]
    whole, brief = (
        fit(session, "gaussians", "Perceptron", window=window)
        for session, window in zip(sessions, (None, WINDOW), strict=True)
    )
    assert len(brief["positions"]) == 1 < len(whole["positions"])
    for name in ("weights", "error", "mistakes", "status"):
        assert whole["facts"][name] == brief["facts"][name]
    last = sessions[0].answer(LAST)
    assert whole["frame"] is None
    for name in ("regions", "planes", "wrong", "error"):
        assert brief["frame"][name] == last[name]


def test_points_are_moved_and_a_full_board_is_fitted() -> None:
    session = Session()
    moved = session.answer({"type": "noise", **LINE, "amount": 2.0, "seed": 1})["points"]
    expected = np.array(LINE["points"])[:, :2] + 2.0 * np.random.default_rng(1).normal(size=(24, 2))
    np.testing.assert_allclose(np.array(moved)[:, :2], expected, atol=6e-4)
    board = points_of("gaussians", 20_000, 0.5)
    assert fit(session, "gaussians", "LogisticRegression", points=board["points"])["type"] == "fitted"
    assert session.answer(LAST)["type"] == "frame"


# -- scenes ----------------------------------------------------------------------------------------------------------


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
        return {**points_of(**state["recipe"]), "recipe": state["recipe"]}
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
    for k, state in enumerate(states(scene)):
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
            assert done_by(state, TASKS[f"{scene['id']}-{k + 1}"]), "what is asked cannot be done"
    most = max(states(scene), key=lambda one: bool(one.get("rival")) + bool(one.get("instrument")))
    check_program(stage, most)


def check_program(stage: Stage, state: dict[str, Any]) -> None:
    """The program of a step, with all that is shown beside the board, gives the same models and the same chart."""
    session, chart = Session(), state.get("instrument")
    names = [name for name in ("model", "rival") if state.get(name)]
    for slot, name in enumerate(names):
        session.traces[slot] = stage.of(state, name)[1]
    code = program(session, [10**6] * len(names), chart)
    assert len(code.splitlines()) < 30
    made = run(code)
    if chart and chart["name"] in ALONE:
        assert ("model" if chart["name"] == "noise" else "chart") in made
        return
    for slot, name in enumerate(names):
        assert_same(session.traces[slot].fitted, made[name])  # type: ignore[union-attr]
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


def done_by(state: dict[str, Any], controls: dict[str, Any]) -> bool:
    """Whether a step's task is done once some controls are set."""
    state = json.loads(json.dumps(state))
    for target, value in controls.items():
        *way, last = target.split(".")
        place = state
        for part in way:
            place = place.setdefault(part, {})
        place[last] = value
    question = state["question"]
    return is_done(question, Stage().of(state, question["of"])[0][question["fact"]])


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


def test_scenes_have_what_the_page_and_others_read() -> None:
    found = scenes()
    assert len({one["id"] for one in found}) == len(found) >= 20
    assert {one["lecture"] for one in found} == {"S0", "S1", "S2", "S3", "S4"}
    asked = ((f"{one['id']}-{k}", step.get("question", {})) for one in found for k, step in enumerate(one["steps"], 1))
    assert {name for name, question in asked if question.get("kind") == "task"} == TASKS.keys()
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


@pytest.mark.usefixtures("few_moments")
def test_the_pocket_of_its_scene_never_gets_worse() -> None:
    state = states(next(one for one in scenes() if one["id"] == "pocket"))[1]
    answer = Session().answer({"id": 1, "type": "fit", **board_of(state), "model": state["rival"]})
    own = [one for one in answer["curve"]["own"] if one is not None]
    assert np.all(np.diff(own) <= 0)
    assert own[-1] < own[0]


# -- instruments against formulas ------------------------------------------------------------------------------------


def test_fishers_direction_is_the_peak_of_his_criterion() -> None:
    found = INSTRUMENTS["projection"](Recipe("stretched", 100, 0.4, 4).board(), None, {"angle": 10})
    peak = found["x"][int(np.argmax(found["lines"][0]["y"]))]
    assert abs(peak - found["facts"]["best"]) <= 1


def test_combinations_of_a_proof_meet() -> None:
    board = Recipe("xor", 16, 0.2, 2).board()
    found = INSTRUMENTS["proof"](board, None, {})
    for label in (0, 1):
        parts = [(one["share"], one["row"]) for one in found["combination"] if board.points[one["row"], 2] == label]
        assert sum(share for share, _ in parts) == pytest.approx(1)
        np.testing.assert_allclose(sum(share * board.X[row] for share, row in parts), found["meeting"], atol=1e-7)


def test_a_plane_is_shown_where_it_has_every_row_on_its_side() -> None:
    for shared, kind in ((0.0, "quasi"), (0.5, "complete")):
        points = np.array([[-1.0, 0.0, 0], [-shared, 0.0, 0], [1.0, 0.0, 1], [shared, 0.0, 1]])
        found = INSTRUMENTS["proof"](check_points("classes", points), None, {})
        assert (found["facts"]["kind"], "plane" in found) == (kind, kind == "complete")


def test_samples_are_heard_as_whole_numbers_of_16_bits() -> None:
    heard = np.frombuffer(b64decode(_sound(np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]))), "<i2")
    assert heard.tolist() == [-32000, -16000, 0, 8000, 32000, 32000]


def test_the_error_surface_is_the_sum_of_squares() -> None:
    board = Recipe("line", 20, 0.5, 1).board()
    found = INSTRUMENTS["surface"](board, None, {})
    w = np.array([0.3, -1.2])
    direct = float(((board.y - w[0] - w[1] * board.X[:, 0]) ** 2).sum())
    away = w - found["centre"]
    flattest, steepest = np.linalg.eigvalsh(np.array(found["curvature"]))
    facts = {"steepest": steepest, "flattest": flattest, "bound": 2 / steepest}
    assert found["facts"] == pytest.approx(facts, rel=1e-6)
    assert away @ np.array(found["curvature"]) @ away + found["least"] == pytest.approx(direct, rel=1e-8)


def test_fits_of_the_page_are_those_of_the_package() -> None:
    board = Recipe("gaussians", 40, 0.9, 2).board()
    with quiet():
        direct = fitted_to(board, LogisticRegression(penalty=0.5))
    answer = fit(Session(), "gaussians", "LogisticRegression", {"penalty": 0.5}, points=board.points.tolist())
    np.testing.assert_allclose(answer["facts"]["weights"], shown_weights(direct), rtol=1e-8)
    assert answer["certificate"]["status"] == direct.certificate_.status.label
