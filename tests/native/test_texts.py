"""Hashes, words and sparse rows of texts: the published hash, and the kernels against their references."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from adaline.coding.texts import REFERENCES, Texts, hash_texts, xxh64

VALUES = [
    "",
    "a",
    "abc",
    "Ab_9 x, the THE cat",
    "x" * 31,
    "y" * 32,
    "z" * 100,
    "Straße 5 naïve",
    "\0 nul",
    "日本語 テスト",
]
SANITY = bytearray()
generator = 2654435761
for _ in range(222):
    SANITY.append(generator >> 56)
    generator = generator * 11400714785074694797 % 2**64


@pytest.mark.parametrize(
    ("size", "seed", "expected"),
    [  # of xxHash's own sanity checks
        (0, 0, 0xEF46DB3751D8E999),
        (0, 2654435761, 0xAC75FDA2929B17EF),
        (1, 0, 0xE934A84ADB052768),
        (1, 2654435761, 0x5014607643A9B4C3),
        (14, 0, 0x8282DCC4994E35C8),
        (14, 2654435761, 0xC3BD6BF63DEB6DF0),
        (222, 0, 0xB641AE8CB691C174),
        (222, 2654435761, 0x20CB8AB7AE10C14A),
    ],
)
def test_the_hash_is_xxh64(size: int, seed: int, expected: int) -> None:
    data = bytes(SANITY[:size])
    assert xxh64(data, seed) == expected
    out = np.empty(1, dtype=np.uint64)
    hash_texts(out, np.frombuffer(data, dtype=np.uint8), np.array([0, size]), seed)
    assert out[0] == expected


def _after(function: Any, given: tuple[Any, ...]) -> list[Any]:
    own = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    found = function(*own)
    return [*(one for one in own if isinstance(one, np.ndarray)), found]


def test_the_kernels_agree_with_their_references() -> None:
    native = pytest.importorskip("adaline._native")
    texts, rng = Texts.of(VALUES), np.random.default_rng(0)
    each = texts.data, texts.offsets
    hashes, room = rng.integers(0, 2**64, len(VALUES), dtype=np.uint64), np.zeros(len(VALUES), dtype=np.uint64)
    codes, known = np.zeros(len(VALUES), dtype=np.int32), Texts.of(VALUES[::2])
    table = np.zeros(16, dtype=np.int32)
    REFERENCES["index_texts"](table, known.data, known.offsets)
    starts = np.array([0, 3, 3, 10])
    entries, values = rng.integers(-1, 4, 10).astype(np.int32), rng.normal(size=10)
    plain, indices = rng.integers(-1, 5, 3).astype(np.int32), np.zeros(13, dtype=np.int32)
    parts = [None, starts], [plain, entries], [None, values], [0, 5], 9
    given: dict[str, tuple[Any, ...]] = {
        "hash_texts": (room, *each, 17),
        "hash_pairs": (room, hashes, hashes[::-1].copy()),
        "buckets": (codes, np.zeros(len(VALUES)), hashes, 64),
        "index_texts": (table, known.data, known.offsets.astype(np.int32)),
        "find_texts": (codes, *each, known.data, known.offsets, table),
        "words": (texts._in_ascii().data, texts._in_ascii().offsets, 3),
        "join_entries": (starts, entries, values),
        "join_parts": (np.zeros(4, dtype=np.int32), indices, np.zeros(13), *parts),
    }
    assert given.keys() == REFERENCES.keys()
    for name, arguments in given.items():
        for one, other in zip(
            _after(getattr(native, name), arguments), _after(REFERENCES[name], arguments), strict=True
        ):
            np.testing.assert_equal(one, other, err_msg=name)


def test_words_are_those_of_the_pattern() -> None:
    words, starts = Texts.of(VALUES).words(1)
    assert words.to_list() == [word for value in VALUES for word in re.findall(r"\w\w+", value.lower())]
    assert starts[-1] == len(words.to_list())
