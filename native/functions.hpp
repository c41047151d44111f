// exp, log1p and tanh of vectors, within two units in the last place, by additions and multiplications.
//
//   exp x = 2^n (1 + r + r^2 P(r)),   n = round(x / ln 2),  r = x - n ln 2,  |r| <= ln 2 / 2
//   log1p y = e ln 2 + log(1 + f),   1 + y = 2^e (1 + f),  1 + f between sqrt 1/2 and sqrt 2,  y >= 0
//   log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))),   s = f / (2 + f)                        (as in fdlibm)
//   tanh x = m / (m + 2),   m = 2^n (r + r^2 P(r)) + 2^n - 1 = exp(2 |x|) - 1,   with the sign of x
//
// ln 2 is split in two parts, the first short enough for its product with n to be exact. Sums that could cancel are of
// exact terms, so that small results keep their digits. NaN gives NaN; exp overflows to infinity and underflows to zero.
#pragma once

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

using bits = std::int64_t __attribute__((vector_size(8 * lanes)));

inline constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;

inline vec magnitude(vec a) { return (vec)((bits)a & 0x7fffffffffffffff); }

// -1, 0, 1 or NaN.
inline vec sign(vec a) { return a > 0.0 ? broadcast(1) : a < 0.0 ? broadcast(-1) : a; }

// a, held between low and high; NaN stays.
inline vec within(vec a, double low, double high) {
    const vec l = broadcast(low), h = broadcast(high);
    a = a < l ? l : a;
    return a > h ? h : a;
}

// The nearest whole number, for |a| < 2^51: what is left when the fraction does not fit.
inline constexpr double shifter = 0x1.8p52;
inline vec whole(vec a) { return (a + shifter) - shifter; }

// 2^n for whole n from -1022 to 1023.
inline vec power_of_two(vec n) { return (vec)(((words)(n + shifter) << 52) + std::uint64_t(0x3ff0000000000000)); }

// r + r^2 P(r) = exp(r) - 1 for |r| <= ln 2 / 2, error below 2e-19.
inline vec near_one(vec r) {
    constexpr double p[] = {0x1.1f731ea5352cap-29, 0x1.af4e196027428p-26, 0x1.27e4db57442fbp-22, 0x1.71de021a90822p-19,
                            0x1.a01a01a6dcaffp-16, 0x1.a01a01abef415p-13, 0x1.6c16c16c162ccp-10, 0x1.11111111100cep-7,
                            0x1.5555555555556p-5,  0x1.5555555555557p-3,  0x1p-1};
    vec sum = broadcast(p[0]);
#pragma GCC unroll 10
    for (int i = 1; i < 11; ++i) sum = multiply_add(sum, r, broadcast(p[i]));
    return multiply_add(r * r, sum, r);
}

struct Reduced {
    vec n, r;
};

inline Reduced by_ln2(vec x) {
    const vec n = whole(x * 0x1.71547652b82fep0);
    return {n, multiply_add(n, broadcast(-ln2_lo), multiply_add(n, broadcast(-ln2_hi), x))};
}

// In two factors, as 2^n itself may leave the range of a double where the result does not.
inline vec exp(vec x) {
    const auto [n, r] = by_ln2(within(x, -746, 710));
    const vec half = whole(n * 0.5);
    return (near_one(r) + 1.0) * power_of_two(half) * power_of_two(n - half);
}

inline vec log1p(vec y) {
    constexpr std::int64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd, pair = 0x4330000000000000;
    constexpr double R[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                            2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                            6.666666666666735130e-01};
    const bits biased = (bits)((words)(y + 1.0) + std::uint64_t(one - root)) >> 52;
    const vec e = (vec)(biased + pair) - (0x1p52 + 1023), unit = (vec)((2046 - biased) << 52);
    const vec f = multiply_add(y, unit, unit - 1.0), s = f / (f + 2.0), z = s * s, half = f * f * 0.5;
    vec sum = broadcast(R[0]);
#pragma GCC unroll 6
    for (int i = 1; i < 7; ++i) sum = multiply_add(sum, z, broadcast(R[i]));
    const vec rest = half - multiply_add(s, half + sum * z, e * ln2_lo);
    return multiply_add(e, broadcast(ln2_hi), f - rest);
}

inline vec tanh(vec x) {
    const auto [n, r] = by_ln2(within(magnitude(x) * 2.0, 0, 50));
    const vec unit = power_of_two(n), m = multiply_add(unit, near_one(r), unit - 1.0), y = m / (m + 2.0);
    return (vec)((bits)y | ((bits)x & std::int64_t(0x8000000000000000)));
}

}  // namespace adaline::ADALINE_ISA
