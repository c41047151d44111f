// Outputs and exponentials in double-double, for slopes of likelihoods (src/adaline/twofold.py, sums/bounded_score.py).
//
//   z_i = offset_i + sum_j v_ji theta_j               v: one row of n numbers a coefficient
//   exp z = 2^k (1 + s),   k = round(z / ln 2),   s = exp(r) - 1,   r = z - k ln 2
//   s <- s^2 + 2 s, five times, from the series of exp(r / 32) - 1, of whose terms the last are rounding in one double
#pragma once

#include "functions.hpp"

namespace adaline::ADALINE_ISA {

inline constexpr double largest_exponent = 600;
inline constexpr int exp_halvings = 5;

// 1 / k!, k = 1 .. 7, as hi and lo, and from 8 to 12 as one double.
inline constexpr double inverse_factorials[][2] = {
    {1, 0}, {0.5, 0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57}, {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63}, {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73}};
inline constexpr double small_factorials[] = {0x1.a01a01a01a01ap-16, 0x1.71de3a556c734p-19, 0x1.27e4fb7789f5cp-22,
                                              0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29};

inline dd<vec> times(dd<vec> a, dd<vec> b) {
    const dd<vec> p = two_prod(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline dd<vec> exponential(dd<vec> z) {
    const vec held = within(z.hi, -largest_exponent, largest_exponent);
    z = {held, z.hi == held ? z.lo : vec{}};
    const vec k = whole(z.hi * 0x1.71547652b82fep0), none = vec{};
    const dd<vec> shift = k * dd<vec>{none + 0x1.62e42fefa39efp-1, none + 0x1.abc9e3b39803fp-56};
    dd<vec> r = z + dd<vec>{-shift.hi, -shift.lo};
    constexpr double share = 1.0 / (1 << exp_halvings);
    r = {r.hi * share, r.lo * share};
    vec tail = none;
    for (int i = 4; i >= 0; --i) tail = (tail + small_factorials[i]) * r.hi;
    dd<vec> s{tail, none};
    for (int i = 6; i >= 0; --i)
        s = times(s + dd<vec>{none + inverse_factorials[i][0], none + inverse_factorials[i][1]}, r);
    for (int i = 0; i < exp_halvings; ++i) s = times(s, s + dd<vec>{none + 2.0, none});
    s = s + dd<vec>{none + 1.0, none};
    const vec power = power_of_two(k);
    return {s.hi * power, s.lo * power};
}

inline void exponentials(double* hi, double* lo, index n) {
    for (index i = 0; i < n; i += lanes) {
        const dd<vec> e = exponential({up_to(hi + i, n - i), up_to(lo + i, n - i)});
        store_head(hi + i, e.hi, n - i);
        store_head(lo + i, e.lo, n - i);
    }
}

// z (2, n), hi and lo; v (terms, n).
inline void twofold_outputs(double* z, const double* v, const double* hi, const double* lo, const double* offset,
                            index terms, index n) {
    for (index i = 0; i < n; i += lanes) {
        dd<vec> sum{up_to(offset + i, n - i), vec{}};
        for (index j = 0; j < terms; ++j)
            accumulate(sum, up_to(v + j * n + i, n - i), dd<vec>{broadcast(hi[j]), broadcast(lo[j])});
        sum = two_sum(sum.hi, sum.lo);
        store_head(z + i, sum.hi, n - i);
        store_head(z + n + i, sum.lo, n - i);
    }
}

}  // namespace adaline::ADALINE_ISA
