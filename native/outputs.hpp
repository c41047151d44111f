// Outputs of linear machines over a panel, and the sums of their gradient, by register tiles.
//
//   z_ki = theta_k'u_i,   g_k += sum_i s_ki u_i,   U = c V,     u = (v, 1),  v = x scale + offset
//
// The ones column is last, as a column of scale 0 and offset 1. Outputs are accumulated in lanes of columns, for a
// strip of rows at a time, and added across lanes at the end, so that z and all that is computed of it has rows in its
// lanes. Columns are taken in spans that fit into the first cache together with their part of theta.
#pragma once

#include <type_traits>

#include "pack.hpp"

namespace adaline::ADALINE_ISA {

struct Viewed {
    const double *scale, *offset;

    struct Columns {
        vec scale, offset;
        vec at(index, vec z) const { return multiply_add(z, scale, offset); }
    };
    Columns from(index j) const { return {load(scale + j), load(offset + j)}; }

    struct Column {
        double scale, offset;
        double at(index, double z) const { return multiply_add(z, scale, offset); }
    };
    Column column(index j) const { return {scale[j], offset[j]}; }
};

inline constexpr int parts = strip / lanes;      // vectors of a strip
inline constexpr index span = 256 / strip;       // strips whose theta stays in the first cache
inline constexpr int abreast = 3;                // outputs that are formed together

// Rows of a panel: fewer where columns are many, so that it stays in the second cache.
inline index rows_at_once(index strips) {
    const index rows = Panel::height * (1024 / strip) / strips / 8 * 8;
    return rows > Panel::height ? Panel::height : rows < 16 ? 16 : rows;
}

// Where a strip of columns of some rows is read: `at` gives part p of it in row i.
struct PackedStrip {
    const double* u;
    vec at(index i, int p) const { return load(u + i * strip + p * lanes); }
};

template <class T, bool whole>
struct RawStrip {
    const T* x;
    index down, columns;  // of the strip
    Viewed::Columns view[parts];

    vec at(index i, int p) const {
        const T* const z = x + i * down + p * lanes;
        const index left = columns - p * lanes;
        return view[p].at(i, whole || left >= lanes ? load(z) : head(z, left > 0 ? left : 0));
    }
};

// Rows in a panel, or as they lie in x: viewing them again for each tile costs less than to store them.
// `together` outputs flow back at once: as many as there are registers for.
struct Packed {
    static constexpr int together = strip;
    Panel panel;
    index strips() const { return panel.strips; }
    PackedStrip strip_at(index s) const { return {panel.strip_at(s)}; }
    PackedStrip last() const { return strip_at(panel.strips - 1); }
};

template <class T>
struct Raw {
    static constexpr int together = lanes == 8 ? 6 : 3;
    const T* x;
    index down, D;
    Viewed view;

    index strips() const { return D / strip + 1; }
    RawStrip<T, true> strip_at(index s) const { return make<true>(s); }
    RawStrip<T, false> last() const { return make<false>(D / strip); }

    template <bool whole>
    RawStrip<T, whole> make(index s) const {
        RawStrip<T, whole> out{x + s * strip, down, D - s * strip, {}};
        for (int p = 0; p < parts; ++p) out.view[p] = view.from(s * strip + p * lanes);
        return out;
    }
};

template <int K, class Strip>
inline void add_outputs(vec (&sum)[K][strip], const Strip& u, index row, const double* theta, index pitch) {
#pragma GCC unroll 2
    for (int p = 0; p < parts; ++p) {
        vec w[K];
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) w[k] = load(theta + k * pitch + p * lanes);
#pragma GCC unroll 8
        for (int r = 0; r < strip; ++r) {
            const vec a = u.at(row + r, p);
#pragma GCC unroll 8
            for (int k = 0; k < K; ++k) sum[k][r] = multiply_add(a, w[k], sum[k][r]);
        }
    }
}

template <int K, class Rows>
void outputs(const Rows& rows, index row, index from, index to, const double* theta, double* z) {
    const index last = rows.strips() - 1, pitch = rows.strips() * strip;
    vec sum[K][strip] = {};
    for (index s = from; s < to && s < last; ++s) add_outputs(sum, rows.strip_at(s), row, theta + s * strip, pitch);
    if (to > last) add_outputs(sum, rows.last(), row, theta + last * strip, pitch);
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

// z (K, height) of the first n rows, theta (K, strips x strip); what stands in rows beyond n is of no meaning, but rows
// must be there up to a whole strip of them.
template <class Rows>
[[gnu::noinline]] void all_outputs(const Rows& rows, index n, index K, const double* theta, double* z) {
    constexpr decltype(&outputs<1, Rows>) tiles[] = {outputs<1, Rows>, outputs<2, Rows>, outputs<3, Rows>};
    const index strips = rows.strips(), pitch = strips * strip;
    for (index k = 0; k < K; ++k) __builtin_memset(z + k * Panel::height, 0, sizeof(double) * Panel::height);
    for (index from = 0; from < strips; from += span) {
        const index to = from + span < strips ? from + span : strips;
        for (index row = 0; row < n; row += strip)
            for (index k = 0, next; k < K; k = next) {
                const index pieces = (K - k + abreast - 1) / abreast;
                next = k + (K - k + pieces - 1) / pieces;
                tiles[next - k - 1](rows, row, from, to, theta + k * pitch, z + k * Panel::height);
            }
    }
}

// Few sums wait for each other: then even and odd rows have sums of their own.
template <int K, int J, class Strip>
void gather(const Strip (&u)[J], index n, const double* slope, double* g, index pitch, Ahead& walk) {
    constexpr int ways = K * J * parts <= 6 ? 2 : 1;
    vec sum[ways][K][J * parts] = {};
    Ahead ahead = walk;
    const auto add = [&](index i, vec (&to)[K][J * parts]) {
        vec a[J * parts];
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j) a[j] = u[j / parts].at(i, j % parts);
#pragma GCC unroll 8
        for (int k = 0; k < K; ++k) {
            const vec s = broadcast(slope[k * Panel::height + i]);
#pragma GCC unroll 8
            for (int j = 0; j < J * parts; ++j) to[k][j] = multiply_add(s, a[j], to[k][j]);
        }
    };
    index i = 0;
    for (; i + ways <= n; i += ways) {
        ahead.step();
#pragma GCC unroll 2
        for (int h = 0; h < ways; ++h) add(i + h, sum[h]);
    }
    if (i < n) add(i, sum[0]);
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k)
#pragma GCC unroll 8
        for (int j = 0; j < J * parts; ++j) {
            double* const at = g + k * pitch + j * lanes;
            store(at, load(at) + (ways == 2 ? sum[0][k][j] + sum[ways - 1][k][j] : sum[0][k][j]));
        }
    walk = ahead;
}

template <int J, class Strip, int... k>
inline void gather_some(index K, const Strip (&u)[J], index n, const double* slope, double* g, index pitch, Ahead& walk,
                        std::integer_sequence<int, k...>) {
    constexpr decltype(&gather<1, J, Strip>) tiles[] = {gather<1 + k, J, Strip>...};
    constexpr index many = sizeof...(k);
    for (index at = 0, next; at < K; at = next) {
        const index pieces = (K - at + many - 1) / many;
        next = at + (K - at + pieces - 1) / pieces;
        tiles[next - at - 1](u, n, slope + at * Panel::height, g + at * pitch, pitch, walk);
    }
}

// g (K, strips x strip) += slopes (K, height) times the first n rows.
template <class Rows>
[[gnu::noinline]] void all_gathered(const Rows& rows, index n, index K, const double* slope, double* g, Ahead& walk) {
    const index last = rows.strips() - 1, pitch = rows.strips() * strip;
    const std::make_integer_sequence<int, Rows::together> counts;
    const auto some = [&](index s, const auto&... u) {
        const std::common_type_t<std::decay_t<decltype(u)>...> tile[]{u...};
        gather_some<sizeof...(u)>(K, tile, n, slope, g + s * strip, pitch, walk, counts);
    };
    index s = 0;
    if constexpr (width == 3)
        for (; s + 3 <= last; s += 3) some(s, rows.strip_at(s), rows.strip_at(s + 1), rows.strip_at(s + 2));
    if constexpr (width == 3)
        for (; s + 2 <= last; s += 2) some(s, rows.strip_at(s), rows.strip_at(s + 1));
    for (; s < last; ++s) some(s, rows.strip_at(s));
    some(last, rows.last());
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
