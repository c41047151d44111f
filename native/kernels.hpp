// The interface of the kernels to Python: one table of functions for each instruction set.
//
// kernels.cpp is compiled once for each set into the namespace adaline::<isa>. Only plain
// data crosses this interface, so that no inline function of one set can replace another's.
#pragma once

#include <cstdint>

#include "codes.hpp"

namespace adaline {

using index = std::int64_t;

// x_ij = x[row * down + j * across], float32 where single. Strides count elements. The row is
// i, or chosen[i] where only some rows are meant. Columns that lie apart, as in a table, have
// their heads listed: x_ij = heads[j][row].
struct Dense {
    const void* x;
    bool single;
    index rows, columns, down, across;
    const index* chosen = nullptr;
    const void* const* heads = nullptr;
};

// Row i holds data[k] in column indices[k] for k from indptr[i] to indptr[i + 1]. Where `units` is not null, it also
// holds 1 in column j = units[k], or -1 in column ~j where j < 0, for k from starts[i] to starts[i + 1]: known to the
// objective of one output alone.
struct Sparse {
    const void *data, *indices, *indptr;
    bool single, short_indices, short_indptr;
    index rows, columns;
    const std::int32_t *units = nullptr, *starts = nullptr;
};

// Targets t (rows x K, row-major) and weights (null: all are one).
struct Targets {
    const double* t;
    index K;
    const double* weight;
};

// theta (K x (1 + D), intercept first) = hi + lo, in the coordinates scaled by 2^-exponent.
struct Model {
    const double *hi, *lo, *exponent;
};

// Columns as they are computed with: v_j = x_j scale_j + offset_j, scales powers of two.
struct View {
    const double *scale, *offset;
};

// A rule with its state: theta and the last good one (K x (1 + D)), tallies, sums for the average, square roots.
struct Scanner {
    Rule rule;
    bool classes, bends;  // the one target is the number of a class; a second theta, which steps, is in lag
    index D, K, T;  // columns, rows of theta, columns of t
    double one;     // the ones column: 1, or 0 without an intercept
    double *theta, *good, *lag, *root;
    Tally* tally;
    index roots;
    bool diagonal;  // the roots are
    double parameter[4];
    index average, period;  // steps before averaging, negative for never; steps between two good thetas
    Schedule schedule;
    double rate, tau, power;
};

// The rows to visit: row order[i] of t and weights, the row x has at place i. Rates of the steps, outputs (count x K).
struct Visits {
    index count;
    const index* order;
    const double* rates;
    double* outputs;
};

// Rows of groups: row n of a group is order[n], or n where there is no order. Every column and t is a vector. pull (D), or
// null: what the square of a coefficient costs. loss: squared, logistic or poisson.
struct GroupRows {
    const double* const* columns;
    const double *t, *weight;
    const std::int32_t* order;
    const double* pull;
    bool intercept;
    Loss loss;
};

// What is found of one group: vectors (1 + D), intercept first, and numbers.
struct GroupFit {
    double *theta, *error, *statistic, *freedom, *digits;
    std::int32_t *state, *column;
};

// Columns that are cubics between knots `at`: their values and second derivatives at these (count x columns). Rows are
// divided by 2^exponent first.
struct Knots {
    const double *at, *values, *curvature;
    index count, columns;
    int exponent;
    bool periodic;
};

struct Objectives;

struct Kernels {
    const char* isa;
    const Objectives* objectives;
    bool (*moments_dense)(double* state, Dense, Targets, bool centred, const double* exponent);
    bool (*moments_csr)(double* state, Sparse, Targets, const double* exponent);
    void (*moments_merge)(double* a, const double* b, index q);
    void (*moments_subtract)(double* a, const double* b, index q);
    void (*residual_dense)(double* g, Dense, Targets, Model);
    void (*residual_csr)(double* g, Sparse, Targets, Model);
    void (*twofold_exp)(double* hi, double* lo, index n);
    void (*twofold_outputs)(double* z, const double* v, const double* hi, const double* lo, const double* offset,
                            index terms, index n);
    double (*descend)(const double* H, index M, double* g, double* w, const double* l1, index sweeps, double enough);
    void (*scan_dense)(const Scanner&, const Dense&, const Targets&, const Visits&);
    void (*scan_csr)(const Scanner&, const Sparse&, const index* chosen, const Targets&, const Visits&);
    void (*clusters_dense)(double* sums, Dense, const double* weight, const double* points, index K, View,
                           double* nearest);
    void (*mixture_dense)(double* sums, Dense, const double* weight, const double* constants, const double* means,
                          const double* factors, index K, bool whole, View);
    void (*group_regressions)(const GroupRows&, index D, const index* begins, const index* ends, index groups,
                              const GroupFit&);
    void (*keyed_products)(double* out, const index* codes, const double* weight, const double* z, index q,
                           const double* y, index m, index rows);
    void (*pieces)(double* out, index down, const double* x, index rows, const Knots&);
};

namespace baseline {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}

}  // namespace adaline
