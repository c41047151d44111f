"""Levels of a category that are probably one level in several spellings: "ja", "Ja", "JA " and "nein", "nien".

Two levels are the same if they differ only in case, in the space around them or in punctuation between letters. They
are probably the same if one edit (a letter inserted, left out, replaced, or two neighbours swapped) makes one of the
other, in a word of at least SHORTEST_WORD letters, and one of them is at least RARITY times as frequent as the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

SHORTEST_WORD = 4  # letters of a word in which an edit is looked for; of three letters, car and cat are one edit apart
SHORTEST_REPLACED = 6  # letters of a word in which one may be replaced: Iran and Iraq are two countries
RARITY = 10  # rows of the frequent spelling per row of the rare one; two levels of similar size are both meant
MOST_LEVELS = 20_000  # levels of a column that are compared; doubling it takes up to four times as long
LONGEST_LEVEL = 60  # characters of a level; longer ones are sentences
VOWELS = frozenset("aeiouyäöü")
KEYBOARD = ("qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
BETWEEN = re.compile(r"(?<=[^\W\d_])[\s._'’-]+(?=[^\W\d_])")  # punctuation and space between two letters
AROUND = " \t\r\n\xa0.,;:!\"'"


class SameLevel(NamedTuple):
    """Spellings of one level, most frequent first, and whether they differ in case, space and punctuation alone."""

    spellings: tuple[str, ...]
    certain: bool


def same_levels(counts: Mapping[str, int]) -> list[SameLevel]:
    """Return the levels that occur in several spellings, given the number of rows of each spelling.

    Examples
    --------
    >>> from adaline.comparison.spellings import same_levels
    >>> same_levels({"ja": 190, "nein": 200, "Ja": 9, "JA ": 2, "nien": 3})
    [SameLevel(spellings=('ja', 'Ja', 'JA '), certain=True), SameLevel(spellings=('nein', 'nien'), certain=False)]
    >>> same_levels({"male": 99, "female": 3, "A1": 80, "A2": 1, "Type II": 50, "Type III": 2})
    []
    """
    if len(counts) > MOST_LEVELS:
        return []
    found: dict[str, list[str]] = {}
    for level in sorted(counts, key=lambda level: -counts[level]):
        found.setdefault(_key(level), []).append(level)
    out = [SameLevel(tuple(own), True) for own in found.values() if len(own) > 1]
    rows = {key: sum(counts[level] for level in own) for key, own in found.items()}
    for key, other in _mistyped(rows):
        out.append(SameLevel((found[key][0], found[other][0]), False))
    return out


def _key(level: str) -> str:
    """Return what spellings of one level have in common; a single letter keeps its case, as codes use both."""
    text = unicodedata.normalize("NFKC", level).strip(AROUND) or level.strip()
    text = " ".join(BETWEEN.sub(" ", text).split())
    return text if len(text) == 1 else text.casefold()


def _mistyped(rows: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a frequent level and a rare one that is one edit away."""
    able = [key for key in rows if len(key) <= LONGEST_LEVEL and not any(map(str.isdigit, key))]
    if not any(RARITY * rows[key] <= max(rows.values()) for key in able):
        return
    near: dict[str, list[str]] = {}
    for key in sorted(able, key=lambda key: -rows[key]):
        shorter = dict.fromkeys([key, *(key[:i] + key[i + 1 :] for i in range(len(key)))])
        others = dict.fromkeys(other for text in shorter for other in near.get(text, ()))
        same = [other for other in others if RARITY * rows[key] <= rows[other] and _is_one_edit(other, key)]
        if same:
            yield same[0], key
        for text in shorter:  # two texts one edit apart have a shorter one in common
            near.setdefault(text, []).append(key)


def _is_one_edit(a: str, b: str) -> bool:
    """Whether two texts differ in one word, by one edit that is a typing error rather than another word.

    The first letter is rarely mistyped (typical, atypical), and an added last letter often is another word (Eric,
    Erica) unless it repeats the one before.
    """
    ours, theirs = a.split(), b.split()
    differing = [(u, v) for u, v in zip(ours, theirs, strict=False) if u != v]
    if len(ours) != len(theirs) or len(differing) != 1:
        return False
    long, short = sorted(differing[0], key=len, reverse=True)
    if len(short) < SHORTEST_WORD - 1 or len(long) < SHORTEST_WORD or long[0] != short[0]:
        return False
    i = next((i for i, (u, v) in enumerate(zip(long, short, strict=False)) if u != v), len(short))
    if len(long) > len(short):
        return long[i + 1 :] == short[i:] and (i < len(short) or long[i] == long[i - 1])
    if sorted(long) == sorted(short):
        return long[i + 2 :] == short[i + 2 :]
    return len(long) >= SHORTEST_REPLACED and long[i + 1 :] == short[i + 1 :] and _is_easily_replaced(long[i], short[i])


def _is_easily_replaced(a: str, b: str) -> bool:
    """Whether a letter is often typed for another: two vowels, or neighbours on the keyboard; not INLAND and ISLAND."""
    return {a, b} <= VOWELS or any(a + b in row or b + a in row for row in KEYBOARD)
