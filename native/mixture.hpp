// One step of EM for normal mixtures: responsibilities and weighted moments, in one read of x.
//
//   d_k = v - mean_k,   l_k = constant_k - |P_k'd_k|^2 / 2,   gamma_k = w exp(l_k) / sum_j exp l_j
//   value += w ln sum_k exp l_k,   moments_k += sum gamma_k (d_k, 1)(d_k, 1)'   or   (d_k, d_k^2, 1)
//
// Densities are taken with rows in the lanes; for the moments a panel of sqrt(gamma) (d, 1) goes
// through the register tiles of X'X. Exponentials are taken about the largest l_k of a row.
#pragma once

#include "clusters.hpp"
#include "tiles.hpp"

namespace adaline::ADALINE_ISA {

// exp x for x <= 0, to about one rounding: x = n ln 2 + r, |r| <= ln 2 / 2, and a polynomial in r. Below -708 it is 0.
inline vec exponential(vec x) {
    constexpr double magic = 6755399441055744.0, high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
    constexpr double inverse[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                  1.0 / 5040,      1.0 / 720,      1.0 / 120,     1.0 / 24,     1.0 / 6,
                                  0.5,             1.0,            1.0};
    const vec shifted = multiply_add(x, broadcast(1.44269504088896340736), broadcast(magic));
    const vec n = shifted - magic;
    const vec r = multiply_add(n, broadcast(-low), multiply_add(n, broadcast(-high), x));
    vec p = broadcast(1.0 / 6227020800);
#pragma GCC unroll 13
    for (const double c : inverse) p = multiply_add(p, r, broadcast(c));
    const vec power = (vec)(((words)shifted << 52) + (std::uint64_t(1023) << 52));
    return x < -708.0 ? vec{} : p * power;
}

// Squared lengths of P'd for `height` rows d (turned), P upper triangular, packed by four columns.
class Lengths {
    static constexpr index height = Panel::height, four = 4;
    static constexpr int R = lanes == 8 ? 4 : 2;

    index D, tiles;
    double* packed;

  public:
    static index room(index K, index D) { return K * (D + four) * D; }

    Lengths(const double* factors, index K, index D)
        : D(D), tiles((D + four - 1) / four), packed(scratch.zeros(K * tiles * four * D)) {
        for (index k = 0; k < K; ++k)
            for (index i = 0; i < D; ++i)
                for (index j = i; j < D; ++j)
                    packed[((k * tiles + j / four) * D + i) * four + j % four] = factors[(k * D + i) * D + j];
    }

    void operator()(index k, const double* d, double* squares) const {
        for (index first = 0; first < height; first += R * lanes) {
            vec total[R] = {};
            for (index t = 0; t < tiles; ++t) {
                const double* p = packed + (k * tiles + t) * D * four;
                const index end = (t + 1) * four < D ? (t + 1) * four : D;
                vec sum[four][R] = {};
                for (index i = 0; i < end; ++i, p += four) {
                    vec v[R];
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) v[r] = load(d + i * height + first + r * lanes);
#pragma GCC unroll 4
                    for (int q = 0; q < four; ++q) {
                        const vec pq = broadcast(p[q]);
#pragma GCC unroll 4
                        for (int r = 0; r < R; ++r) sum[q][r] = multiply_add(pq, v[r], sum[q][r]);
                    }
                }
                for (int q = 0; q < four; ++q)
                    for (int r = 0; r < R; ++r) total[r] = multiply_add(sum[q][r], sum[q][r], total[r]);
            }
            for (int r = 0; r < R; ++r) store(squares + first + r * lanes, total[r]);
        }
    }
};

// The soft assignments: l (K x height) becomes gamma; returns the sum of w ln sum_k exp l_k.
inline double assign(double* l, index K, const double* weight, index n) {
    constexpr index height = Panel::height;
    double value = 0;
    for (index i = 0; i < n; i += lanes) {
        vec most = load(l + i);
        for (index k = 1; k < K; ++k) {
            const vec one = load(l + k * height + i);
            most = one > most ? one : most;
        }
        vec total{};
        for (index k = 0; k < K; ++k) {
            const vec e = exponential(load(l + k * height + i) - most);
            store(l + k * height + i, e);
            total += e;
        }
        vec w{};
        for (int lane = 0; lane < lanes; ++lane) {
            if (i + lane >= n) continue;
            w[lane] = weight ? weight[i + lane] : 1;
            if (w[lane] != 0) value += w[lane] * (most[lane] + std::log(total[lane]));
        }
        const vec share = w / total;
        for (index k = 0; k < K; ++k) store(l + k * height + i, load(l + k * height + i) * share);
    }
    return value;
}

// What a component needs: means (K x D), factors (K x D x D upper triangular, or K x D where not whole).
struct Mixture {
    const double *constants, *means, *factors;
    index K;
    bool whole;
};

inline void variances(double* out, const double* gamma, const double* d, index D, index n) {
    constexpr index height = Panel::height;
    for (index j = 0; j < D; ++j) {
        vec first{}, second{};
        for (index i = 0; i < n; i += lanes) {
            const vec v = load(d + j * height + i), g = load(gamma + i) * v;
            first += g;
            second = multiply_add(g, v, second);
        }
        out[j] += sum_of(first);
        out[D + j] += sum_of(second);
    }
    vec total{};
    for (index i = 0; i < n; i += lanes) total += load(gamma + i);
    out[2 * D] += sum_of(total);
}

inline void mixture(double* sums, const Dense& x, const double* weight, const Mixture& m, View view) {
    constexpr index height = Panel::height;
    const index D = x.columns, K = m.K, side = 1 + D, width = whole_strips(side), strips = width / strip;
    const index matrix = m.whole ? Blocks::size(strips) : 0;
    scratch.reserve(2 * Panel::size(strips) + width * (2 * height + 3 + K) + height * (K + 1) + K * matrix +
                        (m.whole ? Lengths::room(K, D) : 0),
                    16 + K);
    const Panel panel{scratch.array(Panel::size(strips)), strips}, own{scratch.array(Panel::size(strips)), strips};
    panel.clear(0);
    own.clear(0);
    Scaling scaling{scratch.zeros(width), scratch.zeros(width), scratch.zeros(width)};
    set_view(scaling, D, view);
    double *const turned = scratch.array(width * height), *const d = scratch.array(width * height);
    double *const l = scratch.zeros(K * height), *const root = scratch.zeros(height);
    double *const means = scratch.zeros(K * width), *const products = scratch.zeros(K * matrix);
    for (index k = 0; k < K; ++k)
        for (index j = 0; j < D; ++j) means[k * width + j] = m.means[k * D + j];
    const Lengths lengths(m.factors, m.whole ? K : 0, D);

    const auto centre = [&](index k) {
        for (index j = 0; j < D; ++j) {
            const vec mean = broadcast(means[k * width + j]);
            for (index i = 0; i < height; i += lanes) store(d + j * height + i, load(turned + j * height + i) - mean);
        }
    };
    for (index top = 0; top < x.rows; top += height) {
        const index n = x.rows - top < height ? x.rows - top : height;
        pack(panel, x, nullptr, 0, top, n, Centred<false>{scaling, nullptr});
        turn(panel, D, turned);
        for (index k = 0; k < K; ++k) {
            double* const lk = l + k * height;
            centre(k);
            if (m.whole) {
                lengths(k, d, lk);
            } else {
                __builtin_memset(lk, 0, sizeof(double) * height);
                for (index j = 0; j < D; ++j) {
                    const vec p = broadcast(m.factors[k * D + j]);
                    for (index i = 0; i < height; i += lanes) {
                        const vec y = load(d + j * height + i) * p;
                        store(lk + i, multiply_add(y, y, load(lk + i)));
                    }
                }
            }
            for (index i = 0; i < height; i += lanes) store(lk + i, m.constants[k] - 0.5 * load(lk + i));
        }
        sums[0] += assign(l, K, weight ? weight + top : nullptr, n);
        for (index k = 0; k < K; ++k) {
            double* const gamma = l + k * height;
            if (!m.whole) {
                centre(k);
                variances(sums + 1 + k * (1 + 2 * D), gamma, d, D, n);
                continue;
            }
            for (index i = 0; i < n; ++i) root[i] = std::sqrt(gamma[i]);
            for (index j = 0; j < width; j += lanes) {
                const vec mean = load(means + k * width + j);
                const double* const from = panel.column(j);
                double* const to = own.column(j);
                for (index i = 0; i < n; ++i) store(to + i * strip, (load(from + i * strip) - mean) * root[i]);
            }
            Ahead ahead(x, k == 0 ? top + height : x.rows, height);
            add_products(own, own, n, false, Blocks{products + k * matrix, strips}, ahead);
        }
    }
    for (index k = 0; m.whole && k < K; ++k) {
        const Blocks C{products + k * matrix, strips};
        double* const out = sums + 1 + k * side * side;
        for (index a = 0; a < side; ++a)
            for (index b = 0; b < side; ++b) out[a * side + b] += a <= b ? C(a, b) : C(b, a);
    }
}

}  // namespace adaline::ADALINE_ISA
