// The arguments of the sums of an objective, and the table of their kernels for each instruction set.
//
// Kept apart from kernels.hpp as objectives.cpp is from kernels.cpp: each is compiled once for each set.
#pragma once

#include "kernels.hpp"

namespace adaline {

// theta (K x (1 + D), intercept first) of machines that see v_j = x_j scale_j + offset_j.
struct Machines {
    index K;
    const double *theta, *scale, *offset;
};

// The loss, the one number it may need, and targets: t has K columns, or one of class indices (softmax).
struct Likelihood {
    Loss loss;
    double parameter;
    Targets y;
};

// Sums are added to what is there: value, gradient (K, 1 + D) and hessian, one after the other. The hessian is
// (K, 1 + D, 1 + D), or (K (1 + D), K (1 + D)) of all machines together.
struct Objectives {
    void (*objective_dense)(double* sums, const Dense&, const Likelihood&, const Machines&, Second);
    void (*objective_csr)(double* sums, const Sparse&, const Likelihood&, const Machines&, Second);
    void (*product_dense)(double* sums, const Dense&, const Likelihood&, const Machines&, const double* direction);
    void (*product_csr)(double* sums, const Sparse&, const Likelihood&, const Machines&, const double* direction);
    void (*margins_dense)(double* z, const Dense&, const Machines&);
    void (*margins_csr)(double* z, const Sparse&, const Machines&);
    void (*gather_dense)(double* sums, const Dense&, const Machines&, const double* slope, const double* curvature);
    void (*gather_csr)(double* sums, const Sparse&, const Machines&, const double* slope, const double* curvature);
    double (*spread_dense)(double* sums, const Dense&, const double* weight);
};

namespace baseline {
extern const Objectives objectives;
}
namespace avx2 {
extern const Objectives objectives;
}
namespace avx512 {
extern const Objectives objectives;
}

}  // namespace adaline
