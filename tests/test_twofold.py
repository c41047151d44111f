"""Double-double arithmetic against exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaline import twofold
from tests.turns import in_turn

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


@given(a=any_float, b=any_float, c=numbers, d=numbers)
def test_two_sum_and_two_prod_are_exact(a: float, b: float, c: float, d: float) -> None:
    total, product = twofold.two_sum(a, b), twofold.two_prod(c, d)
    assert (total[0], product[0]) == (a + b, c * d)
    assert exact(total) == Fraction(a) + Fraction(b)
    assert exact(product) == Fraction(c) * Fraction(d)


either = st.one_of(pairs, near_pairs)


@given(a=either, b=either)
def test_sums_and_products_err_little_against_their_terms(a: Pair, b: Pair) -> None:
    x, y = exact(a), exact(b)
    size = abs(x) + abs(y)  # where signs agree, that of the sum
    for found, sought, against in ((twofold.add(*a, *b), x + y, size), (twofold.multiply(*a, *b), x * y, abs(x * y))):
        assert found[0] + found[1] == found[0]
        assert abs(exact(found) - sought) <= TWOFOLD_ROUNDING * against


@given(terms=st.lists(near_pairs, min_size=1, max_size=70))
def test_sum_rows_errs_little_against_its_terms(terms: list[Pair]) -> None:
    hi, lo = (np.array(part) for part in zip(*terms, strict=True))
    kept = hi.copy(), lo.copy()
    total = twofold.sum_rows(hi, lo)
    size = sum(abs(exact(term)) for term in terms)
    assert abs(exact(total) - sum(exact(term) for term in terms)) <= TWOFOLD_ROUNDING * size
    np.testing.assert_array_equal((hi, lo), kept)


@in_turn("n", [1, 2, 3, 5, 31, 32, 33, 1000])
def test_sum_rows_adds_every_row_of_every_column(n: int) -> None:
    hi = np.arange(1.0, n + 1)[:, None] * [1.0, 2.0**60, -3.0]
    lo = np.full_like(hi, 2.0**-60)
    total = twofold.sum_rows(hi, lo)
    for j, factor in enumerate((1, 2**60, -3)):
        sought = factor * Fraction(n * (n + 1), 2) + n * Fraction(1, 2**60)
        assert abs(exact((total[0][j], total[1][j])) - sought) <= TWOFOLD_ROUNDING * abs(sought)


@in_turn("operation", [twofold.add, twofold.multiply])
def test_arrays_and_numbers_give_the_same_bits(operation: Callable[..., Pair]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    arrays = operation(a, a * 2.0**-54, b, b * 2.0**-55)
    one_by_one = [operation(x, x * 2.0**-54, y, y * 2.0**-55) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(np.transpose(arrays), one_by_one)


@in_turn("function", ["exp", "expm1", "log"])
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
