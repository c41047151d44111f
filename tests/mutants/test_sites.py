"""Each change of a source is behind a switch of its own, and without one the source is what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.mutants.sites import SWITCH, draw, sites_of, with_switches

SOURCE = '''
LIMIT = 3


def below(x: int, most: int = 5) -> bool:
    """Return whether x is below."""
    if x is None:
        raise ValueError(f"x is {1 + 1}")
    return x < most


def total(values: list[int]) -> int:
    out = 0
    for value in values:
        if value < 0:
            continue
        out += value
    values.clear()
    return out
'''


def namespace(path: Path, number: int | None) -> tuple[list[str], dict[str, Any]]:
    """Return the sites of the source, and its names where one of them is changed."""
    found = sites_of(path.parent, path)
    numbers = {site: i for i, site in enumerate(found)}
    names: dict[str, Any] = {SWITCH: lambda i: i == number}
    exec(compile(with_switches(SOURCE, path.name, numbers), path.name, "exec"), names)
    return [f"{site.line} {site.change}" for site in found], names


def test_every_change_changes_the_result(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)

    def results(number: int | None) -> list[Any]:
        names, given = namespace(path, number)[1], [1, -2, 3]

        def below(x: Any) -> Any:
            try:
                return names["below"](x)
            except (TypeError, ValueError) as error:
                return type(error)

        return [below(5), below(4), below(None), names["total"]([0, 1, -2, 3]), names["total"](given), given]

    changes, names = namespace(path, None)
    assert changes == [
        "7 is to is not",
        "9 < to <=",
        "13 0 to 1",
        "15 < to <=",
        "15 0 to 1",
        "16 continue left out",
        "17 += left out",
        "18 values.clear() left out",
    ]
    assert results(None) == [False, True, ValueError, 4, 4, []]
    assert names["LIMIT"] == 3
    same = [changes[number] for number in range(len(changes)) if results(number) == results(None)]
    assert same == ["15 < to <=", "15 0 to 1"]  # mutants that no test can kill: zeros add nothing


def test_a_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert draw(tmp_path, tmp_path, 3, 1) == draw(tmp_path, tmp_path, 3, 1) != draw(tmp_path, tmp_path, 3, 2)
    assert len(draw(tmp_path, tmp_path, 100, 0)) == 8
