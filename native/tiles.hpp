// C += U'V for panels U and V (C = U'V for a fresh C), upper triangle, by register tiles.
//
//   C_ab += sum_i u_ia v_ib,   where this is symmetric: U = V, or V with weighted rows
//
// A tile is one strip of a by up to `width` strips of b. Its accumulators stay in registers
// over all rows of the panel: a row costs strip broadcasts and width loads for strip x width
// multiply-adds. C is cut into blocks of strip x strip, each contiguous, so that a tile is
// contiguous. The strips of b stay in the first cache while a runs over all up to them.
#pragma once

#include "pack.hpp"

namespace adaline::ADALINE_ISA {

struct Blocks {
    static constexpr index area = strip * strip;

    double* C;
    index strips;

    static index size(index strips) { return strips * strips * area; }
    double* block(index i, index j) const { return C + (i * strips + j) * area; }
    double* at(index a, index b) const {
        return block(a / strip, b / strip) + a % strip * strip + b % strip;
    }
    double operator()(index a, index b) const { return *at(a, b); }
};

template <int J>
void tile(const double* a, const double* b, index rows, bool fresh, double* C, Ahead& walk) {
    constexpr int parts = strip / lanes;
    vec sum[strip][J * parts] = {};
    Ahead ahead = walk;
    for (int i = 0; i < J * Blocks::area; i += 8) __builtin_prefetch(C + i, 1, 3);
    for (index r = 0; r < rows; ++r, a += strip, b += strip) {
        ahead.step();
        vec bj[J * parts];
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j)
            bj[j] = load(b + j / parts * Panel::pitch + j % parts * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < strip; ++i) {
            const vec ai = broadcast(a[i]);
#pragma GCC unroll 8
            for (int j = 0; j < J * parts; ++j) sum[i][j] = multiply_add(ai, bj[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j) {
            double* const c = C + j / parts * Blocks::area + i * strip + j % parts * lanes;
            store(c, fresh ? sum[i][j] : load(c) + sum[i][j]);
        }
    walk = ahead;
}

inline void add_products(const Panel& left, const Panel& right, index n, bool fresh, const Blocks& C, Ahead& walk) {
    constexpr decltype(&tile<1>) tiles[] = {tile<1>, tile<2>, tile<3>};
    for (index first = 0; first < right.strips; first += width) {
        const index last = first + width < right.strips ? first + width : right.strips;
        for (index i = 0; i < last; ++i) {
            const index j = i > first ? i : first;
            tiles[last - j - 1](left.strip_at(i), right.strip_at(j), n, fresh, C.block(i, j), walk);
        }
    }
}

}  // namespace adaline::ADALINE_ISA
