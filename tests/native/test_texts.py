"""Hashes and words of texts: the published hash, and the pattern of words; the selftest has the kernels."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from adaline.coding.texts import Texts, hash_texts, xxh64
from tests.turns import in_turn

VALUES = [
    *("", "a", "abc", "Ab_9 x, the THE cat", "x" * 31, "y" * 32, "z" * 100),
    *("Straße 5 naïve", "\0 nul", "日本語 テスト"),
]
GENERATED = [2654435761 * 11400714785074694797**k % 2**64 >> 56 for k in range(222)]  # of xxHash's own sanity checks
SANE = {
    (0, 0): 0xEF46DB3751D8E999,
    (0, 2654435761): 0xAC75FDA2929B17EF,
    (1, 0): 0xE934A84ADB052768,
    (1, 2654435761): 0x5014607643A9B4C3,
    (14, 0): 0x8282DCC4994E35C8,
    (14, 2654435761): 0xC3BD6BF63DEB6DF0,
    (222, 0): 0xB641AE8CB691C174,
    (222, 2654435761): 0x20CB8AB7AE10C14A,
}


@in_turn("case", SANE)
def test_the_hash_is_xxh64(case: tuple[int, int]) -> None:
    data, seed, out = bytes(GENERATED[: case[0]]), case[1], np.empty(1, dtype=np.uint64)
    assert xxh64(data, seed) == SANE[case]
    hash_texts(out, np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)]), seed)
    assert out[0] == SANE[case]


def test_words_are_those_of_the_pattern() -> None:
    words, starts = Texts.of(VALUES).words(1)
    assert words.to_list() == [word for value in VALUES for word in re.findall(r"\w\w+", value.lower())]
    assert starts[-1] == len(words.to_list())


HOSTILE = [
    *(b"", b"\0", b"\0\0", b"a", b"a\0", b"a\0\0\0\0\0\0\0", b"a\0\0\0\0\0\0\0b", b"\xff" * 9),
    *(b"shared prefix, long" + b"x" * k for k in range(20)),
    *(*(b"k" * k for k in range(40)), b"12345678", b"12345678" * 2),
]


def texts_of(each: list[bytes]) -> Texts:
    return Texts(np.frombuffer(b"".join(each), np.uint8), np.cumsum([0, *map(len, each)]))


@in_turn("seed", range(4))
@in_turn("narrow", [False, True])
def test_texts_are_sorted_and_told_apart_by_their_bytes(seed: int, narrow: bool) -> None:
    rng = np.random.default_rng(seed)
    short = [bytes(rng.integers(0, 3, k).astype(np.uint8)) for k in rng.integers(0, 12, 2000)]
    each = [*HOSTILE, *short, *HOSTILE[::-1]] if seed else []
    texts = texts_of(each)
    if narrow:
        texts = Texts(texts.data, texts.offsets.astype(np.int32))
    assert texts.order().tolist() == sorted(range(len(each)), key=each.__getitem__)
    weights = rng.integers(0, 9, len(each))
    found, counts, codes = texts.distinct(weights)
    different = list(dict.fromkeys(each))
    assert (found.data.tobytes(), np.diff(found.offsets).tolist()) == (b"".join(different), [*map(len, different)])
    assert [different[k] for k in codes] == each
    np.testing.assert_array_equal(counts, np.bincount(codes, weights, len(different)))
    np.testing.assert_array_equal(texts.distinct()[1], np.bincount(codes, minlength=len(different)))


@in_turn("entry", [1, 2**32 - 1, 2**64 - 1, 7, 2**63 + 3])
def test_a_table_that_is_damaged_finds_nothing_else(entry: int) -> None:
    native = pytest.importorskip("adaline._native")
    known, asked = Texts.of(["a", "b", "c"]), Texts.of(["a", "b", "zz", ""])
    codes, table = np.zeros(4, np.int32), np.full(8, entry, np.uint64)
    native.find_texts(codes, asked.data, asked.offsets, known.data, known.offsets, table)
    assert codes[2:].tolist() == [-2, -2]
    assert all(code in (-2, k) for k, code in enumerate(codes[:2]))
    strayed = np.array([0, -5, 2**40, 3])
    native.index_texts(table, known.data, known.offsets)
    native.find_texts(codes, asked.data, asked.offsets, known.data, strayed, table)
    assert set(codes.tolist()) == {-2}
    native.find_numbers(codes, np.arange(4.0), np.array([2.0, 9.0]), np.full(4, entry, np.uint64))
    assert set(codes.tolist()) <= {-2, 0}


def test_arguments_that_do_not_fit_are_refused() -> None:
    native = pytest.importorskip("adaline._native")
    texts, codes, counts = Texts.of(["a", "b"]), np.zeros(2, np.int32), np.zeros(2, np.int64)
    each = texts.data, texts.offsets
    wrong = [
        lambda: native.distinct_texts(codes[:1], *each, None),
        lambda: native.distinct_texts(codes, *each, np.zeros(3, np.int64)),
        lambda: native.distinct_texts(codes, texts.data, np.array([0, 5, 2]), None),
        lambda: native.order_texts(np.zeros(3, np.int64), *each),
        lambda: native.take_texts(*each, np.array([2])),
        lambda: native.take_texts(*each, np.array([-1])),
        lambda: native.index_texts(np.zeros(2, np.uint64), *each),
        lambda: native.index_numbers(np.zeros(3, np.uint64), np.zeros(1)),
        lambda: native.find_numbers(codes, np.zeros(2), np.zeros(9), np.zeros(8, np.uint64)),
        lambda: native.count_rows(counts, np.array([0, 2], np.int32), np.array([0, 2])),
        lambda: native.count_rows(counts, codes, np.array([0, 3])),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"must|fit|no such|no count"):
            call()


def test_words_and_letters_of_other_alphabets_lie_between_others() -> None:
    values = ["plain one", "ÄPFEL und Straße", "", "plain two", "x İstanbul ſ", "three"]
    texts = Texts.of(["skipped ü", *values])
    words, starts = Texts(texts.data, texts.offsets[1:]).words(2)
    each = [re.findall(r"\w\w+", value.lower()) for value in values]
    expected = [[*one, *(f"{a} {b}" for a, b in pairwise(one))] for one in each]
    assert words.to_list() == [word for one in expected for word in one]
    assert np.diff(starts).tolist() == [*map(len, expected)]
