// Outputs of linear machines over a panel, and the sums that flow back, by register tiles.
//
//   z_ki = theta_k'u_i,   g_k += sum_i s_ki u_i,   U = c V,     u = (v, 1),  v = x scale + offset
//
// The ones column stands last, as a column of scale 0 and offset 1. Outputs are gathered in lanes of columns, for a
// strip of rows at a time, and added across lanes at the end, so that z and all that is made of it has rows in its
// lanes. Columns are taken in spans that stay in the first cache together with their part of theta.
#pragma once

#include "pack.hpp"

namespace adaline::ADALINE_ISA {

struct Viewed {
    const double *scale, *offset;

    struct Columns {
        vec scale, offset;
        vec at(index, vec z) const { return multiply_add(z, scale, offset); }
    };
    Columns from(index j) const { return {load(scale + j), load(offset + j)}; }
    double one(index j, index, double z) const { return multiply_add(z, scale[j], offset[j]); }
};

inline constexpr int parts = strip / lanes;      // vectors of a strip
inline constexpr index span = 256 / strip;       // strips whose theta stays in the first cache
inline constexpr int abreast = 3;                // outputs that are formed together

// Rows of a panel: fewer where columns are many, so that it stays in the second cache.
inline index rows_at_once(index strips) {
    const index rows = Panel::height * (1024 / strip) / strips / 8 * 8;
    return rows > Panel::height ? Panel::height : rows < 16 ? 16 : rows;
}

template <int K>
void outputs(const Panel& panel, index row, index from, index to, const double* theta, double* z, Ahead* walk) {
    const index pitch = panel.strips * strip;
    vec sum[K][strip] = {};
    for (index s = from; s < to; ++s) {
        const double* const u = panel.strip_at(s) + row * strip;
#pragma GCC unroll 2
        for (int p = 0; p < parts; ++p) {
            vec w[K];
#pragma GCC unroll 8
            for (int k = 0; k < K; ++k) w[k] = load(theta + k * pitch + s * strip + p * lanes);
#pragma GCC unroll 8
            for (int r = 0; r < strip; ++r) {
                const vec a = load(u + r * strip + p * lanes);
#pragma GCC unroll 8
                for (int k = 0; k < K; ++k) sum[k][r] = multiply_add(a, w[k], sum[k][r]);
            }
        }
        if (walk)
            for (int r = 0; r < strip; ++r) walk->step();
    }
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k)
#pragma GCC unroll 4
        for (int h = 0; h < parts; ++h) {
            vec square[lanes];
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) square[l] = sum[k][h * lanes + l];
            double* const at = z + k * Panel::height + row + h * lanes;
            store(at, load(at) + across(square));
        }
}

// z (K, height) of the first n rows, theta (K, strips x strip); what stands in rows beyond n is of no meaning.
inline void all_outputs(const Panel& panel, index n, index K, const double* theta, double* z, Ahead& walk) {
    constexpr decltype(&outputs<1>) tiles[] = {outputs<1>, outputs<2>, outputs<3>};
    const index pitch = panel.strips * strip;
    for (index k = 0; k < K; ++k) __builtin_memset(z + k * Panel::height, 0, sizeof(double) * Panel::height);
    for (index from = 0; from < panel.strips; from += span) {
        const index to = from + span < panel.strips ? from + span : panel.strips;
        for (index row = 0; row < n; row += strip)
            for (index k = 0, next; k < K; k = next) {
                const index pieces = (K - k + abreast - 1) / abreast;
                next = k + (K - k + pieces - 1) / pieces;
                tiles[next - k - 1](panel, row, from, to, theta + k * pitch, z + k * Panel::height, k ? nullptr : &walk);
            }
    }
}

template <int K, int J>
void gather(const double* u, index n, const double* slope, double* g, index pitch) {
    vec sum[K][J * parts] = {};
    for (index i = 0; i < n; ++i) {
        vec a[J * parts];
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j) a[j] = load(u + j / parts * Panel::pitch + i * strip + j % parts * lanes);
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
            const vec s = broadcast(slope[k * Panel::height + i]);
#pragma GCC unroll 8
            for (int j = 0; j < J * parts; ++j) sum[k][j] = multiply_add(s, a[j], sum[k][j]);
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k)
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j) {
            double* const at = g + k * pitch + j * lanes;
            store(at, load(at) + sum[k][j]);
        }
}

using Gather = decltype(&gather<1, 1>);

template <int... k>
inline Gather gather_of(index K, index J, std::integer_sequence<int, k...>) {
    constexpr Gather tiles[][strip] = {{gather<1 + k, 1>...}, {gather<1 + k, width == 1 ? 1 : 2>...}, {gather<1 + k, width>...}};
    return tiles[J - 1][K - 1];
}

// g (K, strips x strip) += slopes (K, height) times the first n rows.
inline void all_gathered(const Panel& panel, index n, index K, const double* slope, double* g) {
    const index pitch = panel.strips * strip;
    for (index s = 0; s < panel.strips; s += width) {
        const index J = s + width < panel.strips ? width : panel.strips - s;
        for (index k = 0, next; k < K; k = next) {
            const index pieces = (K - k + strip - 1) / strip;
            next = k + (K - k + pieces - 1) / pieces;
            gather_of(next - k, J, std::make_integer_sequence<int, strip>{})(
                panel.strip_at(s), n, slope + k * Panel::height, g + k * pitch + s * strip, pitch);
        }
    }
}

// The first n rows of a panel, each times a number.
inline void weigh(const Panel& out, const Panel& panel, index n, const double* c) {
    for (index s = 0; s < panel.strips; ++s) {
        const double* const u = panel.strip_at(s);
        double* const v = out.strip_at(s);
        for (index i = 0; i < n; ++i)
            for (index l = 0; l < strip; l += lanes) store(v + i * strip + l, load(u + i * strip + l) * c[i]);
    }
}

}  // namespace adaline::ADALINE_ISA
