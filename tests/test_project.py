"""What surrounds the package tells of it rightly: version, changelog, citation, recipe, hosted checks."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Any

import jinja2
import yaml

import adaline
from tests.lowest import PYPROJECT

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NAMESAKE = re.compile(r"\badaline\[[a-z{]|pip install[^`&;|\"\n]*[ ']adaline(?![\w-])")  # another project on PyPI
CONDA = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}  # names that differ


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_has_one_place_and_the_changelog_and_the_citation_name_the_release() -> None:
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    place = PYPROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"]
    assert re.findall(r'^__version__ = "(.+)"$', text(place), re.MULTILINE) == [adaline.__version__]
    cited = yaml.safe_load(text("CITATION.cff"))
    assert (cited["version"], cited["license"]) == (adaline.__version__, PYPROJECT["project"]["license"])
    sections = re.findall(r"^## \[(.+?)\](.*)$", text("CHANGELOG.md"), re.MULTILINE)
    assert sections[:2] == [("Unreleased", ""), (adaline.__version__, f" - {cited['date-released']}")]
    assert f"version {adaline.__version__}" in text("README.md")
    assert f"releases/{adaline.__version__}.md" in text("mkdocs.yml")


def test_the_recipe_for_conda_is_that_of_the_package() -> None:
    def found(load_file: str, regex_pattern: str, from_recipe_dir: bool) -> Any:
        return re.search(regex_pattern, (ROOT / "recipe" / load_file).read_text(encoding="utf-8"))

    recipe = jinja2.Template(text("recipe/meta.yaml")).render(
        load_file_regex=found, compiler=lambda language: f"{language}-compiler", PYTHON="python"
    )
    known = yaml.safe_load(recipe)
    assert str(known["package"]["version"]) == adaline.__version__
    project = PYPROJECT["project"]
    assert known["build"]["entry_points"] == [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert known["about"]["summary"] == project["description"]
    listed = [f"python{project['requires-python']}", *project["dependencies"], *project["optional-dependencies"]["app"]]
    wanted = [line.replace(">=", " >=") for line in listed]
    assert known["requirements"]["run"] == [
        CONDA.get(name := line.split()[0], name) + line[len(name) :] for line in wanted
    ]
    building = [line.replace(">=", " >=") for line in PYPROJECT["build-system"]["requires"]]
    assert known["requirements"]["host"][2:] == building


def test_every_text_installs_our_own_distribution() -> None:
    assert PYPROJECT["project"]["name"] == "adaline-learn"
    for line in (
        "pip install adaline",
        "pip install -U 'adaline==0.2'",
        "needs adaline[app]",
        "'adaline[a]'",
    ):
        assert NAMESAKE.search(line)
        assert not NAMESAKE.search(line.replace("adaline", "adaline-learn"))
    folders = (ROOT / name for name in (".github", "docs", "examples", "native", "recipe", "src"))
    every = (*ROOT.iterdir(), *chain(*(folder.rglob("*") for folder in folders)))
    files = [path for path in every if path.is_file() and path.suffix != ".pyc"]
    texts = {path: path.read_bytes().decode("utf-8", errors="ignore") for path in files}
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path, whole in texts.items()
        if NAMESAKE.search(whole)
        for line in whole.splitlines()
        if NAMESAKE.search(line)
    ]
    assert len(files) > 500
    assert not found


def test_every_hosted_step_is_a_target_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):(?!=)", text("Makefile"), re.MULTILINE))
    for job in chain(*(yaml.safe_load(text(str(path)))["jobs"].values() for path in WORKFLOWS)):
        matrix = job.get("strategy", {}).get("matrix", {})
        named = [*matrix.get("target", []), *(one["target"] for one in matrix.get("include", []))]
        assert set(named) <= targets
        for step in job.get("steps", []):  # one that runs another workflow has none
            if "run" in step:
                command, target, *_ = step["run"].replace("${{ matrix.target }}", "matrix.target").split()
                assert command == "make"
                assert target in targets or (target == "matrix.target" and named)


def test_no_benchmark_takes_the_name_of_another() -> None:
    files = (ROOT / "benchmarks").glob("*.py")
    names = [name for path in files for name in re.findall(r'^@benchmark\("(.+)"\)', text(str(path)), re.MULTILINE)]
    assert len(names) == len(set(names))
    assert {"robust", "robust_errors"} <= set(names)
