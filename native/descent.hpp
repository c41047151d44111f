// Coordinate descent on a quadratic with an l1 penalty.
//
//   q(w) = g'(w - w_start) + 1/2 (w - w_start)' H (w - w_start) + sum_j l1_j |w_j|
//   w_j <- soft(H_jj w_j - g_j, l1_j) / H_jj,   g <- g + H_j (change of w_j),   soft(a, b) = sign(a) max(|a| - b, 0)
//
// g is the gradient of the smooth part at w throughout. Only a coordinate that changes reads its row of H.
#pragma once

#include <cmath>

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

inline void add_row(double* g, double a, const double* row, index M) {
    const vec many = broadcast(a);
    index i = 0;
    for (; i + lanes <= M; i += lanes) store(g + i, multiply_add(many, load(row + i), load(g + i)));
    for (; i < M; ++i) g[i] = multiply_add(a, row[i], g[i]);
}

// Returns sum H_jj (change of w_j)^2 of the last sweep: twice what it lowered q by, or more.
inline double descend(const double* H, index M, double* g, double* w, const double* l1, index sweeps, double enough) {
    double moved = 0;
    for (index sweep = 0; sweep < sweeps; ++sweep) {
        moved = 0;
        for (index j = 0; j < M; ++j) {
            const double h = H[j * M + j];
            if (!(h > 0)) continue;
            const double a = h * w[j] - g[j], over = std::fabs(a) - l1[j];
            const double change = (over > 0 ? std::copysign(over, a) / h : 0.0) - w[j];
            if (change == 0) continue;
            add_row(g, change, H + j * M, M);
            w[j] = over > 0 ? w[j] + change : 0.0;
            moved += h * change * change;
        }
        if (moved <= enough) break;
    }
    return moved;
}

}  // namespace adaline::ADALINE_ISA
