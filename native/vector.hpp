// Vectors of doubles, and arithmetic that keeps its rounding errors.
//
//   two_sum:   a + b = s + e exactly, s = fl(a + b)                        (Knuth)
//   fast_sum:  the same, for |a| >= |b| or a = 0                           (Dekker)
//   two_prod:  a b = p + e exactly, p = fl(a b), by one fused multiply-add
//              or by splitting both factors in 26 + 27 bits                (Veltkamp)
//
// A dd is an unevaluated sum hi + lo, |lo| <= ulp(hi) / 2: about 106 bits. The transforms
// are templates over double and vec; contraction must be off for both.
#pragma once

#include <cmath>
#include <utility>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels.hpp"

namespace adaline::ADALINE_ISA {

// A strip is `strip` columns wide; a register tile is one strip high and `width` strips wide.
//
// specialised: the common layouts and rules have loops of their own besides the general ones.
// They cost every build seconds, and x86-64 without AVX2 (before 2013, and the smallest machines since) does without.
#if defined(__AVX512F__)
inline constexpr int lanes = 8, strip = 8, width = 3;
inline constexpr bool fused = true, specialised = true;
#elif defined(__AVX2__)
inline constexpr int lanes = 4, strip = 4, width = 3;
inline constexpr bool fused = true, specialised = true;
#elif defined(__aarch64__)
inline constexpr int lanes = 2, strip = 4, width = 3;
inline constexpr bool fused = true, specialised = true;
#else
inline constexpr int lanes = 2, strip = 4, width = 1;
inline constexpr bool fused = false, specialised = false;
#endif

// An exponent as a whole number; sums from elsewhere may hold any, and a conversion out of range is undefined.
inline int whole(double e) { return e < 4096 ? e > -4096 ? int(e) : -4096 : 4096; }

using vec = double __attribute__((vector_size(8 * lanes)));
using narrow = float __attribute__((vector_size(4 * lanes)));
using words = std::uint64_t __attribute__((vector_size(8 * lanes)));  // bits of a vec whose sums may wrap

inline vec load(const double* p) {
    vec v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

inline vec load(const float* p) {
    narrow v;
    __builtin_memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vec);
}

inline void store(double* p, vec v) { __builtin_memcpy(p, &v, sizeof v); }

inline vec broadcast(double a) { return a - vec{}; }

inline constexpr double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};

// The first n < lanes numbers at p, then zeros; nothing beyond them is touched.
template <class T>
inline vec head(const T* p, index n) {
    vec v{};
    for (int l = 0; l < lanes; ++l)
        if (l < n) v[l] = p[l];
    return v;
}

#if defined(__AVX512F__)
inline vec head(const double* p, index n) {
    return _mm512_maskz_loadu_pd(__mmask8((1u << n) - 1), p);
}
inline vec head(const float* p, index n) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(__mmask8((1u << n) - 1), p));
}
inline vec some(const double* p, __mmask8 there) { return _mm512_maskz_loadu_pd(there, p); }
inline vec some(const float* p, __mmask8 there) { return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, p)); }
#elif defined(__AVX2__)
inline vec head(const double* p, index n) {
    const __m256i before = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0));
    return _mm256_maskload_pd(p, before);
}
inline vec head(const float* p, index n) {
    const __m128i before = _mm_cmpgt_epi32(_mm_set1_epi32(int(n)), _mm_set_epi32(3, 2, 1, 0));
    return _mm256_cvtps_pd(_mm_maskload_ps(p, before));
}
#endif

// The first n numbers at p, or a whole vector of them, then zeros.
inline vec up_to(const double* p, index n) { return n >= lanes ? load(p) : head(p, n > 0 ? n : 0); }

// The first n numbers of v, or all of them.
inline void store_head(double* p, vec v, index n) {
    if (n >= lanes) return store(p, v);
#if defined(__AVX512F__)
    _mm512_mask_storeu_pd(p, __mmask8((1u << n) - 1), v);
#else
    for (int l = 0; l < lanes; ++l)
        if (l < n) p[l] = v[l];
#endif
}

// Square roots.
inline vec roots(vec a) {
#if defined(__AVX512F__)
    return _mm512_sqrt_pd(a);
#elif defined(__AVX2__)
    return _mm256_sqrt_pd(a);
#else
    for (int l = 0; l < lanes; ++l) a[l] = __builtin_sqrt(a[l]);
    return a;
#endif
}

// a b + c, rounded once where the machine can.
inline vec multiply_add(vec a, vec b, vec c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
    return (vec)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

inline double multiply_add(double a, double b, double c) {
    if constexpr (fused) return __builtin_fma(a, b, c);
    return a * b + c;
}

template <int d, int... l>
inline void exchange(vec& a, vec& b, std::integer_sequence<int, l...>) {
    const vec low = __builtin_shufflevector(a, b, ((l & d) ? lanes + l - d : l)...);
    b = __builtin_shufflevector(a, b, ((l & d) ? lanes + l : l + d)...);
    a = low;
}

// Transposes a square of lanes x lanes: 2 x 2 blocks of size d change places, d = 1, 2, 4.
template <int d = 1>
inline void transpose(vec (&a)[lanes]) {
    if constexpr (d < lanes) {
#pragma GCC unroll 8
        for (int i = 0; i < lanes; ++i)
            if (!(i & d)) exchange<d>(a[i], a[i + d], std::make_integer_sequence<int, lanes>{});
        transpose<2 * d>(a);
    }
}

// The sum of a[l] over its lanes, in lane l.
template <int d = 1>
inline vec across(vec (&a)[lanes]) {
    if constexpr (d < lanes) {
#pragma GCC unroll 8
        for (int i = 0; i < lanes; i += 2 * d) {
            exchange<d>(a[i], a[i + d], std::make_integer_sequence<int, lanes>{});
            a[i] += a[i + d];
        }
        return across<2 * d>(a);
    }
    return a[0];
}

inline double across_lanes(vec a) {
    double s = a[0];
    for (int l = 1; l < lanes; ++l) s += a[l];
    return s;
}

template <class T>
struct dd {
    T hi, lo;
};

template <class T>
inline dd<T> two_sum(T a, T b) {
    const T s = a + b, v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}

template <class T>
inline dd<T> fast_sum(T a, T b) {
    const T s = a + b;
    return {s, b - (s - a)};
}

template <class T>
inline dd<T> two_prod(T a, T b) {
    const T p = a * b;
    if constexpr (fused) return {p, multiply_add(a, b, -p)};
    const T a1 = 134217729.0 * a, b1 = 134217729.0 * b;
    const T ah = a1 - (a1 - a), bh = b1 - (b1 - b), al = a - ah, bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

template <class T>
inline dd<T> operator+(dd<T> a, dd<T> b) {
    const dd<T> s = two_sum(a.hi, b.hi);
    return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

template <class T>
inline dd<T> operator*(T a, dd<T> b) {
    const dd<T> p = two_prod(a, b.hi);
    return fast_sum(p.hi, multiply_add(a, b.lo, p.lo));
}

// s += a b, with s left unnormalised: the errors gather in s.lo. Fused, the error of the
// product and the second half of two_sum's are one operation: a b - z, with z near p.
template <class T>
inline void accumulate(dd<T>& s, T a, dd<T> b) {
    if constexpr (fused) {
        const T sum = s.hi + a * b.hi, z = sum - s.hi;
        const T error = (s.hi - (sum - z)) + multiply_add(a, b.hi, -z);
        s = {sum, multiply_add(a, b.lo, s.lo) + error};
    } else {
        const dd<T> p = two_prod(a, b.hi), sum = two_sum(s.hi, p.hi);
        s = {sum.hi, s.lo + (sum.lo + (a * b.lo + p.lo))};
    }
}

inline dd<double> across_lanes(dd<vec> a) {
    dd<double> s{a.hi[0], a.lo[0]};
    for (int l = 1; l < lanes; ++l) s = s + dd<double>{a.hi[l], a.lo[l]};
    return s;
}

}  // namespace adaline::ADALINE_ISA
