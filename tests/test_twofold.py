"""Double-double arithmetic against exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import twofold

TWOFOLD_ROUNDING = 2.0**-100

signs = st.sampled_from([-1.0, 1.0])
any_float = st.floats(-1e307, 1e307, allow_nan=False)
# Numbers whose products neither overflow nor lose their tails below the smallest float.
moderate = st.builds(math.ldexp, st.floats(0.5, 1.0, exclude_max=True), st.integers(-300, 300))
numbers = st.one_of(st.just(0.0), st.builds(lambda s, m: s * m, signs, moderate))
pairs = st.builds(lambda hi, tail: twofold.two_sum(hi, hi * 2.0**-53 * tail), numbers, st.floats(-1.0, 1.0))
near = st.builds(lambda s, m, shift: s * math.ldexp(m, shift), signs, st.floats(1.0, 2.0), st.integers(-3, 3))
near_pairs = st.builds(lambda hi, tail: twofold.two_sum(hi, hi * 2.0**-53 * tail), near, st.floats(-1.0, 1.0))

Pair = tuple[float, float]


def exact(pair: Pair) -> Fraction:
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


def assert_normal(pair: Pair) -> None:
    assert pair[0] + pair[1] == pair[0]


@given(a=any_float, b=any_float)
def test_two_sum_is_exact(a: float, b: float) -> None:
    s, e = twofold.two_sum(a, b)
    assert s == a + b
    assert exact((s, e)) == Fraction(a) + Fraction(b)


@given(a=numbers, b=numbers)
def test_two_prod_is_exact(a: float, b: float) -> None:
    p, e = twofold.two_prod(a, b)
    assert p == a * b
    assert exact((p, e)) == Fraction(a) * Fraction(b)


@given(a=st.one_of(pairs, near_pairs), b=st.one_of(pairs, near_pairs))
def test_add_errs_little_against_its_terms(a: Pair, b: Pair) -> None:
    total = twofold.add(*a, *b)
    assert_normal(total)
    assert abs(exact(total) - (exact(a) + exact(b))) <= TWOFOLD_ROUNDING * (abs(exact(a)) + abs(exact(b)))


@given(a=near_pairs, b=near_pairs)
def test_add_is_relatively_exact_where_nothing_cancels(a: Pair, b: Pair) -> None:
    b = b if a[0] * b[0] > 0 else (-b[0], -b[1])
    total, sought = twofold.add(*a, *b), exact(a) + exact(b)
    assert abs(exact(total) - sought) < TWOFOLD_ROUNDING * abs(sought)


@given(a=pairs, b=pairs)
def test_multiply_is_relatively_exact(a: Pair, b: Pair) -> None:
    product, sought = twofold.multiply(*a, *b), exact(a) * exact(b)
    assert_normal(product)
    assert abs(exact(product) - sought) <= TWOFOLD_ROUNDING * abs(sought)


@given(terms=st.lists(near_pairs, min_size=1, max_size=70))
def test_sum_rows_errs_little_against_its_terms(terms: list[Pair]) -> None:
    hi, lo = (np.array(part) for part in zip(*terms, strict=True))
    kept = hi.copy(), lo.copy()
    total = twofold.sum_rows(hi, lo)
    size = sum(abs(exact(term)) for term in terms)
    assert abs(exact(total) - sum(exact(term) for term in terms)) <= TWOFOLD_ROUNDING * size
    np.testing.assert_array_equal((hi, lo), kept)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 31, 32, 33, 1000])
def test_sum_rows_adds_every_row_of_every_column(n: int) -> None:
    hi = np.arange(1.0, n + 1)[:, None] * [1.0, 2.0**60, -3.0]
    lo = np.full_like(hi, 2.0**-60)
    total = twofold.sum_rows(hi, lo)
    for j, factor in enumerate((1, 2**60, -3)):
        sought = factor * Fraction(n * (n + 1), 2) + n * Fraction(1, 2**60)
        assert abs(exact((total[0][j], total[1][j])) - sought) <= TWOFOLD_ROUNDING * abs(sought)


@pytest.mark.parametrize("operation", [twofold.add, twofold.multiply])
def test_arrays_and_numbers_give_the_same_bits(operation: Callable[..., Pair]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    arrays = operation(a, a * 2.0**-54, b, b * 2.0**-55)
    one_by_one = [operation(x, x * 2.0**-54, y, y * 2.0**-55) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(np.transpose(arrays), one_by_one)


@pytest.mark.parametrize("function", ["exp", "expm1", "log"])
def test_functions_of_twofold_numbers_are_right_to_28_digits(function: str) -> None:
    rng = np.random.default_rng(0)
    hi = np.concatenate([rng.uniform(-600, 600, 40), rng.uniform(-1, 1, 40), rng.uniform(-1e-9, 1e-9, 20)])
    hi = np.abs(hi) + 1e-3 if function == "log" else hi
    lo = hi * 2.0**-54 * rng.uniform(-1, 1, len(hi))
    found = getattr(twofold.Twofold(hi, lo), function)()
    with mpmath.workdps(50):
        for a, b, c, d in zip(hi, lo, *found, strict=True):
            sought = getattr(mpmath, function)(mpmath.mpf(a) + mpmath.mpf(b))
            assert abs(mpmath.mpf(c) + mpmath.mpf(d) - sought) <= 1e-28 * abs(sought)


def test_quotients_of_twofold_numbers() -> None:
    rng = np.random.default_rng(1)
    a, b = (twofold.Twofold(hi, hi * 2.0**-55) for hi in rng.normal(size=(2, 50)))
    for x, y, c, d in zip(zip(*a, strict=True), zip(*b, strict=True), *(a / b), strict=True):
        sought = exact(x) / exact(y)
        assert abs(exact((c, d)) - sought) <= TWOFOLD_ROUNDING * abs(sought)
