// One row at a time, for scans: contiguous dense rows, or the stored entries of a sparse one.
//
//   meet:    z = w.x and x.x in one walk          add:  w = decay w + g x,  lag += m (w - old w)
//
// The ones column is last: weights are w_1 .. w_D, w_0, padded with zeros to whole vectors.
// Rows of the caller are not padded; `one` is added to the vector with their end. Rows whose numbers
// are not contiguous are packed first, a few at a time, so that every layout gives the same bits. The
// general loop copies each dense row, and floats as doubles, into room for whole vectors: loops of
// their own would double the compiler's work.
#pragma once

#include <type_traits>

#include "csr.hpp"
#include "matrix.hpp"
#include "scratch.hpp"

namespace adaline::ADALINE_ISA {

// A row is a few dozen instructions: calls between its parts would cost as much as the parts.
#define ADALINE_INLINE [[gnu::always_inline]] inline

inline index padded(index n) { return (n + 7) / 8 * 8; }

// The sum of the lanes, by halves.
using two = double __attribute__((vector_size(16)));
using four = double __attribute__((vector_size(32)));
using eight = double __attribute__((vector_size(64)));

inline double across(two v) { return v[0] + v[1]; }
inline double across(four v) {
    return across(__builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3));
}
inline double across(eight v) {
    return across(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
}

inline vec sign_of(vec x) {
    const vec zero{}, one = broadcast(1);
    return (x > zero ? one : zero) - (x < zero ? one : zero);
}

// Without a branch, which nothing would foretell.
inline double sign_of(double x) {
    const two v{x, x}, zero{}, one{1, 1};
    return ((v > zero ? one : zero) - (v < zero ? one : zero))[0];
}

// v with a in lane n.
ADALINE_INLINE vec with_lane(vec v, index n, double a) {
#if defined(__AVX512F__)
    return _mm512_mask_mov_pd(v, __mmask8(1u << n), broadcast(a));
#else
    words place;
    for (int l = 0; l < lanes; ++l) place[l] = l;
    return place == std::uint64_t(n) ? broadcast(a) : v;
#endif
}

// The last n < lanes numbers of a row, the one, zeros.
template <class T>
ADALINE_INLINE vec end(const T* p, index n, double one) {
    return with_lane(head(p, n), n, one);
}

// The n numbers of a row and the one, into room for whole vectors.
template <class T>
ADALINE_INLINE void copy_row(double* room, const T* x, index n, double one) {
    index j = 0;
    for (; j + lanes <= n; j += lanes) store(room + j, load(x + j));
    store(room + j, end(x + j, n - j, one));
}

// within: whether every column exists. The one check that looks at entries: a stray index would write anywhere.
struct Met {
    double z, square;
    bool within;
};

// whole: the one and zeros follow the numbers, so that their end is a vector like the others.
template <bool whole>
struct DenseRow {
    const double* x;
    index D;
    double one;

    // Calls f with vectors of the row and where they begin: rounds of four, the rest, the end with the one.
    template <class F>
    ADALINE_INLINE void walk(F f) const {
        index j = 0;
        for (; j + 4 * lanes <= D; j += 4 * lanes) {
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) f(k, j + k * lanes, load(x + j + k * lanes));
        }
        for (; j + (whole ? 0 : lanes) <= D; j += lanes) f(0, j, load(x + j));
        if (!whole) f(0, j, end(x + j, D - j, one));
    }

    ADALINE_INLINE double total(const vec (&z)[4]) const { return across(D < 4 * lanes ? z[0] : (z[0] + z[1]) + (z[2] + z[3])); }

    ADALINE_INLINE Met meet(const double* w) const {
        vec z[4]{}, s[4]{};
        walk([&](int k, index j, vec v) __attribute__((always_inline)) {
            z[k] = multiply_add(v, load(w + j), z[k]);
            s[k] = multiply_add(v, v, s[k]);
        });
        return {total(z), total(s), true};
    }

    ADALINE_INLINE double dot(const double* w) const {
        vec z[4]{};
        walk([&](int k, index j, vec v) __attribute__((always_inline)) { z[k] = multiply_add(v, load(w + j), z[k]); });
        return total(z);
    }

    // The products with K weights `pitch` apart, two at a time.
    ADALINE_INLINE void dots(double* out, const double* w, index pitch, index K) const {
        for (; K >= 2; K -= 2, out += 2, w += 2 * pitch) {
            vec y[4]{}, z[4]{};
            walk([&](int k, index j, vec v) __attribute__((always_inline)) {
                y[k] = multiply_add(v, load(w + j), y[k]);
                z[k] = multiply_add(v, load(w + pitch + j), z[k]);
            });
            out[0] = total(y);
            out[1] = total(z);
        }
        if (K > 0) *out = dot(w);
    }

    template <bool signs, bool leaks>
    ADALINE_INLINE void add(double* w, double g, double decay, double* lag, double m) const {
        const vec gain = broadcast(g), leak = broadcast(decay), last = with_lane(leak, D % lanes, 1);  // the intercept stays
        const auto next = [&](index j, vec v, vec old) __attribute__((always_inline)) {
            return multiply_add(gain, signs ? sign_of(v) : v, leaks ? old * (j + lanes <= D ? leak : last) : old);
        };
        if (!lag)
            return walk([&](int, index j, vec v) __attribute__((always_inline)) { store(w + j, next(j, v, load(w + j))); });
        walk([&](int, index j, vec v) __attribute__((always_inline)) {
            const vec old = load(w + j), now = next(j, v, old);
            store(w + j, now);
            store(lag + j, multiply_add(broadcast(m), now - old, load(lag + j)));
        });
    }

    // By whole vectors: what is read next as vectors would wait for smaller parts.
    ADALINE_INLINE void write(double* out) const {
        walk([&](int, index j, vec v) __attribute__((always_inline)) { store(out + j, v); });
    }
    void clear(double*) const {}
};

template <class Index>
struct SparseRow {
    const double* x;
    const Index* at;
    index n, D;
    double one;

#if defined(__AVX512F__)
    static constexpr bool gathers = sizeof(Index) == 4;

    // Calls f with the columns and numbers of eight entries at a time, and which of them are there.
    template <class F>
    ADALINE_INLINE void walk(F f) const {
        for (index k = 0; k < n; k += 8) {
            const __mmask8 there = n - k < 8 ? __mmask8((1u << (n - k)) - 1) : __mmask8(0xff);
            f(_mm256_maskz_loadu_epi32(there, at + k), n - k < 8 ? head(x + k, n - k) : load(x + k), there);
        }
    }
#else
    static constexpr bool gathers = false;
#endif

    ADALINE_INLINE double dot(const double* w) const {
        double z[4]{};
        index k = 0;
        for (; k + 4 <= n; k += 4)
#pragma GCC unroll 4
            for (int l = 0; l < 4; ++l) z[l] = multiply_add(x[k + l], w[at[k + l]], z[l]);
        for (; k < n; ++k) z[0] = multiply_add(x[k], w[at[k]], z[0]);
        return multiply_add(one, w[D], (z[0] + z[1]) + (z[2] + z[3]));
    }

    ADALINE_INLINE void dots(double* out, const double* w, index pitch, index K) const {
        for (; K > 0; --K, w += pitch) *out++ = dot(w);
    }

    ADALINE_INLINE Met meet(const double* w) const {
        bool within = true;
#if defined(__AVX512F__)
        if constexpr (gathers) {
            vec z{}, s{};
            const __m256i columns = _mm256_set1_epi32(int(D));
            walk([&](__m256i j, vec v, __mmask8 there) __attribute__((always_inline)) {
                const __mmask8 good = _mm256_mask_cmplt_epu32_mask(there, j, columns);
                within &= good == there;
                z = multiply_add(v, _mm512_mask_i32gather_pd(vec{}, good, j, w, 8), z);
                s = multiply_add(v, v, s);
            });
            return {multiply_add(one, w[D], across(z)), one + across(s), within};
        }
#endif
        vec s{};
        index k = 0;
        for (; k + lanes <= n; k += lanes) s = multiply_add(load(x + k), load(x + k), s);
        if (k < n) s = multiply_add(head(x + k, n - k), head(x + k, n - k), s);
        for (k = 0; k < n; ++k) within &= std::make_unsigned_t<Index>(at[k]) < std::make_unsigned_t<Index>(D);
        return {within ? dot(w) : 0, one + across(s), within};
    }

    template <bool signs, bool leaks>
    ADALINE_INLINE void add(double* w, double g, double decay, double* lag, double m) const {
        if (leaks) {
            const double intercept = w[D], late = lag ? lag[D] : 0;
            for (index j = 0; lag && j < D; j += lanes) {
                const vec old = load(w + j);
                store(lag + j, load(lag + j) + m * (old * decay - old));
            }
#pragma GCC unroll 4
            for (index j = 0; j < D; j += lanes) store(w + j, load(w + j) * decay);
            w[D] = intercept;
            if (lag) lag[D] = late;
        }
        w[D] = multiply_add(g, one, w[D]);
#if defined(__AVX512F__)
        if constexpr (gathers)
            walk([&](__m256i j, vec v, __mmask8 there) __attribute__((always_inline)) {
                const vec old = _mm512_mask_i32gather_pd(vec{}, there, j, w, 8);
                _mm512_mask_i32scatter_pd(w, there, j, multiply_add(broadcast(g), signs ? sign_of(v) : v, old), 8);
            });
#endif
        if constexpr (!gathers)
            for (index k = 0; k < n; ++k)
                w[at[k]] = multiply_add(g, signs ? sign_of(x[k]) : x[k], w[at[k]]);
        if (!lag) return;
        for (index k = 0; k < n; ++k) lag[at[k]] += m * (g * (signs ? sign_of(x[k]) : x[k]));
        lag[D] += m * (g * one);
    }

    // Into a row of zeros, and out again.
    void write(double* out) const {
        for (index k = 0; k < n; ++k) out[at[k]] = x[k];
        out[D] = one;
    }
    void clear(double* out) const {
        for (index k = 0; k < n; ++k) out[at[k]] = 0;
    }
};

// Dense rows that lie together; those to come in a given order are asked for ahead.
struct Together {
    static constexpr index ahead = 16;

    Dense x;
    index count;
    double one;
    double* room;  // for a row

    // Where row i lies.
    ADALINE_INLINE const void* find(index i) const {
        const index bytes = x.down * index(x.single ? sizeof(float) : sizeof(double));
        return static_cast<const char*>(x.x) + (x.chosen ? x.chosen[i] : i) * bytes;
    }

    ADALINE_INLINE void look_ahead(index i) const {
        if (x.chosen && i + ahead < count) {
            const char* const next = static_cast<const char*>(find(i + ahead));
            const index bytes = x.columns * index(x.single ? sizeof(float) : sizeof(double)) + 63;
            for (index b = 0; b < bytes && b < 512; b += 64) __builtin_prefetch(next + b);
        }
    }

    ADALINE_INLINE DenseRow<false> at(index i) const {
        look_ahead(i);
        if (x.single) copy_row(room, static_cast<const float*>(find(i)), x.columns, one);
        return {x.single ? room : static_cast<const double*>(find(i)), x.columns, one};
    }

    // For several walks over the row.
    ADALINE_INLINE DenseRow<true> whole(index i) const {
        look_ahead(i);
        if (x.single)
            copy_row(room, static_cast<const float*>(find(i)), x.columns, one);
        else
            copy_row(room, static_cast<const double*>(find(i)), x.columns, one);
        return {room, x.columns, one};
    }
};

// Dense rows that do not: n of them from row `first` on, packed as doubles.
template <class T>
void pack_together(double* room, const Matrix<T>& x, index first, index n) {
    const index pitch = padded(x.columns);
    if (!by_columns(x)) {
        for (index j = 0; j < x.columns; ++j)
            for (index i = 0; i < n; ++i) room[i * pitch + j] = x(first + i, j);
        return;
    }
    for (index j = 0; j < x.columns; j += lanes)
        for (index i = 0; i < n; i += lanes) {
            vec square[lanes];
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l) {
                const T* const z = x.at(first + i, j + l < x.columns ? j + l : j);
                square[l] = n - i >= lanes ? load(z) : head(z, n - i);
            }
            transpose(square);
#pragma GCC unroll 8
            for (int l = 0; l < lanes; ++l)
                if (l < n - i) store(room + (i + l) * pitch + j, square[l]);
        }
}

// The rows of a sparse matrix.
template <class Index>
struct Entire {
    using Row = SparseRow<Index>;

    const void* data;
    bool single;
    const Index* indices;
    Starts starts;
    index D;
    double one;
    const index* chosen;
    index count;
    double* room;  // for the floats of a row

    static constexpr index ahead = 8;

    struct Span {
        index begin, n;
    };

    ADALINE_INLINE Span find(index i) const {
        const index row = chosen ? chosen[i] : i, begin = starts[row];
        if (chosen && i + 2 * ahead < count) {
            const index size = single ? sizeof(float) : sizeof(double);
            __builtin_prefetch(static_cast<const char*>(starts.from) + chosen[i + 2 * ahead] * (starts.is_short ? 4 : 8));
            const index from = starts[chosen[i + ahead]], to = starts[chosen[i + ahead] + 1];
            const index last = to < from + 128 ? to : from + 128;
            for (index b = from * size; b < last * size; b += 64) __builtin_prefetch(static_cast<const char*>(data) + b);
            for (index k = from; k < last; k += 64 / index(sizeof(Index))) __builtin_prefetch(indices + k);
        }
        return {begin, starts[row + 1] - begin};
    }

    template <class T>
    ADALINE_INLINE const T* numbers(Span p) const {
        return static_cast<const T*>(data) + p.begin;
    }

    ADALINE_INLINE Row row(Span p) const {
        if (single) copy_row(room, numbers<float>(p), p.n, 0);
        return {single ? room : numbers<double>(p), indices + p.begin, p.n, D, one};
    }

    ADALINE_INLINE Row at(index i) const { return row(find(i)); }
    ADALINE_INLINE Row whole(index i) const { return at(i); }
};

}  // namespace adaline::ADALINE_ISA
