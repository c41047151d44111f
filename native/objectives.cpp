// The kernels of likelihoods for one instruction set, as a table. Compiled once for each ADALINE_ISA.

#include "objective_csr.hpp"
#include "spread.hpp"

namespace adaline::ADALINE_ISA {

extern const Objectives objectives{
    .objective_dense = objective,
    .objective_csr = objective_csr,
    .product_dense = product,
    .product_csr = product_csr,
    .margins_dense = margins,
    .margins_csr = margins_csr,
    .gather_dense = gathered,
    .gather_csr = gather_csr,
    .spread_dense = spread,
};

}  // namespace adaline::ADALINE_ISA
