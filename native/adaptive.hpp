// Rules without a rate, independent of the units of the columns: their metric P is learned with them.
//
//   P = S S' = (sum weight x x' + prior)^-1,  d = P x after the row,  q = x.d
//
//   identity        w += (t - w.x) d                                  least squares of all rows so far
//   sigmoid         v += A e phi'^b d / (1 + A h q),      e = t - phi(v.x),  h = phi'^(1+b)
//                   (logistic: the power b is of 4 phi')
//   softmax         v_k += A e_k d / (1 + A h_k q),       e_k = t_k - p_k,  h_k = p_k (1 - p_k)
//                   A = c n (m + 1 + D)^-p weight / hbar,  b = m / (m + 50 (1 + D))
//                   w += (v - w) (1 + s) / (m + s)                    later steps count more
//
// The first M = 10 (1 + D) steps are those of the identity, to the targets of the tangent of the
// activation at zero: t, 4 t - 2, K t_k; m = n - M are the steps after them. Then a row is weighted in
// P by its curvature, the mean of h over outputs (softmax: sum h_k), divided by its mean hbar since M,
// at least 0.01, and earlier rows are multiplied by 1 - 2/n a step. At b = 0 a step is that of the
// convex log likelihood, at b = 1 that of the squared error.
//
// Many columns: P is diagonal, d_j = x_j n / sum x_j^2, A = c n^-1/2 weight / hbar, M = 0 and b = 1;
// the identity is treated as a sigmoid.
//
// The prior of column j is 2^-c0 of its first normal number, a power of two: too small to have an
// effect, and it changes with the column's units. Zero and subnormal numbers before it count nothing:
// a metric of their size would overflow at the first number of ordinary size.
#pragma once

#include <cmath>
#include <limits>

#include "recursive.hpp"

namespace adaline::ADALINE_ISA {

inline constexpr double fade = 2;  // rows count in P as n^fade

// Takes the row in u.x into S; leaves P x in Sf and returns q = x'P x, both after the row.
inline double settle(const Recursion& u, const double* p, double weight, double lam = 1) {
    for (index i = 0; i < u.n; ++i) {
        double* const row = u.S + i * u.pitch;
        if (row[i] != 0 || std::fabs(u.x[i]) < std::numeric_limits<double>::min()) continue;
        bool fresh = true;
        for (index j = 0; j < u.n; ++j) fresh &= row[j] == 0;
        if (!fresh) continue;
        const int e = whole(p[0]) - std::ilogb(u.x[i]);
        row[i] = std::ldexp(1.0, e < 1000 ? e : 1000);
    }
    const double noise = lam / weight, square = u.turn(u.S), r = noise + square, after = 1 / (weight * r);
    u.shrink(u.S, 1 / (r + std::sqrt(r * noise)), lam == 1 ? 1 : 1 / std::sqrt(lam));
    for (index i = 0; i < u.pitch; i += lanes) store(u.Sf + i, load(u.Sf + i) * after);
    return square * after;
}

// The same with the second moments of the columns, S its diagonal.
inline double settle_apart(const Recursion& u, double weight, double n) {
    const Recursion own = u;
    vec q{};
    for (index j = 0; j < own.n; j += lanes) {
        const vec x = load(own.x + j), S = load(own.S + j) + weight * (x * x), d = S > vec{} ? x * (n / S) : vec{};
        store(own.S + j, S);
        store(own.Sf + j, d);
        q = multiply_add(x, d, q);
    }
    return across(q);
}

inline Seen adaptive_identity(const Weights& a, const double* t, double weight) {
    settle(a.recursion, a.p, weight);
    Seen seen;
    for (index k = 0; k < a.K; ++k) {
        const double e = seen.take_error(t[k], a.z[k]);
        DenseRow<true>{a.recursion.Sf, a.D, a.recursion.Sf[a.D]}.add<false, false>(a.at(k), weight * e, 1, nullptr, 0);
    }
    return seen;
}

// What a sigmoid makes of its output: loss, side, and for the step the error and phi' (or 1).
struct Bent {
    double phi, e, slope, side;
};

enum Link { straight, hyperbolic, logarithmic };

// The power b of phi', which counts from 0 to 1.
template <Link link>
inline double powered(double slope, double b) {
    return link == straight ? 1 : std::pow(link == logarithmic ? 4 * slope : slope, b);
}

template <Link link>
inline Bent bend(double z, double t) {
    if (link == straight) return {z, t - z, 1, t * z};
    if (link == logarithmic) {
        const double phi = logistic(z);
        return {phi, t - phi, phi * (1 - phi), (2 * t - 1) * z};
    }
    const double phi = tangent(z);
    return {phi, t - phi, 1 - phi * phi, t * z};
}

// Steps since the straight ones.
inline double since(const Weights& a) { return a.step - (a.recursion.apart ? 0 : 10 * double(a.recursion.n)); }

// The exponent b: from the log likelihood to the squared error.
inline double bent(const Weights& a) {
    if (a.recursion.apart) return 1;
    const double m = since(a);
    return m > 0 ? m / (m + 50 * double(a.recursion.n)) : 0;
}

// v_k += g d, then w_k towards v_k.
inline void approach(const Weights& a, index k, double g) {
    const index pitch = a.pitch;
    double *const v = a.late(k), *const w = a.at(k), *const d = a.recursion.Sf;
    const double m = since(a), share = m > 0 ? (1 + a.p[3]) / (m + a.p[3]) : 1;
    for (index j = 0; j < pitch; j += lanes) {
        const vec now = load(v + j) + g * load(d + j), old = load(w + j);
        store(v + j, now);
        store(w + j, old + share * (now - old));
    }
}

// fmax is a call of a function of the C library.
inline double at_least(double low, double a) { return a > low ? a : low; }

// The factor A, and q with P after the row, which counts as its curvature h does against the mean.
struct Pace {
    double A, q;
};

[[gnu::noinline]] inline Pace whole_pace(const Weights& a, double h, double weight) {
    const double m = since(a);
    if (m <= 0) return {0, settle(a.recursion, a.p, weight)};
    const double mean = at_least(1e-30, (a.recursion.tally->curves += h) / m);
    const double part = at_least(0.01, h / mean);
    const double q = settle(a.recursion, a.p, weight * part, 1 - fade / a.step);
    return {weight * a.p[1] * a.step * std::pow(m + double(a.recursion.n), -a.p[2]) / mean, q};
}

ADALINE_INLINE Pace pace(const Weights& a, double h, double weight) {
    if (!a.recursion.apart) return whole_pace(a, h, weight);
    const double mean = at_least(1e-30, (a.recursion.tally->curves += h) / a.step);
    return {weight * a.p[1] / std::sqrt(a.step) / mean, settle_apart(a.recursion, weight, a.step)};
}

// What the late weights make of the row, and the power of its slope.
struct Late {
    Bent shown;
    double part;
};

template <Link link>
inline Seen adaptive_sigmoid(const Weights& a, const double* t, double weight) {
    Seen seen;
    const double b = bent(a);
    const auto late_at = [&](index k) {
        const Bent shown = bend<link>(a.g[k], t[k]);
        return Late{shown, powered<link>(shown.slope, b)};
    };
    Late late{};
    double h = 0;
    for (index k = 0; k < a.K; ++k) {
        const Bent shown = bend<link>(a.z[k], t[k]);
        seen.loss += shown.e * shown.e / 2;
        seen.mistakes += shown.side <= 0;
        seen.updates += 1;
        if (shown.side < seen.margin) seen.margin = shown.side;
        late = late_at(k);
        h += late.shown.slope * late.part / double(a.K);
    }
    const auto [A, q] = pace(a, h, weight);
    for (index k = 0; k < a.K; ++k) {
        if (a.K > 1) late = late_at(k);
        const auto [here, part] = late;
        const double level = weight * ((link == logarithmic ? 4 * t[k] - 2 : t[k]) - a.g[k]);
        approach(a, k, since(a) > 0 ? A * here.e * part / (1 + A * here.slope * part * q) : level);
    }
    return seen;
}

inline Seen adaptive_softmax(const Weights& a, const double* t, double weight) {
    const double K = double(a.K);
    const index i = index(*t);
    double top = -infinity, total = 0, h = 0;
    for (index k = 0; k < a.K; ++k)
        if (a.g[k] > top) top = a.g[k];
    for (index k = 0; k < a.K; ++k) total += std::exp(a.g[k] - top);
    for (index k = 0; k < a.K; ++k) {
        const double p = std::exp(a.g[k] - top) / total;
        h += p * (1 - p);
    }
    const auto [A, q] = pace(a, h, weight);
    double best = -infinity, rival = -infinity, mine = 0, sum = 0;
    for (index k = 0; k < a.K; ++k) {
        const double z = a.z[k], p = std::exp(a.g[k] - top) / total, hit = double(k == i);
        approach(a, k, since(a) > 0 ? A * (hit - p) / (1 + A * p * (1 - p) * q) : weight * (K * hit - a.g[k]));
        if (z > best) best = z;
        if (k == i) mine = z;
        else if (z > rival) rival = z;
    }
    for (index k = 0; k < a.K; ++k) sum += std::exp(a.z[k] - best);
    return {std::log(sum) - (mine - best), 0, double(mine <= rival), K, mine - rival};
}

}  // namespace adaline::ADALINE_ISA
