// Sums of the rows of each key: rows with codes c_n, vectors z_n (q) and y_n (m), weights w_n.
//
//   out[c_n] += w_n z_n y_n'
//
// Rows are added in their order. Those of a code below zero belong to no key.
#pragma once

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

inline void keyed_products(double* out, const index* codes, const double* weight, const double* z, index q,
                           const double* y, index m, index rows) {
    constexpr index ahead = 8;  // rows whose sums are fetched before they are needed
    for (index n = 0; n < rows; ++n) {
        if (n + ahead < rows && codes[n + ahead] >= 0) {
            const double* const next = out + codes[n + ahead] * q * m;
            for (index b = 0; b < q * m; b += 8) __builtin_prefetch(next + b, 1);
        }
        if (codes[n] < 0) continue;
        for (index a = 0; a < q; ++a) {
            double* const to = out + (codes[n] * q + a) * m;
            const double s = weight[n] * z[n * q + a];
            index b = 0;
            for (; b + lanes <= m; b += lanes) store(to + b, multiply_add(broadcast(s), load(y + n * m + b), load(to + b)));
            for (; b < m; ++b) to[b] = multiply_add(s, y[n * m + b], to[b]);
        }
    }
}

}  // namespace adaline::ADALINE_ISA
