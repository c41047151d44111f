"""Levels in several spellings are found, and levels that merely look alike are not."""

from __future__ import annotations

import pytest

from adaline.comparison.spellings import same_levels


@pytest.mark.parametrize(
    "levels",
    [
        {"ja": 190, "Ja": 9, "JA ": 2},
        {"New York": 50, "new york": 50, "New-York": 1, " New  York": 2},
        {"St. Louis": 4, "St Louis": 4},
        {"Müller": 3, "mu\u0308ller": 3},  # composed and decomposed
        {"A ": 1, "A": 1},
    ],
)
def test_case_space_and_punctuation_make_no_new_level(levels: dict[str, int]) -> None:
    assert [(set(one.spellings), one.certain) for one in same_levels(levels)] == [(set(levels), True)]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("nein", "nien"), ("married", "maried"), ("Bavaria", "Bavoria"), ("Kiel", "Kieel"), ("New York", "New Yrok")],
)
def test_a_rare_level_one_edit_from_a_frequent_one_is_probably_mistyped(right: str, wrong: str) -> None:
    assert same_levels({right: 40, wrong: 2, "other": 30}) == [((right, wrong), False)]
    assert same_levels({right: 40, wrong: 30}) == []


@pytest.mark.parametrize(
    "levels",
    [
        {"male": 99, "female": 1},
        {"A1": 90, "A2": 1, "A10": 3, "Room 12": 80, "Room 13": 1},
        {"car": 90, "cat": 2, "bar": 1},
        {"Type II": 90, "Type III": 2, "Type I": 3},
        {"Iran": 90, "Iraq": 2, "Niger": 50, "Nigeria": 3, "Gambia": 40, "Zambia": 2},
        {"INLAND": 900, "ISLAND": 5, "NEAR BAY": 90},
        {"typical": 90, "atypical": 2},
        {"Eric": 40, "Erica": 2, "Martin": 30, "Martina": 1},
        {"A+": 30, "A": 30, "A-": 30, "B+": 1},
        {"<10": 30, ">10": 2, "10": 5, "1.0": 3},
        {"a": 20, "A": 20, "m": 1, "M": 40},
        {"north": 90, "south": 2, "east": 40, "west": 3},
    ],
)
def test_levels_that_look_alike_raise_no_alarm(levels: dict[str, int]) -> None:
    assert same_levels(levels) == []
