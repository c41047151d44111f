// The kernels of likelihoods for one instruction set, as a table. Compiled once for each ADALINE_ISA.

#include "objective_csr.hpp"
#include "spread.hpp"

namespace adaline::ADALINE_ISA {

extern const Objectives objectives{
    .objective_dense =
        [](double* sums, const Dense& x, const Likelihood& loss, const Machines& m, Second second) {
            typed(x, [&](const auto& rows) { objective(sums, rows, loss, m, second); });
        },
    .objective_csr =
        [](double* sums, const Sparse& x, const Likelihood& loss, const Machines& m, Second second) {
            typed(x, [&](const auto& rows) { objective_csr(sums, rows, loss, m, second); });
        },
    .product_dense =
        [](double* sums, const Dense& x, const Likelihood& loss, const Machines& m, const double* direction) {
            typed(x, [&](const auto& rows) { product(sums, rows, loss, m, direction); });
        },
    .product_csr =
        [](double* sums, const Sparse& x, const Likelihood& loss, const Machines& m, const double* direction) {
            typed(x, [&](const auto& rows) { product_csr(sums, rows, loss, m, direction); });
        },
    .margins_dense =
        [](double* z, const Dense& x, const Machines& m) {
            typed(x, [&](const auto& rows) { margins(z, rows, m); });
        },
    .margins_csr =
        [](double* z, const Sparse& x, const Machines& m) {
            typed(x, [&](const auto& rows) { margins_csr(z, rows, m); });
        },
    .gather_dense =
        [](double* sums, const Dense& x, const Machines& m, const double* slope, const double* curvature) {
            typed(x, [&](const auto& rows) { gathered(sums, rows, m, slope, curvature); });
        },
    .gather_csr =
        [](double* sums, const Sparse& x, const Machines& m, const double* slope, const double* curvature) {
            typed(x, [&](const auto& rows) { gather_csr(sums, rows, m, slope, curvature); });
        },
    .spread_dense =
        [](double* sums, const Dense& x, const double* weight) {
            return typed(x, [&](const auto& rows) { return spread(sums, rows, weight); });
        },
};

}  // namespace adaline::ADALINE_ISA
