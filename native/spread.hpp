// Mean, sum of squares about it, and largest magnitude of every column, in one read of x.
//
//   d = x - shift,   mean = shift + sum w d / W,   second = sum w d^2 - (sum w d)^2 / W,   largest = max |x|, w > 0
//
// The shift is the mean of some pilot rows, so that means of 1e9 cost no digits. Magnitudes are compared as integers,
// which have the same order for numbers of one sign, and in which NaN is the largest and therefore stays.
#pragma once

#include "functions.hpp"
#include "moments.hpp"
#include "outputs.hpp"

namespace adaline::ADALINE_ISA {

template <bool weighted>
void add_spread(const double* u, index n, const double* weight, vec shift, double* sums) {
    vec first{}, second{};
    bits most = (bits)load(sums + 2 * lanes);
    for (index i = 0; i < n; ++i) {
        const vec x = load(u + i * strip), d = x - shift;
        const vec w = broadcast(weighted ? weight[i] : 1), wd = weighted ? w * d : d;
        const bits counted = (bits)magnitude(!weighted || weight[i] > 0 ? x : x * 0.0);
        first += wd;
        second = multiply_add(wd, d, second);
        most = counted > most ? counted : most;
    }
    store(sums, load(sums) + first);
    store(sums + lanes, load(sums + lanes) + second);
    store(sums + 2 * lanes, (vec)most);
}

inline double spread(double* out, const Dense& x, const double* weight) {
    const index n = x.rows, D = x.columns, strips = D / strip + 1, pitch = strips * strip;
    const double W = total(weight, n);
    if (!(W > 0)) return 0;
    scratch.reserve(Panel::size(strips) + 6 * pitch, 5);
    const Panel panel{scratch.array(Panel::size(strips)), strips};
    double *const scale = scratch.zeros(pitch), *const offset = scratch.zeros(pitch), *const shift = scratch.zeros(pitch);
    double* const sums = scratch.zeros(3 * pitch);
    const Pilot pilot(n, weight);
    for (index j = 0; j < D; ++j) scale[j] = 1;
    typed(x, [&](const auto& m) {
        for (index j = 0; j < D; ++j) shift[j] = pilot.mean([&](index i) { return m(i, j); });
    });
    const index height = rows_at_once(strips);
    for (index first = 0; first < n; first += height) {
        const index rows = n - first < height ? n - first : height;
        pack_all(panel, x, first, rows, Viewed{scale, offset});
        Ahead ahead(x, first + height, height);
        for (index j = 0; j < D; j += lanes) {
            (weight ? add_spread<true> : add_spread<false>)(panel.column(j), rows, weight + (weight ? first : 0),
                                                            load(shift + j), sums + 3 * j);
            for (index i = 0; i < rows; ++i) ahead.step();
        }
    }
    for (index j = 0; j < D; ++j) {
        const double* const s = sums + 3 * (j / lanes * lanes) + j % lanes;
        const double d = s[0] / W, second = s[lanes] - d * s[0];
        out[j] = shift[j] + d;
        out[D + j] = second < 0 ? 0 : second;
        out[2 * D + j] = s[2 * lanes];
    }
    return W;
}

}  // namespace adaline::ADALINE_ISA
