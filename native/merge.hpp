// Merging moments, and taking rows out of them.
//
//   d = (mean_b - mean_a) 2^-e,  e = max(e_a, e_b)
//   merge:     W = W_a + W_b,  mean = mean_a + (W_b / W) 2^e d,  S = S_a + S_b + (W_a W_b / W) d d'
//   subtract:  W = W_a - W_b,  mean = mean_a - (W_b / W) 2^e d,  S = S_a - S_b - (W_a W_b / W) d d'
//
// (Chan, Golub, LeVeque 1979): one formula, with b counted by the sign +1 or -1. Raw sums add
// without d. A state with W = 0 is the zero, whatever its rows. All of it is computed in double-double, so that S_ij is
// rounded once; merging adds the errors of that, which are known, to `noise`. Sums of weights W that are no whole
// numbers are rounded each time: solvers allow for that.
#pragma once

#include "functions.hpp"
#include "moments.hpp"

namespace adaline::ADALINE_ISA {

inline dd<double> scaled_difference(dd<double> b, dd<double> a, double e) {
    dd<double> d = two_sum(b.hi, -a.hi);
    d = two_sum(d.hi, d.lo + (b.lo - a.lo));
    if (__builtin_isfinite(d.hi)) return scaled(d, -e);
    return {std::ldexp(b.hi / 2 - a.hi / 2, 1 - whole(e)), 0};
}

inline dd<double> product(dd<double> a, dd<double> b) {
    const dd<double> p = two_prod(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// a <- a + sign b for both W > 0. A column that is zero in one of them has no scale of its own there.
inline void combine(const State<double>& a, const State<const double>& b, double sign) {
    const index q = a.q;
    const bool centred = a.mode == double(MomentMode::centred), counts = a.W == a.rows && b.W == b.rows;
    const dd<double> W = two_sum(a.W, sign * b.W), share = quotient({sign * b.W, 0}, W), c = a.W * share;
    // Taken out, rounded weights leave their errors behind in a smaller sum.
    const double uneven = sign < 0 && !counts ? 4 * a.rows * a.W / W.hi : 0;

    const index padded = q + lanes;
    scratch.reserve(5 * padded, 5);
    double *const fa = scratch.zeros(padded), *const fb = scratch.zeros(padded);
    double *const d = scratch.zeros(padded), *const d_lo = scratch.zeros(padded);
    double* const shorter = scratch.zeros(padded);  // one over the lengths sqrt(S_jj) of the result
    for (index j = 0; j < q; ++j) {
        const bool only_b = a.S[j * q + j] == 0 && a.hi[j] == 0, only_a = b.S[j * q + j] == 0 && b.hi[j] == 0;
        const bool take_b = !only_a && (only_b || b.exponent[j] > a.exponent[j]);
        const double e = take_b ? b.exponent[j] : a.exponent[j];
        fa[j] = only_b ? 0 : std::ldexp(1, whole(a.exponent[j] - e));
        fb[j] = only_a ? 0 : std::ldexp(1, whole(b.exponent[j] - e));
        a.exponent[j] = e;
        dd<double> first;
        if (centred) {
            const dd<double> apart = scaled_difference({b.hi[j], b.lo[j]}, {a.hi[j], a.lo[j]}, e);
            d[j] = apart.hi, d_lo[j] = apart.lo;
            first = dd<double>{a.hi[j], a.lo[j]} + scaled(product(share, apart), e);
        } else {
            const double f = sign * fb[j];
            first = dd<double>{fa[j] * a.hi[j], fa[j] * a.lo[j]} + dd<double>{f * b.hi[j], f * b.lo[j]};
        }
        a.hi[j] = first.hi;
        a.lo[j] = first.lo;
        const double before = a.S[j * q + j] * fa[j] * fa[j], between = std::fabs(c.hi) * d[j] * d[j];
        shorter[j] = inverse_length(before + b.S[j * q + j] * fb[j] * fb[j] + between);  // of a merge
        a.noise[j] = a.noise[j] * fa[j] * fa[j] + b.noise[j] * fb[j] * fb[j];
        if (sign < 0) a.noise[j] += roundoff * (uneven * between + 16 * roundoff * (before + between));
    }
    const vec c_hi = broadcast(c.hi), c_lo = broadcast(c.lo);
    for (index i = 0; i < q; ++i) {
        double* const Sa = a.S + i * q;
        const double* const Sb = b.S + i * q;
        const vec di = broadcast(d[i]), di_lo = broadcast(d_lo[i]);
        vec share = broadcast(0.0);
        for (index j = 0, left = q; j < q; j += lanes, left -= lanes) {
            const vec dj = load(d + j), dj_lo = load(d_lo + j);
            dd<vec> between = two_prod(di, dj);
            between.lo = between.lo + (di * dj_lo + di_lo * dj);
            const dd<vec> more = two_prod(c_hi, between.hi);
            const dd<vec> own = two_sum(up_to(Sa + j, left) * (fa[i] * load(fa + j)),
                                        sign * (up_to(Sb + j, left) * (fb[i] * load(fb + j))));
            const dd<vec> sum = two_sum(own.hi, more.hi);
            const vec rest = sum.lo + (own.lo + (more.lo + (c_hi * between.lo + c_lo * between.hi)));
            const dd<vec> rounded = two_sum(sum.hi, rest);
            const vec own_share = magnitude(rounded.lo) * load(shorter + j);
            store_head(Sa + j, rounded.hi, left);
            share = own_share > share ? own_share : share;
        }
        double largest = 0;
        for (int l = 0; l < lanes; ++l) largest = std::fmax(largest, share[l]);
        const double most = roundoff * std::fabs(Sa[i]);
        a.noise[i] += sign < 0 ? most : rounded_once(largest, shorter[i], most);
    }
    a.W = W.hi;
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
