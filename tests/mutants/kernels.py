"""Where the C++ of the kernels can be changed so that a test should fail; the kernels with changes behind switches.

A site is one small change inside a function: the sign of a term, a bound that is one off, a number, a condition that is
negated, a maximum that is a minimum. They are found by the text, not by types: what the compiler refuses is no site.
`switches.hpp` has what takes their places.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.mutants.sites import Site

SWITCHES = Path(__file__).with_name("switches.hpp")
UNITS = ("kernels.cpp", "objectives.cpp", "coordinates.cpp", "sparse_lines.cpp", "texts.cpp")
WITHOUT = re.compile(r".*module\.cpp|(arrays|codes|state|scratch|old_glibc|kernels|objectives)\..pp")
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#[^\n]*", re.S | re.M)
NO_FUNCTION = re.compile(
    r"^\S|^\s*$|\b(?:constexpr|static|case|template|using|struct|enum|alignas|_mm\w+(?:gather|scatter)\w+)\b"
)
TERM = r"((?:[A-Za-z_][\w.:]*(?:\[[^][]*\]|\([^()]*\))?|\d[\w.]*)(?![\w.:(\[<]|->))"
SIGN = re.compile(r"(?<=\S )([+-]) " + TERM)
BOUND = re.compile(r"(?<=\S )([<>]=?) " + TERM)
NUMBER = re.compile(r"(?<=[(,=*/+-] |.\()(\d+(?:\.\d+)?)(?!['.\w])")
EXTREME = re.compile(r"(?:std::)?(fmax|fmin)\(")
CONDITION = re.compile(r"\bif (\()")
OTHER = {"+": "-", "-": "+", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "fmax": "fmin", "fmin": "fmax"}
SNIPPET = re.compile(r"native/(\w+\..pp):(\d+)")


def _changes(text: str) -> Iterator[tuple[int, str, int, str]]:
    """Yield where each change of a text is, its name, where what it replaces ends, and what takes the place."""
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in SIGN.finditer(code):
        new = f"{found[1]} mutants::negated(N, {found[2]})"
        yield found.start(), f"{found[1]} to {OTHER[found[1]]}", found.end(), new
    for found in BOUND.finditer(code):
        step = 1 if found[1] in ("<", ">=") else -1
        new = f"{found[1]} mutants::moved(N, {step}, {found[2]})"
        yield found.start(), f"{found[1]} to {OTHER[found[1]]}", found.end(), new
    for found in NUMBER.finditer(code):
        yield found.start(), f"{found[1]} to another", found.end(), f"mutants::other(N, {found[1]})"
    for found in EXTREME.finditer(code):
        yield found.start(), f"{found[1]} to {OTHER[found[1]]}", found.end(), f"mutants::{found[1]}(N, "
    for found in CONDITION.finditer(code):
        yield found.start(1), "condition negated", found.end(1), "(mutants::negated_if(N, "


def sites_of(root: Path, path: Path) -> dict[Site, tuple[int, int, str]]:
    """Return the sites of a file, each with where it begins and ends in the text, and what takes its place."""
    text = path.read_text()
    out = {}
    for begin, change, end, new in _changes(text):
        first = text.rfind("\n", 0, begin) + 1
        if not NO_FUNCTION.search(text[first : text.find("\n", begin)]):
            out[Site(path.relative_to(root).as_posix(), text.count("\n", 0, begin) + 1, begin - first, change)] = (
                begin,
                end,
                new,
            )
    return out


def draw(root: Path, count: int, seed: int) -> list[Site]:
    """Return a random sample of the sites of all kernels that the compiler takes."""
    files = sorted(one for one in (root / "native").glob("*.?pp") if not WITHOUT.fullmatch(one.name))
    every = sorted(site for file in files for site in sites_of(root, file))
    drawn = random.Random(seed).sample(every, min(3 * count, len(every)))
    copy = root / "build" / "mutants" / "drawn"
    while True:
        write(root, copy, {site: number for number, site in enumerate(drawn)})
        refused = _refused(copy)
        if not refused:
            return drawn[:count]
        kept = [site for site in drawn if (site.path, site.line) not in refused]
        if len(kept) == len(drawn):
            raise RuntimeError(f"the compiler refuses lines without a change: {sorted(refused)}")
        drawn = kept


def write(root: Path, copy: Path, numbers: Mapping[Site, int]) -> None:
    """Write what the native module is built from to another folder, with sites behind switches of these numbers."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root / "native", copy / "native")
    for path in {site.path for site in numbers}:
        text = (copy / path).read_text()
        places = sites_of(copy, copy / path)
        own = sorted(((*places[site], number) for site, number in numbers.items() if site.path == path), reverse=True)
        last = len(text)
        for begin, end, new, number in own:
            if end > last:  # inside of one that is changed already
                continue
            new = new.replace("(N,", f"({number},")
            if "negated_if" in new:
                close = _closing(text, begin)
                text = f"{text[:begin]}{new}bool{text[begin:close]}){text[close - 1 :]}"
            else:
                text = text[:begin] + new + text[end:]
            last = begin
        (copy / path).write_text(text)
    header = copy / "native" / "old_glibc.hpp"
    header.write_text(header.read_text() + SWITCHES.read_text().replace("#pragma once", ""))


def _closing(text: str, begin: int) -> int:
    """Return the place after the bracket that closes the one at `begin`."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place + 1
    raise ValueError("brackets do not match")


def _refused(copy: Path) -> set[tuple[str, int]]:
    """Return the lines of the sources that the compiler names in errors."""
    out = set()
    for unit in UNITS:
        header = ("-include", "native/old_glibc.hpp", "-DADALINE_ISA=baseline", "-Wno-psabi", "-Werror=vla")
        command = ["c++", "-std=c++20", "-fsyntax-only", "-fmax-errors=0", *header, f"native/{unit}"]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        if done.returncode:
            found = {(f"native/{name}", int(line)) for name, line in SNIPPET.findall(done.stderr)}
            if not found:
                raise RuntimeError(done.stderr)
            out |= found
    return out


def build(root: Path, numbers: Mapping[Site, int]) -> Path:
    """Return a native module that has sites behind switches of these numbers."""
    copy = root / "build" / "mutants" / "kernels"
    write(root, copy, numbers)
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "src"):
        (copy / name).symlink_to(root / name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(copy / "packages")]
    environment = {**os.environ, "ADALINE_REQUIRE_NATIVE": "1"}
    subprocess.run([*command, str(copy)], check=True, capture_output=True, env=environment)
    return next((copy / "packages" / "adaline").glob("_native*.so"))
