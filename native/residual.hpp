// Residuals, and their sums with the columns, in double-double.
//
//   r_i = t_i 2^-e_t - theta_0 - sum_j v_ij theta_j,   v_ij = x_ij 2^-e_j
//   g = [ sum w r,  sum w v_j r,  sum w r^2 ]          for each target
//
// These are the right-hand sides of iterative refinement: r is small against its terms, so it
// is formed with 106 bits from raw, uncentred data. A panel holds rows in the lanes of its
// vectors, column after column: theta is broadcast in the first sweep, the sums of the
// second stay in the lanes, and nothing is added across lanes before the end of the call.
#pragma once

#include "scale.hpp"
#include "scratch.hpp"

namespace adaline::ADALINE_ISA {

inline constexpr int groups = lanes == 8 ? 4 : 2;  // of `lanes` rows each: what registers hold
inline constexpr index lot = groups * lanes;       // rows of a panel
inline constexpr index stretch = 64;               // rows asked for ahead: long runs of a column

// v[j][i] = x_ij 2^-e_j; rows beyond n are zero.
template <class T>
void pack_lot(double* v, const Matrix<T>& x, index first, index n, const Scaling& scaling) {
    const index D = x.columns;
    const bool plain = n == lot && !scaling.extreme;
    if (plain && by_columns(x)) {
        for (index j = 0; j < D; ++j)
            for (int k = 0; k < groups; ++k)
                store(v + j * lot + k * lanes, load(x.at(first + k * lanes, j)) * scaling.scale[j]);
    } else if (plain && by_rows(x)) {
        for (index j = 0; j < D; j += lanes)
            for (int k = 0; k < groups; ++k) {
                const index present = D - j;
                vec square[lanes];
#pragma GCC unroll 8
                for (int l = 0; l < lanes; ++l) {
                    const T* const z = x.at(first + k * lanes + l, j);
                    square[l] = present >= lanes ? load(z) : head(z, present);
                    square[l] *= load(scaling.scale + j);
                }
                transpose(square);
#pragma GCC unroll 8
                for (int l = 0; l < lanes; ++l) store(v + (j + l) * lot + k * lanes, square[l]);
            }
    } else {
        for (index j = 0; j < D; ++j)
            for (index i = 0; i < lot; ++i)
                v[j * lot + i] = i < n ? scaling.apply(j, x(first + i, j)) : 0;
    }
}

// r = t - theta_0 - sum_j v_j theta_j for the rows of a panel.
inline void residuals(dd<vec> (&r)[groups], const double* v, index D, const double* t,
                      const double* hi, const double* lo, Ahead& ahead) {
    dd<vec> p[groups];
#pragma GCC unroll 4
    for (int k = 0; k < groups; ++k) p[k] = {broadcast(hi[0]), broadcast(lo[0])};
    for (index j = 0; j < D; ++j) {
        const dd<vec> theta{broadcast(hi[1 + j]), broadcast(lo[1 + j])};
#pragma GCC unroll 4
        for (int k = 0; k < groups; ++k) {
            accumulate(p[k], load(v + j * lot + k * lanes), theta);
            ahead.step();
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < groups; ++k) {
        const dd<vec> s = two_sum(load(t + k * lanes), -p[k].hi);
        r[k] = fast_sum(s.hi, s.lo - p[k].lo);
    }
}

// g_j += sum_i v_ij r_i, lane by lane.
inline void gather(double* g, const double* v, index D, const dd<vec> (&r)[groups]) {
    for (index j = 0; j < D; ++j, g += 2 * lanes) {
        dd<vec> s{load(g), load(g + lanes)};
#pragma GCC unroll 4
        for (int k = 0; k < groups; ++k) accumulate(s, load(v + j * lot + k * lanes), r[k]);
        s = fast_sum(s.hi, s.lo);
        store(g, s.hi);
        store(g + lanes, s.lo);
    }
}

inline void add_to(double* g, dd<vec> a) {
    const dd<vec> s = dd<vec>{load(g), load(g + lanes)} + a;
    store(g, s.hi);
    store(g + lanes, s.lo);
}

inline void residual(double* g, const Dense& x, const Targets& y, const Model& theta) {
    const index n = x.rows, D = x.columns, K = y.K, terms = D + 2, padded = D + lanes;
    scratch.reserve(3 * padded + padded * lot + 2 * lot + 2 * K * terms * lanes + 3 * K, 10);
    Scaling scaling{scratch.zeros(padded), scratch.zeros(padded), scratch.zeros(padded)};
    Scaling target{scratch.array(K), scratch.array(K), scratch.array(K)};
    double *const v = scratch.array(padded * lot), *const t = scratch.zeros(lot);
    double *const w = scratch.zeros(lot), *const sums = scratch.zeros(2 * K * terms * lanes);
    for (index j = 0; j < D; ++j) scaling.set(j, 0, theta.exponent[j]);
    for (index k = 0; k < K; ++k) target.set(k, 0, theta.exponent[D + k]);

    Ahead ahead(x, n, 0);
    for (index first = 0; first < n; first += lot) {
        const index rows = n - first < lot ? n - first : lot;
        if (first % stretch == 0) ahead = Ahead(x, first + stretch, stretch);
        typed(x, [&](const auto& m) { pack_lot(v, m, first, rows, scaling); });
        for (index i = 0; i < lot; i += lanes) store(w + i, up_to(y.weight ? y.weight + first + i : ones, rows - i));
        for (index k = 0; k < K; ++k) {
            if (K == 1)
                for (index i = 0; i < lot; i += lanes)
                    store(t + i, target.apply(0, up_to(y.t + first + i, rows - i)));
            else
                for (index i = 0; i < rows; ++i) t[i] = target.apply(k, y.t[(first + i) * K + k]);
            double* const sum = sums + 2 * k * terms * lanes;
            dd<vec> r[groups], rw[groups];
            residuals(r, v, D, t, theta.hi + k * (1 + D), theta.lo + k * (1 + D), ahead);
#pragma GCC unroll 4
            for (int h = 0; h < groups; ++h) {
                rw[h] = load(w + h * lanes) * r[h];
                add_to(sum, rw[h]);
                const dd<vec> square = two_prod(rw[h].hi, r[h].hi);
                add_to(sum + 2 * (1 + D) * lanes,
                       fast_sum(square.hi, square.lo + (rw[h].hi * r[h].lo + rw[h].lo * r[h].hi)));
            }
            gather(sum + 2 * lanes, v, D, rw);
        }
    }

    for (index c = 0; c < K * terms; ++c) {
        const double* const sum = sums + 2 * c * lanes;
        const dd<double> before{g[2 * c], g[2 * c + 1]};
        const dd<double> s = before + across_lanes({load(sum), load(sum + lanes)});
        g[2 * c] = s.hi;
        g[2 * c + 1] = s.lo;
    }
}

}  // namespace adaline::ADALINE_ISA
