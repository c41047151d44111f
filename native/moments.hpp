// The moments of a block of dense rows, in one pass.
//
//   m = sum w v,  C = sum w v v',   v = (z - shift) 2^-e,  z = [x t]
//   centred:  mean = shift + 2^e d,  S = C - W d d',  d = m / W
//   raw:      shift = 0,  S = C
//
// The ones column of the panel makes m the last column of C. Rounding errors of S_jj are
// those of C_jj: small where the shift is near the mean, as the pilot rows make it; `noise`
// reports them to the solvers.
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

inline bool moments(const State<double>& s, const Dense& x, const Targets& y, bool centred,
             const double* exponent) {
    const index n = x.rows, D = x.columns, q = s.q, strips = q / strip + 1, padded = strips * strip;
    s.rows = double(n);
    s.mode = double(centred ? MomentMode::centred : MomentMode::raw);
    if (!n) return true;

    scratch.reserve(Panel::size(strips) + Blocks::size(strips) + 5 * padded + Panel::height, 7);
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
    const bool finite = s.finite();
    if (finite && s.W == 0) __builtin_memset(s.hi, 0, sizeof(double) * (4 + q) * q);
    return finite;
}

}  // namespace adaline::ADALINE_ISA
