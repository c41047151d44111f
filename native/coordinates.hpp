// Scans with a step size of their own for every coordinate, in the units of that coordinate.
//
//   s_j = max |x_j| so far,   x' = x / s (w_j shrinks, and G_j with it, where s_j grows)
//   z_k = w_k.x,   g_k = the derivative of the loss by z_k
//   G_jk += weight g_k^2 x'_j^2,   N += weight,   Q += weight x'.x',   m = sqrt(N / Q)
//   q_k = m sum_j x'_j^2 / sqrt(G_jk),   u_k = the step of the loss of size eta weight along q_k
//   w_jk += m u_k x'_j / (s_j sqrt(G_jk))
//
// Sigmoids take steps of their log likelihood in the first epoch, tally.hold = 0, and of their squared error in later ones.
//
// With a penalty or l1 the weights are those that minimise the sum of the gradients so far, of the quadratics about
// earlier weights and of the penalties; d_jk is what the penalties hold back (FTRL-proximal):
//
//   H = sqrt(G) / (eta m),   a = d + (u / eta) x' + H s w,   s w = soft(a, e l1 / s) / (H + e penalty / s^2)
//   d = a - H s w,   e = 1 + tally.hold, how often the penalties count
//
// The mean of the weights after each row is kept by sums S of the coordinates of a row alone: before row n
// S += (n - 1 - last) w, after it S += w and last = n; the mean after N rows is (S + (N - last) w) / N.
//
// Only the coordinates of a row are visited. All that belongs to one lies together: s, then w, G (and d, and S) of each
// output, and last.
#pragma once

#include "kernels.hpp"

namespace adaline {

struct Coordinates {
    Loss loss;
    index D, K, T;  // columns, outputs, columns of t
    index width;    // doubles of a coordinate
    bool held;      // whether there is a d
    bool averaged;  // whether there are S and last
    double one, penalty, l1;
    double* state;  // (1 + D, width), the intercept first
    Tally* tally;

    index pace() const { return 2 + held + averaged; }
    index last() const { return 1 + K * pace(); }
};

void scan_coordinates(const Coordinates&, const Dense&, const Targets&, const Visits&);
void scan_coordinates(const Coordinates&, const Sparse&, const index* chosen, const Targets&, const Visits&);

// One row as pairs of column and number.
void scan_pairs(const Coordinates&, const index* columns, const double* x, index n, const double* t, double* outputs);

}  // namespace adaline
