// A panel: some rows of [x t 1], scaled and weighted, as column strips for the register tiles.
//
//   v_ij = sqrt(weight_i) (z_ij - shift_j) 2^-e_j,   z = [x t 1]
//
// Column j stands in strip j / strip; a strip holds its columns row after row, and strips lie
// an odd number of vectors apart so that they do not compete for the same cache sets.
// Columns beyond the last are zero. Conversion, centring, scaling and weights cost nothing
// extra here.
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

// Rows lie together: eight of them, strip by strip.
template <bool weighted, class T>
void pack_rows(const Panel& panel, const Matrix<T>& x, index first, index n, const Scaling& scaling,
               const double* root) {
    const index whole = x.columns / lanes * lanes, rest = x.columns - whole;
    for (index i0 = 0; i0 < n; i0 += 8) {
        const index i1 = i0 + 8 < n ? i0 + 8 : n;
        for (index j = 0; j < x.columns; j += lanes) {
            const vec offset = load(scaling.offset + j), scale = load(scaling.scale + j);
            double* const v = panel.column(j);
            for (index i = i0; i < i1; ++i) {
                const T* const z = x.at(first + i, j);
                vec a = ((j < whole ? load(z) : head(z, rest)) - offset) * scale;
                if (weighted) a *= root[i];
                store(v + i * strip, a);
            }
        }
    }
}

// The next rows of column j, at most a vector of them, chosen ones picked out one by one.
template <bool picked, class T>
inline vec downwards(const Matrix<T>& x, index i, index j, index rest) {
    const T* const z = x.at(picked ? 0 : i, j);
    if (!picked) return rest >= lanes ? load(z) : head(z, rest);
    const T* const top = z - x.chosen[0];
    vec out{};
#pragma GCC unroll 8
    for (int k = 0; k < lanes; ++k)
        if (k < rest) out[k] = double(top[x.chosen[i + k]]);
    return out;
}

// Columns lie together: squares of lanes x lanes, transposed in registers.
template <bool weighted, bool picked, class T>
void pack_columns(const Panel& panel, const Matrix<T>& x, index first, index n,
                  const Scaling& scaling, const double* root) {
    for (index j = 0; j < x.columns; j += lanes) {
        const vec offset = load(scaling.offset + j), scale = load(scaling.scale + j);
        const index present = x.columns - j;
        double* const v = panel.column(j);
        for (index i = 0; i < n; i += lanes) {
            const index rest = n - i;
            vec square[lanes];
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) {
                square[l] = l >= present ? vec{} : downwards<picked>(x, first + i, j + l, rest);
            }
            transpose(square);
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) {
                if (l >= rest) break;
                vec a = (square[l] - offset) * scale;
                if (weighted) a *= root[i + l];
                store(v + (i + l) * strip, a);
            }
        }
    }
}

// Any strides, any exponents.
template <class Column>
void pack_column(const Panel& panel, index j, Column z, index n, const Scaling& scaling,
                 const double* root) {
    double* const v = panel.column(j);
    for (index i = 0; i < n; ++i) v[i * strip] = scaling.apply(j, z(i)) * (root ? root[i] : 1);
}

template <class T>
void pack(const Panel& panel, const Matrix<T>& x, const double* t, index K, index first, index n,
          const Scaling& scaling, const double* root) {
    const index D = x.columns;
    if (scaling.extreme || !(x.by_rows() || x.by_columns() || x.some_by_columns()))
        for (index j = 0; j < D; ++j)
            pack_column(panel, j, [&](index i) { return x(first + i, j); }, n, scaling, root);
    else if (x.by_rows())
        (root ? pack_rows<true, T> : pack_rows<false, T>)(panel, x, first, n, scaling, root);
    else if (x.by_columns())
        (root ? pack_columns<true, false, T> : pack_columns<false, false, T>)(panel, x, first, n, scaling, root);
    else
        (root ? pack_columns<true, true, T> : pack_columns<false, true, T>)(panel, x, first, n, scaling, root);
    for (index k = 0; k < K; ++k)
        pack_column(panel, D + k, [&](index i) { return t[(first + i) * K + k]; }, n, scaling, root);
    double* const one = panel.column(D + K);
    for (index i = 0; i < n; ++i) one[i * strip] = root ? root[i] : 1;
}

}  // namespace adaline::ADALINE_ISA
