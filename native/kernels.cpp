// The kernels of one instruction set, as a table. Compiled once for each ADALINE_ISA.

#include "clusters.hpp"
#include "csr.hpp"
#include "descent.hpp"
#include "group_likelihoods.hpp"
#include "keyed.hpp"
#include "merge.hpp"
#include "mixture.hpp"
#include "moments.hpp"
#include "objectives.hpp"
#include "pieces.hpp"
#include "residual.hpp"
#include "scans.hpp"
#include "twofold.hpp"

namespace adaline::ADALINE_ISA {

#define ADALINE_TEXT(name) #name
#define ADALINE_NAME(name) ADALINE_TEXT(name)

extern const Kernels kernels{
    .isa = ADALINE_NAME(ADALINE_ISA),
    .objectives = &objectives,
    .moments_dense =
        [](double* state, Dense x, Targets y, bool centred, const double* exponent) {
            const State<double> s(state, x.columns + y.K);
            return moments(s, x, y, centred, exponent);
        },
    .moments_csr =
        [](double* state, Sparse x, Targets y, const double* exponent) {
            const State<double> s(state, x.columns + y.K);
            return moments_csr(s, x, y, exponent);
        },
    .moments_merge =
        [](double* a, const double* b, index q) {
            merge(State<double>(a, q), State<const double>(b, q));
        },
    .moments_subtract =
        [](double* a, const double* b, index q) {
            subtract(State<double>(a, q), State<const double>(b, q));
        },
    .residual_dense = [](double* g, Dense x, Targets y, Model theta) { residual(g, x, y, theta); },
    .residual_csr =
        [](double* g, Sparse x, Targets y, Model theta) {
            typed(x, [&](const auto& m) { residual_csr(g, m, y, theta); });
        },
    .twofold_exp = exponentials,
    .twofold_outputs = twofold_outputs,
    .descend = descend,
    .scan_dense = scan_dense,
    .scan_csr = scan_csr,
    .clusters_dense =
        [](double* sums, Dense x, const double* weight, const double* points, index K, View view, double* nearest) {
            clusters(sums, x, weight, points, K, view, nearest);
        },
    .mixture_dense =
        [](double* sums, Dense x, const double* weight, const double* constants, const double* means,
           const double* factors, index K, bool whole, View view) {
            mixture(sums, x, weight, {constants, means, factors, K, whole}, view);
        },
    .group_regressions = group_regressions,
    .keyed_products = keyed_products,
    .pieces = pieces,
};

}  // namespace adaline::ADALINE_ISA
