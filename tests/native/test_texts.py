"""Hashes and words of texts: the published hash, and the pattern of words; the selftest has the kernels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from adaline.coding.texts import Texts, hash_texts, xxh64

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


def test_words_are_those_of_the_pattern() -> None:
    words, starts = Texts.of(VALUES).words(1)
    assert words.to_list() == [word for value in VALUES for word in re.findall(r"\w\w+", value.lower())]
    assert starts[-1] == len(words.to_list())
