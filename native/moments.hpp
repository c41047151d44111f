// The moments of a block of dense rows, in one pass.
//
//   m = sum w v,  C = sum w v v',   v = (z - shift) 2^-e,  z = [x t]
//   centred:  mean = shift + 2^e d,  S = C - W d d',  d = m / W
//   raw:      shift = 0,  S = C
//
// The ones column of the panel makes m the last column of C. Rounding errors of S_jj are
// those of C_jj: small where the shift is near the mean, as the pilot rows make it; `noise`
// reports them to the solvers.
//
// Blocks of few products, as single calls of partial_fit bring, are summed in double-double: S is then rounded once,
// by errors e that are known, and
//
//   noise_i = max_j |e_ij| sqrt(S_ii / S_jj),   so that |e_ij| <= sqrt(noise_i noise_j)
#pragma once

#include "scratch.hpp"
#include "state.hpp"
#include "tiles.hpp"

namespace adaline::ADALINE_ISA {

inline double total(const double* weight, index n) {
    if (!weight) return double(n);
    double W = 0;
    for (index i = 0; i < n; ++i) W += weight[i];
    return W;
}

// S = C - W d d' by squares, each stored twice. C is symmetric to the bit, and so is S.
inline void finish(const State<double>& s, const Blocks& C, const double* d, double W) {
    const index q = s.q;
    const auto put = [&](vec (&square)[lanes], index a, index b) {
        const index high = q - a, wide = q - b;
#pragma GCC unroll 8
        for (int l = 0; l < lanes; ++l)
            if (l < high) store_head(s.S + (a + l) * q + b, square[l], wide);
    };
    for (index a = 0; a < q; a += lanes)
        for (index b = a; b < q; b += lanes) {
            vec square[lanes];
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l)
                square[l] = load(C.at(a + l, b)) - d[a + l] * load(d + b) * W;
            put(square, a, b);
            transpose(square);
            if (b > a) put(square, b, a);
        }
}

// Whether all sums are finite; those of no weight are zero.
inline bool settled(const State<double>& s) {
    const bool finite = s.finite();
    if (finite && s.W == 0) __builtin_memset(s.hi, 0, sizeof(double) * (4 + s.q) * s.q);
    return finite;
}

inline constexpr index few_products = 1 << 13;  // rows x columns^2; adaline.sums.moments.FEW_PRODUCTS is the same

inline dd<double> quotient(dd<double> a, dd<double> b) {
    const double first = a.hi / b.hi;
    const dd<double> rest = a + (-first) * b;
    return fast_sum(first, rest.hi / b.hi);
}

inline dd<double> scaled(dd<double> a, double exponent) {
    const int e = whole(exponent);
    return {std::ldexp(a.hi, e), std::ldexp(a.lo, e)};
}

inline double inverse_length(double square) { return square > 0 ? 1 / std::sqrt(square) : 0; }

// What rounding once adds to the noise of a column, given its share max_j |e_ij| / sqrt(S_jj) and one over its own
// length: at most what rounding can do, and at least a quarter, as errors of double-double itself are not counted.
inline double rounded_once(double share, double inverse, double most) {
    constexpr double outwards = 1 + 1.0 / (1 << 20);  // for rounding of lengths
    return inverse > 0 ? std::fmax(std::fmin(outwards * share / inverse, most), most / 4) : most;
}

inline index padded_few(index q) { return (q + lanes) / lanes * lanes; }

// The same in double-double, given shift and scaling: v is exact, and S is C - m d' rounded once.
inline void moments_of_few(const State<double>& s, const Dense& x, const Targets& y, bool centred,
                           const double* shift, const Scaling& scaling) {
    const index n = x.rows, q = s.q, padded = padded_few(q);
    double *const hi = scratch.zeros(padded * (q + 1)), *const lo = scratch.zeros(padded * (q + 1));
    double *const v = scratch.zeros(padded), *const rest = scratch.zeros(padded);
    double *const d = scratch.zeros(q + 1), *const d_lo = scratch.zeros(q + 1);
    double *const own = scratch.zeros(q), *const shorter = scratch.zeros(q);
    const auto sum = [&](index a, index b) { return fast_sum(hi[a * padded + b], lo[a * padded + b]); };
    v[q] = 1;
    for (index i = 0; i < n; ++i) {
        const auto set = [&](index j, double z) {
            const dd<double> apart = two_sum(z * scaling.unit[j], -scaling.offset[j]);
            v[j] = apart.hi * scaling.scale[j];
            rest[j] = apart.lo * scaling.scale[j];
        };
        typed(x, [&](const auto& m) {
            for (index j = 0; j < x.columns; ++j) set(j, double(m(i, j)));
        });
        for (index k = 0; k < y.K; ++k) set(x.columns + k, y.t[i * y.K + k]);
        const double w = y.weight ? y.weight[i] : 1;
        for (index a = 0; a <= q; ++a) {
            const dd<double> wv = w * dd<double>{v[a], rest[a]};
            for (index b = a / lanes * lanes; b <= q; b += lanes) {
                double *const high = hi + a * padded + b, *const low = lo + a * padded + b;
                const dd<vec> z{load(v + b), load(rest + b)};
                dd<vec> total{load(high), load(low)};
                accumulate(total, broadcast(wv.hi), z);
                store(high, total.hi);
                store(low, total.lo + wv.lo * z.hi);
            }
        }
    }
    const dd<double> W = sum(q, q);
    s.W = W.hi;
    for (index j = 0; j < q; ++j) {
        const dd<double> m = sum(j, q), mean = centred && s.W > 0 ? quotient(m, W) : dd<double>{0, 0};
        d[j] = mean.hi, d_lo[j] = mean.lo;
        const dd<double> far = scaled(mean, s.exponent[j]), near = two_sum(shift[j], far.hi);
        const dd<double> first = centred ? fast_sum(near.hi, near.lo + far.lo) : m;
        s.hi[j] = first.hi;
        s.lo[j] = first.lo;
    }
    for (index a = 0; a < q; ++a) {
        const dd<double> m = sum(a, q);
        for (index b = a; b < q; ++b) {
            const dd<double> c = sum(a, b), p = m.hi * dd<double>{d[b], d_lo[b]};
            const dd<double> left = c + dd<double>{-p.hi, -(p.lo + m.lo * d[b])};
            const double rounded = left.hi + left.lo, error = std::fabs(left.lo - (rounded - left.hi));
            s.S[a * q + b] = rounded;
            if (b > a) s.S[b * q + a] = error;  // until all lengths are known
            if (b == a) own[a] = error, shorter[a] = inverse_length(std::fabs(rounded));
        }
    }
    for (index a = 0; a < q; ++a) {
        double share = own[a] * shorter[a];
        for (index b = 0; b < a; ++b) share = std::fmax(share, s.S[a * q + b] * shorter[b]);
        for (index b = a + 1; b < q; ++b) share = std::fmax(share, s.S[b * q + a] * shorter[b]);
        const double most = roundoff * std::fabs(s.S[a * q + a]);
        const double sums = double(4 * (n + 8)) * roundoff * roundoff * sum(a, a).hi;
        s.noise[a] = rounded_once(share, shorter[a], most) + sums;
    }
    for (index a = 0; a < q; ++a)
        for (index b = 0; b < a; ++b) s.S[a * q + b] = s.S[b * q + a];
}

inline bool moments(const State<double>& s, const Dense& x, const Targets& y, bool centred,
             const double* exponent) {
    const index n = x.rows, D = x.columns, q = s.q, strips = q / strip + 1, padded = strips * strip;
    s.rows = double(n);
    s.mode = double(centred ? MomentMode::centred : MomentMode::raw);
    if (!n) return true;

    const bool few = n * q * q <= few_products;
    const index extra = few ? 2 * (padded_few(q) * (q + 2) + 2 * q + 1) : 0;
    scratch.reserve(Panel::size(strips) + Blocks::size(strips) + 5 * padded + Panel::height + extra, 7 + (few ? 8 : 0));
    const Panel panel{scratch.array(Panel::size(strips)), strips};
    const Blocks C{scratch.array(Blocks::size(strips)), strips};
    panel.clear(D);
    Scaling scaling{scratch.zeros(padded), scratch.zeros(padded), scratch.zeros(padded)};
    double *const shift = scratch.zeros(padded), *const d = scratch.zeros(padded);
    double* const root = y.weight ? scratch.array(Panel::height) : nullptr;

    const Pilot pilot(n, y.weight);
    const auto look = [&](index j, auto z) {
        shift[j] = centred ? pilot.mean(z) : 0;
        s.exponent[j] = exponent ? exponent[j] : pilot.exponent(z, shift[j]);
        scaling.set(j, shift[j], s.exponent[j]);
    };
    typed(x, [&](const auto& m) {
        for (index j = 0; j < D; ++j) look(j, [&](index i) { return m(i, j); });
    });
    for (index k = 0; k < y.K; ++k) look(D + k, [&](index i) { return y.t[i * y.K + k]; });

    if (few) {
        moments_of_few(s, x, y, centred, shift, scaling);
        return settled(s);
    }
    for (index first = 0; first < n; first += Panel::height) {
        const index rows = n - first < Panel::height ? n - first : Panel::height;
        for (index i = 0; root && i < rows; i += lanes) store(root + i, roots(up_to(y.weight + first + i, rows - i)));
        if (root)
            pack(panel, x, y.t, y.K, first, rows, Centred<true>{scaling, root});
        else
            pack(panel, x, y.t, y.K, first, rows, Centred<false>{scaling, root});
        Ahead ahead(x, first + Panel::height, Panel::height);
        add_products(panel, panel, rows, first == 0, C, ahead);
    }

    s.W = total(y.weight, n);
    for (index j = 0; j < q; ++j) {
        const double m = C(j, q);
        s.noise[j] = (centred ? 8 : 8 + n / Panel::height / 2) * roundoff * C(j, j);
        if (centred && s.W > 0) d[j] = m / s.W;
        const dd<double> first = two_sum(shift[j], std::ldexp(d[j], whole(s.exponent[j])));
        s.hi[j] = centred ? first.hi : m;
        s.lo[j] = centred ? first.lo : 0;
    }
    finish(s, C, d, s.W);
    return settled(s);
}

}  // namespace adaline::ADALINE_ISA
