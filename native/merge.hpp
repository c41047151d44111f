// Merging moments, and taking rows out of them.
//
//   d = (mean_b - mean_a) 2^-e,  e = max(e_a, e_b)
//   merge:     W = W_a + W_b,  mean = mean_a + (W_b / W) 2^e d,  S = S_a + S_b + (W_a W_b / W) d d'
//   subtract:  W = W_a - W_b,  mean = mean_a - (W_b / W) 2^e d,  S = S_a - S_b - (W_a W_b / W) d d'
//
// (Chan, Golub, LeVeque 1979): one formula, with b counted by the sign +1 or -1. Raw sums add
// without d. A state with W = 0 is the zero, whatever its rows.
#pragma once

#include "scratch.hpp"
#include "state.hpp"

namespace adaline::ADALINE_ISA {

inline double scaled_difference(double b, double a, double rest, double e) {
    const double d = b - a;
    if (__builtin_isfinite(d)) return std::ldexp(d + rest, -whole(e));
    return std::ldexp(b / 2 - a / 2, 1 - whole(e));
}

// a <- a + sign b for both W > 0. A column that is zero in one of them has no scale of its own there.
inline void combine(const State<double>& a, const State<const double>& b, double sign) {
    const index q = a.q;
    const bool centred = a.mode == double(MomentMode::centred);
    const double W = a.W + sign * b.W, share = b.W / W, c = sign * a.W * share;

    const index padded = q + lanes;
    scratch.reserve(3 * padded, 3);
    double *const fa = scratch.zeros(padded), *const fb = scratch.zeros(padded), *const d = scratch.zeros(padded);
    for (index j = 0; j < q; ++j) {
        const bool only_b = a.S[j * q + j] == 0 && a.hi[j] == 0, only_a = b.S[j * q + j] == 0 && b.hi[j] == 0;
        const bool take_b = !only_a && (only_b || b.exponent[j] > a.exponent[j]);
        const double e = take_b ? b.exponent[j] : a.exponent[j];
        fa[j] = only_b ? 0 : std::ldexp(1, whole(a.exponent[j] - e));
        fb[j] = only_a ? 0 : std::ldexp(1, whole(b.exponent[j] - e));
        a.exponent[j] = e;
        dd<double> first;
        if (centred) {
            d[j] = scaled_difference(b.hi[j], a.hi[j], b.lo[j] - a.lo[j], e);
            first = two_sum(a.hi[j], std::ldexp(sign * share * d[j], whole(e)));
            first = fast_sum(first.hi, first.lo + a.lo[j]);
        } else {
            const double f = sign * fb[j];
            first = dd<double>{fa[j] * a.hi[j], fa[j] * a.lo[j]} + dd<double>{f * b.hi[j], f * b.lo[j]};
        }
        a.hi[j] = first.hi;
        a.lo[j] = first.lo;
        a.noise[j] = a.noise[j] * fa[j] * fa[j] + b.noise[j] * fb[j] * fb[j];
        // Both sums below round by at most a half unit of what was there, and c d d by less than 8 of its own.
        if (sign < 0) a.noise[j] += roundoff * (2 * a.S[j * q + j] * fa[j] * fa[j] - 8 * c * d[j] * d[j]);
    }
    for (index i = 0; i < q; ++i) {
        double* const Sa = a.S + i * q;
        const double* const Sb = b.S + i * q;
        for (index j = 0, left = q; j < q; j += lanes, left -= lanes) {
            const vec old = up_to(Sa + j, left), more = up_to(Sb + j, left), dj = load(d + j);
            store_head(Sa + j, (old * (fa[i] * load(fa + j)) + sign * (more * (fb[i] * load(fb + j)))) + c * (d[i] * dj), left);
        }
        if (sign > 0) a.noise[i] += roundoff / 4 * Sa[i];
    }
    a.W = W;
}

inline void merge(const State<double>& a, const State<const double>& b) {
    const double rows = a.rows + b.rows;
    if (a.W == 0)
        __builtin_memcpy(&a.rows, &b.rows, sizeof(double) * State<double>::size(a.q));
    else if (b.W != 0)
        combine(a, b, +1);
    a.rows = rows;
}

inline void subtract(const State<double>& a, const State<const double>& b) {
    const double rows = a.rows - b.rows, mode = a.mode;
    if (b.W != 0) {
        if (a.W - b.W > 1e-12 * a.W) {
            combine(a, b, -1);
        } else {
            __builtin_memset(&a.rows, 0, sizeof(double) * State<double>::size(a.q));
            a.mode = mode;
        }
    }
    a.rows = rows;
}

}  // namespace adaline::ADALINE_ISA
