"""What the documentation shows is what runs; no public name is without an example, no page missing."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from adaline import datasets, plots
from adaline.sums import SUMS
from tests.cli.command_line import Shell
from tests.test_house import HOME

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FRONT = [DOCS / f"{name}.md" for name in ("index", "getting-started", "which-model", "cheat-sheet", "coming-from")]
LECTURES = sorted((DOCS / "theory").glob("[!i]*.md"))
PAGES = sorted([*FRONT, *LECTURES, *(DOCS / "guide").glob("*.md")])
PEERS = {"river", "vowpalwabbit", "padasip"}  # installed for benchmarks only


def making(name: str) -> ModuleType:
    """Return a module that makes pages."""
    spec = importlib.util.spec_from_file_location(f"making_{name}", DOCS / "making" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PUBLIC = [pair for _, names in making("reference").chapters().values() for pair in names]


def test_every_public_name_has_an_example() -> None:
    assert [name for name, value in PUBLIC if ">>> " not in (inspect.getdoc(value) or "")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    shutil.copy(datasets.path("penguins"), "penguins.csv")
    names: dict[str, Any] = {}
    for block in blocks:
        if any(importlib.util.find_spec(peer) is None for peer in PEERS & set(re.findall(r"\w+", block))):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, page.name, "exec"), names)
        said = re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)
        assert out.getvalue().splitlines() == said


def test_every_page_of_the_navigation_is_there_and_every_page_is_in_it() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = set(leaves(settings["nav"])) - {"gallery/", "reference/", "tasks/", "design/"}
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert listed == written


def test_every_rank_of_the_search_is_that_of_some_page() -> None:
    ranks, made = making("ranks"), {"reference/index.md", "gallery/index.md", "tasks/index.md"}
    pages = made | {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert [start for start in ranks.BOOSTS if not any(page.startswith(start) for page in pages)] == []
    assert ranks.boost("guide/inference.md") > ranks.boost("reference/Ridge.md") > ranks.boost("gallery/s3_xor.md")


def test_a_formula_stays_in_its_cell_of_the_reference() -> None:
    reference = making("reference")
    rows = [line for line in reference.index(reference.chapters()).splitlines() if line.startswith("| [")]
    assert rows
    for row in rows:
        assert len(re.split(r"(?<!\\)\|", row)) == 4, row
        assert "\\\\|" not in row


def leaves(nav: Any) -> Iterator[str]:
    """The pages of a navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(entry)


def test_examples_have_a_title_and_words_for_the_gallery() -> None:
    gallery = making("gallery")
    found = gallery.lectures()
    assert found
    for example in [*found, *gallery.tasks()]:
        assert example.title, example.name
        assert "\n" not in example.title
        assert len(example.prose.split()) > 20, f"{example.name}: what does one see?"
        assert example.code.startswith("from __future__")
    assert all(f"({example.name}.md)" in gallery.index(found) for example in found)


def test_the_chart_of_the_front_page_finds_its_figures() -> None:
    front = making("front")
    seconds = front.times(front.BENCHMARKS.read_text(encoding="utf-8"), front.SHAPE)
    assert {"adaline", "adaline + errors", "scikit-learn", "statsmodels + errors"} <= set(seconds)
    assert all(0 < value < 1000 for value in seconds.values())
    assert front.CHART.read_text(encoding="utf-8") == front.picture(), "make recordings"


def test_the_commands_of_getting_started_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of dots stands for any lines; the service itself is tested with its own tests."""
    text = (DOCS / "getting-started.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shutil.copy(datasets.path("penguins"), "penguins.csv")
    steps = re.findall(r"^\$ adaline (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)
    done = []
    for command, shown in steps:
        if not command.startswith(("selftest", "serve")):
            printed = Shell(capsys).good(*shlex.split(command)).out
            assert re.fullmatch(re.escape(shown).replace(re.escape("...\n"), r"(?s:.*)"), printed), command
            done.append(command.split()[0])
    assert done == ["compare", "fit", "predict", "score", "update"]


def test_every_lecture_has_its_page_with_exercises_and_recordings() -> None:
    gallery = making("gallery")
    titles = [page.read_text(encoding="utf-8").splitlines()[0] for page in LECTURES]
    assert sorted(title[2:4].lower() for title in titles) == sorted(gallery.LECTURES)
    for page in LECTURES:
        text = page.read_text(encoding="utf-8")
        exercises = re.findall(r"^\*\*\d\.\*\* .*?</details>$", text, re.MULTILINE | re.DOTALL)
        assert len(exercises) >= 3
        assert all("<summary>Solution</summary>" in one and "```python" in one for one in exercises)
        assert text.count("../assets/recordings/") >= 2


@pytest.mark.parametrize("page", [ROOT / "README.md", *FRONT[:4], *LECTURES], ids=lambda page: page.stem)
def test_every_class_and_parameter_that_a_page_names_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    ours = {name: value for name, value in PUBLIC if isinstance(value, type)}
    for name, given in re.findall(r"`([A-Z]\w+)\(([^`]*)\)`", text):
        known = inspect.signature(ours[name]).parameters if name in ours else None
        assert known is None or set(re.findall(r"(\w+)=", given)) <= set(known), f"{name}({given})"
    assert set(re.findall(r"`((?:losses|basis|links)\.\w+)", text)) <= dict(PUBLIC).keys()


def test_every_plot_is_in_the_table_of_plots() -> None:
    drawing = {name for name in plots.__all__ if "ax" in inspect.signature(getattr(plots, name)).parameters} - {"svg"}
    table = (DOCS / "guide" / "plots.md").read_text(encoding="utf-8").partition("| what | plots |")[2]
    assert drawing <= set(re.findall(r"`(\w+)`", table)) <= set(plots.__all__)


def test_recordings_show_what_the_systems_do() -> None:
    """The files are what the scenes give now, to the tenth of a pixel: else `make recordings`."""
    recordings = making("recordings")
    number = re.compile(r"-?\d+\.?\d*")
    made = dict(recordings.files())
    assert set(recordings.FOLDER.iterdir()) == set(made)
    for path, text in made.items():
        kept = path.read_text(encoding="utf-8")
        assert number.sub("0", kept) == number.sub("0", text), f"{path.name}: make recordings"
        there, here = ([float(one) for one in number.findall(drawn)] for drawn in (kept, text))
        assert max(abs(a - b) for a, b in zip(there, here, strict=True)) <= 1, f"{path.name}: make recordings"


def test_galleries_and_the_readme_show_recordings_which_are_small() -> None:
    gallery, recordings = making("gallery"), making("recordings")
    texts = [path.read_text(encoding="utf-8") for path in recordings.FOLDER.glob("*.svg")]
    assert sum(map(len, texts)) < 1_000_000
    assert all(len(text) < 200_000 and "prefers-reduced-motion" in text and "<script" not in text for text in texts)
    assert not any("http" in text.replace("http://www.w3.org/2000/svg", "") for text in texts)
    assert {one.example for one in recordings.RECORDINGS.values()} <= {one.name for one in gallery.lectures()}
    for example in gallery.lectures():
        if example.name in gallery.LIVE:
            assert f"../assets/recordings/{gallery.LIVE[example.name].file}" in example.live
    shown = re.findall(r"\((docs/assets/recordings/\S+\.svg)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert all((ROOT / path).parent == recordings.FOLDER and (ROOT / path).is_file() for path in shown)


SQUARES = r"\(\frac{1}{2} \sum_{n} ( y_{n} - w ^{\top} x_{n} ) ^{ 2 }\)"
PENALTY = r"\(\mathrm{penalty} / 2 \| w \| ^{ 2 } + l_{1} | w |\)"
WEIGHTED = r"\(\mathrm{weight} \times \mathrm{loss} ( z_{n} )\)"
PLAIN = "R's sum over rows X (n, D) of `w'x`, a rate of 1, or \"y ~ x^2\""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Minimises 1/2 sum_n (y_n - w'x_n)^2, exactly.", f"Minimises {SQUARES}, exactly."),
        ("penalty/2 ||w||^2 + l1 |w|, w0 free", rf"{PENALTY}, \(w_{{0}}\) free"),
        ("w += eta e phi'(z) x for each row", r"\(w += \eta e \phi ' ( z ) x\) for each row"),
        ("sqrt(p (1 - p)), weight x loss(z_n)", rf"\(\sqrt{{ p ( 1 - p ) }}\), {WEIGHTED}"),
        (PLAIN, PLAIN),
    ],
)
def test_formulas_of_docstrings_are_set_as_mathematics(text: str, shown: str) -> None:
    assert making("formulas").marked(text) == shown


DESIGN = making("design")
PARTS = DESIGN.parts()
EXPLAINED = {DESIGN.DESIGN: DESIGN.DESIGN.read_text(encoding="utf-8")} | {
    path: DESIGN.explanation(path) for _, path in PARTS.values()
}


def test_the_design_is_one_screen_with_every_layer_and_every_folder() -> None:
    design = EXPLAINED[DESIGN.DESIGN]
    assert len(design.splitlines()) <= 75
    chain = design.split("```")[1]
    own = {path.stem for path in HOME.iterdir() if path.suffix in ("", ".py")}
    apart = {"__init__", "__main__", "__pycache__", "plots"}  # the front doors
    assert {name for name in own - apart if not re.search(rf"\b{name}\b", chain)} == set()
    folders = {path.parent.relative_to(HOME).as_posix() for path in HOME.rglob("__init__.py")}
    explained_elsewhere = {".", "datasets", "systems/families"}
    assert folders - explained_elsewhere == PARTS.keys() - {"native"}


def test_the_design_shows_the_layers_of_the_contract() -> None:
    """Where it fails, the lines to put there are in the message."""
    chain, lowest = DESIGN.layers()
    assert f"\n{chain}\n" in EXPLAINED[DESIGN.DESIGN]
    assert f"\n  {lowest}     " in EXPLAINED[DESIGN.DESIGN]


def test_the_table_of_sums_has_every_sum() -> None:
    table = EXPLAINED[PARTS["sums"][1]].split("Laws")[0]
    assert set(SUMS) == set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))


def test_files_and_names_in_the_explanations_exist() -> None:
    """Names are those of the code, docstrings and comments apart."""
    files = (*HOME.rglob("*.py"), *HOME.rglob("*.pyi"), *(ROOT / "native").glob("*.?pp"))
    code = (re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text(encoding="utf-8")) for path in files)
    known = {name for one in code for name in re.findall(r"\w+", one)}
    missing = []
    for page, explained in EXPLAINED.items():
        near = (ROOT, HOME, page.parent)
        for quoted in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", explained, flags=re.DOTALL)):
            if quoted.startswith(("ax.", "plt.")):  # matplotlib's
                continue
            if re.fullmatch(r"[\w./]+(/|\.(py|pyi|[ch]pp|md|txt|json|toml))", quoted):
                ok = any((folder / quoted).exists() for folder in near)
            elif re.fullmatch(r"[A-Za-z_][\w.]*(\(.*\))?", quoted):
                ok = known.issuperset(re.findall(r"\w+", quoted.partition("(")[0]))
            else:
                ok = "/" not in quoted or any((folder / quoted).exists() for folder in near)
            missing += [f"{page.relative_to(ROOT)}: {quoted}"] * (not ok)
    assert not missing, "\n".join(missing)


def test_every_function_of_other_packages_is_spelled_or_refused() -> None:
    import sklearn.linear_model
    import statsmodels.api

    models = [name for name in statsmodels.api.__all__ if callable(getattr(statsmodels.api, name))]
    exported = (ROOT / "tests" / "data" / "functions" / "functions.txt").read_text(encoding="utf-8").splitlines()[1:]
    wanted = {
        "R": [name.split()[1] for name in exported],
        "scikit-learn": sklearn.linear_model.__all__,
        "statsmodels": sorted(set(models) - {"show_versions", "test", "webdoc"}),
    }
    text = (DOCS / "coming-from.md").read_text(encoding="utf-8").replace("sm.", "")
    for package, names in wanted.items():
        section = text.partition(f"\n## {package}\n")[2].partition("\n## ")[0]
        spelled = set(re.findall(r"[\w.]*\w", " ".join(re.findall(r"`([^`]+)`", section))))
        missing = [name for name in names if name not in spelled and not (name[0] in "dpqr" and name[1:] in spelled)]
        assert not missing, f"{package}: {missing}"
