"""What surrounds the kernels: room that is checked where it is asked to be, and compilers that are too old."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NATIVE = Path(__file__).parents[2] / "native"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts and compilers of POSIX systems")

SCRATCH = """
#include "scratch.hpp"
#include <cstdio>
using adaline::baseline::scratch;
int main(int words, char**) {
    scratch.reserve(20, 2);
    double* const a = scratch.array(12);
    double* const b = scratch.zeros(8);
    for (int i = 0; i < 12; ++i) a[i] = i;
    if (b - a < 12 || b[0] != 0) return 3;
    if (words > 1) return int(((volatile double*)b)[words * 8]);
    try {
        for (int i = 0; i < 3; ++i) scratch.array(8);
    } catch (const std::exception& error) {
        std::puts(error.what());
        return 4;
    }
    return 0;
}
"""


@pytest.mark.night
@pytest.mark.skipif(shutil.which("c++") is None, reason="no compiler")
@pytest.mark.parametrize(
    ("flags", "words", "ends"),
    [
        ([], [], 0),
        (["-DADALINE_CHECKED"], [], 4),
        (["-DADALINE_CHECKED", "-fsanitize=address"], [], 4),
        (["-DADALINE_CHECKED", "-fsanitize=address"], ["beyond"], 1),
    ],
    ids=["release", "checked", "sanitized", "sanitized-read"],
)
def test_scratch_beyond_what_was_reserved_is_refused_in_checked_builds(
    flags: list[str], words: list[str], ends: int, tmp_path: Path
) -> None:
    (tmp_path / "main.cpp").write_text("#include <exception>\n" + SCRATCH)
    made = ["c++", "-std=c++20", "-O1", f"-I{NATIVE}", "-DADALINE_ISA=baseline", *flags, "main.cpp", "-o", "main"]
    built = subprocess.run(made, cwd=tmp_path, capture_output=True, text=True, check=False)
    if built.returncode and "-fsanitize=address" in flags:
        pytest.skip("no address sanitizer")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "main", *words], capture_output=True, text=True, check=False)
    assert done.returncode == ends, done
    assert ("takes more scratch than it reserved" in done.stdout) == (ends == 4)
    assert ("AddressSanitizer: use-after-poison" in done.stderr) == (ends == 1)


TOO_OLD = {
    "11 2 __clang_major__ __clang_minor__": "11.2 is too old: GCC 12 or newer is needed.",
    "12 2 __clang_major__ __clang_minor__": "",
    "4 2 14 0": "14.0 is too old: Clang 15 or newer is needed.",
    "4 2 15 0": "",
    "": "",
}


def check_compiler(**environment: str) -> Any:
    command = ["/bin/sh", NATIVE / "check-compiler"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("said", TOO_OLD)
def test_a_compiler_that_is_too_old_is_named(said: str, tmp_path: Path) -> None:
    compiler, wrong = tmp_path / "c++", TOO_OLD[said]
    compiler.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{said}'\n")
    compiler.chmod(0o755)
    done = check_compiler(**{**os.environ, "CXX": str(compiler)})
    assert done.returncode == (1 if wrong else 0), done
    assert done.stderr.startswith(f"{compiler} {wrong}" if wrong else ""), done.stderr


def test_a_compiler_that_is_not_there_is_named() -> None:
    done = check_compiler(PATH="/nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("Missing: a C++20 compiler.")
