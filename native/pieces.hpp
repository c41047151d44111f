// Columns b_k(x), k < m, that are cubics between knots x_0 < .. < x_(P-1), at rows x; smooths/pieces.py is the reference.
//
//   b(x) = a_- v_j + a_+ v_(j+1) + (h^2 / 6) [(a_-^3 - a_-) c_j + (a_+^3 - a_+) c_(j+1)]
//   a_- = (x_(j+1) - x) / h,   a_+ = (x - x_j) / h,   h = x_(j+1) - x_j,   x_j <= x < x_(j+1)
//
// Beyond the knots b is a straight line, or periodic. A row takes log2(P) comparisons without a branch and 4 m products.
#pragma once

#include "scratch.hpp"
#include "vector.hpp"

namespace adaline::ADALINE_ISA {

class Pieces {
    static constexpr double largest_power = 1000;  // 2^-exponent is a number of full precision up to it

    const Knots& of;
    index P, m;
    double *table, *slopes, first, last, unit;

    // Values and second derivatives at a knot, 2 m numbers side by side.
    double* knot(index j) const { return table + j * 2 * m; }

    // The slopes at the first knot, with which columns go on below it, and at the last one.
    void end(double* slope, index own, index other, double sign) const {
        const double h = std::fabs(of.at[own] - of.at[other]);
        for (index k = 0; k < m; ++k) {
            const double bend = h / 6 * (2 * of.curvature[own * m + k] + of.curvature[other * m + k]);
            slope[k] = sign * ((of.values[own * m + k] - of.values[other * m + k]) / h + bend);
        }
    }

    double scaled(double x) const {
        return std::abs(of.exponent) <= largest_power ? x * unit : std::ldexp(x, -of.exponent);
    }

    double inside(double x) const {
        if (!of.periodic) return x < first ? first : x > last ? last : x;
        double d = x - first;
        const double span = last - first;
        if (!(d >= 0 && d < span)) {
            d = std::fmod(d, span);
            if (d < 0) d += span;
        }
        return first + d;
    }

    // The pieces of some numbers: how many inner knots are not above each. A step takes all of them, so that none waits.
    void search(index* piece, const double* x) const {
        const double* const inner = of.at + 1;
        for (int i = 0; i < together; ++i) piece[i] = 0;
        for (index left = P - 2; left > 0;) {
            const index half = (left + 1) / 2;
            for (int i = 0; i < together; ++i) piece[i] += half & -index(x[i] >= inner[piece[i] + half - 1]);
            left -= half;
        }
    }

    void row(double* out, double x, double at, index j) const {
        const double h = of.at[j + 1] - of.at[j], below = (of.at[j + 1] - at) / h, above = (at - of.at[j]) / h;
        const double sixth = h * h / 6;
        const vec a = broadcast(below), b = broadcast(above), c = broadcast(sixth * (below * below * below - below)),
                  d = broadcast(sixth * (above * above * above - above));
        const double *const low = knot(j), *const high = knot(j + 1);
        const bool beyond = !of.periodic && at != x;
        const vec away = broadcast(x - at);
        const double* const slope = slopes + (x > last ? m : 0);
        for (index k = 0; k < m; k += lanes) {
            vec v = a * load(low + k);
            v = multiply_add(b, load(high + k), v);
            v = multiply_add(c, load(low + m + k), v);
            v = multiply_add(d, load(high + m + k), v);
            if (beyond) v = multiply_add(away, load(slope + k), v);
            store_head(out + k, v, m - k);
        }
    }

  public:
    static index room(index P, index m) { return 2 * (P + 1) * m + 2 * lanes; }

    Pieces(const Knots& of)
        : of(of), P(of.count), m(of.columns), table(scratch.zeros(2 * P * m + lanes)),
          slopes(scratch.zeros(2 * m + lanes)), first(of.at[0]), last(of.at[P - 1]),
          unit(std::abs(of.exponent) <= largest_power ? std::ldexp(1.0, -of.exponent) : 1.0) {
        for (index j = 0; j < P; ++j)
            for (index k = 0; k < m; ++k) knot(j)[k] = of.values[j * m + k], knot(j)[m + k] = of.curvature[j * m + k];
        end(slopes, 0, 1, -1);
        end(slopes + m, P - 1, P - 2, 1);
    }

    // Rows that are searched for together; x and out of n of them, or fewer.
    static constexpr int together = 8;

    void rows(double* out, index down, const double* given, index n) const {
        double x[together] = {}, at[together] = {};
        index piece[together];
        for (index i = 0; i < n; ++i) x[i] = scaled(given[i]), at[i] = inside(x[i]);
        search(piece, at);
        for (index i = 0; i < n; ++i) row(out + i * down, x[i], at[i], piece[i]);
    }
};

// out_n (m numbers, `down` after those of the row before) = b(x_n).
inline void pieces(double* out, index down, const double* x, index rows, const Knots& of) {
    scratch.reserve(Pieces::room(of.count, of.columns), 2);
    const Pieces columns(of);
    for (index n = 0; n < rows; n += Pieces::together)
        columns.rows(out + n * down, down, x + n, rows - n < Pieces::together ? rows - n : Pieces::together);
}

}  // namespace adaline::ADALINE_ISA
