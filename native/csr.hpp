// Moments and residuals over sparse rows: only pairs of stored entries are visited.
//
//   first += w v,  S_ab += w v_a v_b,   v = z 2^-e,  a <= b among the columns present in a row
//   r = t 2^-e_t - theta_0 - sum_a v_a theta_a,   g += w [1 v r] r  in double-double
//
// Moments are raw: a mean would fill the zeros. The targets are columns D, D + 1, ... of every
// row. A row is copied to an entry list in increasing order; entries of one column are added up.
#pragma once

#include "scale.hpp"
#include "scratch.hpp"
#include "state.hpp"

namespace adaline::ADALINE_ISA {

// Where rows begin: looked at once a row, so that its type may wait until then.
struct Starts {
    const void* from;
    bool is_short;
    index operator[](index row) const {
        return is_short ? static_cast<const std::int32_t*>(from)[row] : static_cast<const std::int64_t*>(from)[row];
    }
};

template <class T, class Index>
struct Rows {
    const T* data;
    const Index* indices;
    Starts indptr;
    index rows, columns;
};

// Calls f with Rows of the types that x has.
template <class T, class F>
auto with_indices(const Sparse& x, F f) {
    const auto rows = [&]<class Index>(const Index* indices) {
        const Starts starts{x.indptr, x.short_indptr};
        return f(Rows<T, Index>{static_cast<const T*>(x.data), indices, starts, x.rows, x.columns});
    };
    return x.short_indices ? rows(static_cast<const std::int32_t*>(x.indices))
                           : rows(static_cast<const std::int64_t*>(x.indices));
}

template <class F>
auto typed(const Sparse& x, F f) {
    return x.single ? with_indices<float>(x, f) : with_indices<double>(x, f);
}

// One row: columns in increasing order, each once, with their scaled values.
struct Entries {
    index* column;
    double* v;
    index size = 0;

    void add(index a, double value) {
        index k = size;
        while (k && column[k - 1] > a) --k;
        if (k && column[k - 1] == a) {
            v[k - 1] += value;
            return;
        }
        for (index m = size++; m > k; --m) {
            column[m] = column[m - 1];
            v[m] = v[m - 1];
        }
        column[k] = a;
        v[k] = value;
    }

    // Adds row i of x, f(j, x_ij) for its entry in column j, to columns from `first` on.
    template <class R, class F>
    void add_row(const R& x, index i, index first, F f) {
        for (index k = x.indptr[i], end = x.indptr[i + 1]; k < end; ++k)
            add(first + x.indices[k], f(x.indices[k], x.data[k]));
    }
};

// Adds a row of weight w. Out of line, as rows of every type come here.
[[gnu::noinline]] inline void add_entries(const State<double>& s, const Entries& z, double w) {
    const index q = s.q, size = z.size;
    const index* const column = z.column;
    const double* const v = z.v;
    s.W += w;
    for (index a = 0; a < size; ++a) {
        const index ja = column[a];
        const double wv = w * v[a];
        const dd<double> first = two_sum(s.hi[ja], wv);
        s.hi[ja] = first.hi;
        s.lo[ja] += first.lo;
        double* const S = s.S + ja * q;
        for (index b = a; b < size; ++b) S[column[b]] += wv * v[b];
    }
}

inline bool moments_csr(const State<double>& s, const Sparse& x, const Targets& y, const double* exponent) {
    const index n = x.rows, D = x.columns, q = s.q;
    scratch.reserve(5 * q, 5);
    Scaling scaling{scratch.array(q), scratch.array(q), scratch.array(q)};
    Entries z{reinterpret_cast<index*>(scratch.array(q)), scratch.array(q)};
    for (index j = 0; j < q; ++j) scaling.set(j, 0, s.exponent[j] = exponent[j]);
    s.rows = double(n);
    s.mode = double(MomentMode::raw);
    typed(x, [&](const auto& rows) {
        for (index i = 0; i < n; ++i) {
            z.size = 0;
            z.add_row(rows, i, 0, [&](index j, double a) { return scaling.apply(j, a); });
            for (index k = 0; k < y.K; ++k) z.add(D + k, scaling.apply(D + k, y.t[i * y.K + k]));
            add_entries(s, z, y.weight ? y.weight[i] : 1);
        }
    });
    for (index a = 0; a < q; ++a) {
        s.noise[a] = (4 + s.rows) * roundoff * s.S[a * q + a];
        for (index b = 0; b < a; ++b) s.S[a * q + b] = s.S[b * q + a];
    }
    const bool finite = s.finite();
    if (finite && s.W == 0) __builtin_memset(s.hi, 0, sizeof(double) * (4 + q) * q);
    return finite;
}

template <class R>
void residual_csr(double* g, const R& x, const Targets& y, const Model& theta) {
    const index n = x.rows, D = x.columns, K = y.K;
    scratch.reserve(3 * (D + K), 3);
    Scaling scaling{scratch.array(D + K), scratch.array(D + K), scratch.array(D + K)};
    for (index j = 0; j < D + K; ++j) scaling.set(j, 0, theta.exponent[j]);
    for (index i = 0; i < n; ++i) {
        const index begin = x.indptr[i], end = x.indptr[i + 1];
        const double w = y.weight ? y.weight[i] : 1;
        for (index k = 0; k < K; ++k) {
            const double *const hi = theta.hi + k * (1 + D), *const lo = theta.lo + k * (1 + D);
            double* const sums = g + 2 * k * (D + 2);
            const auto add_to = [&](index c, dd<double> a) {
                const dd<double> s = dd<double>{sums[2 * c], sums[2 * c + 1]} + a;
                sums[2 * c] = s.hi;
                sums[2 * c + 1] = s.lo;
            };
            const auto entry = [&](index m) { return scaling.apply(x.indices[m], double(x.data[m])); };

            dd<double> p{hi[0], lo[0]};
            for (index m = begin; m < end; ++m) {
                const index j = 1 + x.indices[m];
                accumulate(p, entry(m), {hi[j], lo[j]});
            }
            const dd<double> s = two_sum(scaling.apply(D + k, y.t[i * K + k]), -p.hi);
            const dd<double> r = fast_sum(s.hi, s.lo - p.lo), rw = w * r;
            add_to(0, rw);
            for (index m = begin; m < end; ++m) add_to(1 + x.indices[m], entry(m) * rw);
            const dd<double> square = two_prod(rw.hi, r.hi);
            add_to(D + 1, fast_sum(square.hi, square.lo + (rw.hi * r.lo + rw.lo * r.hi)));
        }
    }
}

}  // namespace adaline::ADALINE_ISA
