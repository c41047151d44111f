// A panel: some rows of [x t 1], scaled and weighted, as column strips for the register tiles.
//
//   v_ij = sqrt(weight_i) (z_ij - shift_j) 2^-e_j,   z = [x t 1]
//
// Column j is in strip j / strip; a strip holds its columns row after row, and strips lie
// an odd number of vectors apart so that they do not compete for the same cache sets.
// Columns beyond the last are zero. Conversion, centring, scaling and weights are done in the
// same pass.
#pragma once

#include "scale.hpp"

namespace adaline::ADALINE_ISA {

struct Panel {
    static constexpr index height = 96, pitch = (height + 1) * strip;

    double* v;
    index strips;

    static index size(index strips) { return strips * pitch; }

    // Zeros for the columns that no one writes: all strips from that of column j on.
    void clear(index j) const {
        double* const from = strip_at(j / strip);
        __builtin_memset(from, 0, sizeof(double) * (v + size(strips) - from));
    }

    double* strip_at(index s) const { return v + s * pitch; }
    double* column(index j) const { return strip_at(j / strip) + j % strip; }
};

// How the numbers of columns from j on become those of the panel; `at` is for a vector of them in row i of it.
template <bool weighted>
struct Centred {
    Scaling scaling;
    const double* root;

    struct Columns {
        vec offset, scale;
        const double* root;
        vec at(index i, vec z) const {
            const vec a = (z - offset) * scale;
            return weighted ? a * root[i] : a;
        }
    };
    Columns from(index j) const { return {load(scaling.offset + j), load(scaling.scale + j), root}; }

    struct Column {
        double unit, offset, scale;
        const double* root;
        double at(index i, double z) const { return (z * unit - offset) * scale * (weighted ? root[i] : 1); }
    };
    Column column(index j) const { return {scaling.unit[j], scaling.offset[j], scaling.scale[j], root}; }
};

// Rows lie together.
template <class T, class Rule>
void pack_rows(const Panel panel, const Matrix<T>& x, index first, index n, const Rule rule) {
    const index whole = x.columns / lanes * lanes, rest = x.columns - whole;
    const auto end = rule.from(rest ? whole : 0);
    for (index i = 0; i < n; ++i) {
        const T* const z = x.at(first + i, 0);
        for (index j = 0; j < whole; j += lanes) store(panel.column(j) + i * strip, rule.from(j).at(i, load(z + j)));
        if (rest) store(panel.column(whole) + i * strip, end.at(i, head(z + whole, rest)));
    }
}

// The next rows of column j, at most a vector of them, chosen ones gathered one by one.
template <bool by_index, class T>
inline vec downwards(const Matrix<T>& x, index i, index j, index rest) {
    const T* const z = x.at(by_index ? 0 : i, j);
    if (!by_index) return rest >= lanes ? load(z) : head(z, rest);
    const T* const top = z - x.chosen[0];
    vec out{};
#pragma GCC unroll 8
    for (int k = 0; k < lanes; ++k)
        if (k < rest) out[k] = double(top[x.chosen[i + k]]);
    return out;
}

// Columns lie together: squares of lanes x lanes, transposed in registers.
template <bool by_index, class T, class Rule>
void pack_columns(const Panel& panel, const Matrix<T>& x, index first, index n, const Rule& rule) {
    for (index j = 0; j < x.columns; j += lanes) {
        const auto columns = rule.from(j);
        const index present = x.columns - j;
        double* const v = panel.column(j);
        for (index i = 0; i < n; i += lanes) {
            const index rest = n - i;
            vec square[lanes];
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) {
                square[l] = l >= present ? vec{} : downwards<by_index>(x, first + i, j + l, rest);
            }
            transpose(square);
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) {
                if (l >= rest) break;
                store(v + (i + l) * strip, columns.at(i + l, square[l]));
            }
        }
    }
}

// Any strides, any exponents.
template <class Column, class Rule>
void pack_column(const Panel panel, index j, Column z, index n, const Rule rule) {
    double* const v = panel.column(j);
    const auto column = rule.column(j);
    for (index i = 0; i < n; ++i) v[i * strip] = column.at(i, z(i));
}

// The columns of x; `plain` where vectors will do. Once a panel: out of line. Here
// and below the rule is copied: a store of a vector could change it, for all that the compiler knows.
template <class Rule>
[[gnu::noinline]] void pack_all(const Panel panel, const Dense x, index first, index n, const Rule rule, bool plain = true) {
    typed(x, [&](const auto& m) {
        if (plain && by_rows(x))
            pack_rows(panel, m, first, n, rule);
        else if (plain && by_columns(x))
            pack_columns<false>(panel, m, first, n, rule);
        else if (plain && some_by_columns(x))
            pack_columns<true>(panel, m, first, n, rule);
        else
            for (index j = 0; j < x.columns; ++j)
                pack_column(panel, j, [&](index i) { return m(first + i, j); }, n, rule);
    });
}

template <class Rule>
void pack(const Panel& panel, const Dense& x, const double* t, index K, index first, index n, const Rule& rule) {
    pack_all(panel, x, first, n, rule, !rule.scaling.extreme);
    for (index k = 0; k < K; ++k)
        pack_column(panel, x.columns + k, [&](index i) { return t[(first + i) * K + k]; }, n, rule);
    double* const one = panel.column(x.columns + K);
    for (index i = 0; i < n; ++i) one[i * strip] = rule.root ? rule.root[i] : 1;
}

}  // namespace adaline::ADALINE_ISA
