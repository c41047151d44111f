// The losses of rows: value, slope = d value / dz and curvature = d slope / dz, on vectors of rows.
//
// The formulas are those of adaline.losses. Where t is 0 or 1, or the class of a row, slopes and values near zero keep
// their digits, as they are computed from the small terms, not as a difference from one.
#pragma once

#include "functions.hpp"
#include "matrix.hpp"

namespace adaline::ADALINE_ISA {

struct Cost {
    vec value, slope, curvature;
};

inline Cost squared(vec z, vec t, double) {
    const vec r = z - t;
    return {r * r * 0.5, r, broadcast(1)};
}

// p of (S0, 5.9) by y = exp(-|z|); near and far are the shares of t on the side of z and on the other.
inline Cost logistic(vec z, vec t, double) {
    const vec y = exp(-magnitude(z)), inverse = 1.0 / (y + 1.0), miss = 1.0 - t;
    const auto above = z > 0.0;
    const vec near = above ? miss : -t, far = above ? -t : miss;
    return {multiply_add(near, z, log1p(y)), multiply_add(far, y, near) * inverse, y * inverse * inverse};
}

inline Cost poisson(vec z, vec t, double) {
    const vec mean = exp(z);
    return {mean - t * z, mean - t, mean};
}

inline Cost gamma(vec z, vec t, double) {
    const vec ratio = t * exp(-z);
    return {z + ratio, 1.0 - ratio, ratio};
}

inline Cost huber(vec z, vec t, double delta) {
    const vec r = z - t, size = magnitude(r);
    const auto inside = size <= delta;
    return {inside ? r * r * 0.5 : (size - 0.5 * delta) * delta, inside ? r : sign(r) * delta,
            inside ? broadcast(1) : vec{}};
}

inline Cost tukey(vec z, vec t, double c) {
    const vec r = z - t, u = r / c, rest = 1.0 - u * u, left = rest > 0.0 ? rest : vec{};
    return {(1.0 - left * left * left) * (c * c / 6), r * left * left, left * (left * 5.0 - 4.0)};
}

inline Cost absolute(vec z, vec t, double) { return {magnitude(z - t), sign(z - t), z * 0.0}; }

inline Cost quantile(vec z, vec t, double level) {
    const vec r = t - z;
    return {r > 0.0 ? r * level : r * (level - 1), (0.5 - level) - sign(r) * 0.5, z * 0.0};
}

inline Cost perceptron(vec z, vec t, double) {
    const vec m = t * z, none = z * 0.0;
    const auto wrong = m <= 0.0;
    return {wrong ? -m : none, wrong ? none - t : none, none};
}

inline Cost squared_hinge(vec z, vec t, double) {
    const vec m = t * z;
    const auto within = m < 1.0;
    const vec lack = within ? 1.0 - m : z * 0.0;
    return {lack * lack * 0.5, -t * lack, within ? broadcast(1) : vec{}};
}

inline Cost sigmoid_squared(vec z, vec t, double) {
    const vec y = exp(-magnitude(z)), inverse = 1.0 / (y + 1.0), small = y * inverse;
    const auto above = z > 0.0;
    const vec p = above ? inverse : small, e = p - t, bend = inverse * small;
    return {e * e * 0.5, e * bend, bend * multiply_add(e, (above ? small - inverse : inverse - small), bend)};
}

inline Cost tanh_squared(vec z, vec t, double) {
    const vec y = tanh(z), e = y - t, bend = 1.0 - y * y;
    return {e * e * 0.5, e * bend, bend * (bend - y * e * 2.0)};
}

// By the share s = m / (m + k) = exp(a) / (1 + exp(a)), a = z - ln k, of a mean m = exp(z) and the shape k.
inline Cost negative_binomial(vec z, vec t, double shape) {
    const vec a = z - std::log(shape), y = exp(-magnitude(a)), inverse = 1.0 / (y + 1.0), n = t + shape;
    const auto above = a > 0.0;
    const vec share = above ? inverse : y * inverse, rest = above ? y * inverse : inverse;
    return {multiply_add(n, (above ? a : vec{}) + log1p(y), -t * z), share * shape - rest * t, n * share * rest};
}

// Outputs and targets of some rows, output after output, `pitch` apart; what they cost; and, for products, q = d'(v, 1).
struct Lot {
    index pitch, rows, K;
    double parameter;
    const double *weight, *t;
    double *z, *q, *slope, *curvature;
    bool shared;    // curvatures are to be the shares p of coupled outputs
    double* value;  // a vector of partial sums for each output, or one for all
    Ahead& ahead;
};

// Zero where the weight is, whatever stands there: rows of weight zero, whose outputs may be any, are not there, and the
// lanes beyond the last row have no weight.
inline vec counted(vec weight, vec a) { return weight > 0.0 ? a : vec{}; }

inline void add_to(double* sum, vec a) { store(sum, load(sum) + a); }

inline constexpr int meanwhile = 8;  // cache lines that memory brings while a vector of rows is rated

using Function = Cost (*)(vec, vec, double);

template <Function cost>
void alone(const Lot& lot) {
    for (index k = 0; k < lot.K; ++k) {
        vec value{};
        for (index i = 0; i < lot.rows; i += lanes) {
            const index at = k * lot.pitch + i;
            const vec w = load(lot.weight + i);
            const Cost c = cost(load(lot.z + at), load(lot.t + at), lot.parameter);
#pragma GCC unroll 1
            for (int s = 0; s < meanwhile; ++s) lot.ahead.step();
            value += counted(w, w * c.value);
            store(lot.slope + at, counted(w, w * c.slope));
            if (lot.curvature) store(lot.curvature + at, counted(w, w * c.curvature));
        }
        add_to(lot.value + k * lanes, value);
    }
}

template <Function cost>
void bent(const Lot& lot) {
    for (index k = 0; k < lot.K; ++k)
        for (index i = 0; i < lot.rows; i += lanes) {
            const index at = k * lot.pitch + i;
            const vec w = load(lot.weight + i);
            const Cost c = cost(load(lot.z + at), load(lot.t + at), lot.parameter);
            store(lot.slope + at, counted(w, w * (c.curvature * load(lot.q + at))));
        }
}

// p_k = e_k / (1 + rest), e_k = exp(z_k - top): e of the top output is 1, and rest the sum of all others.
struct Shares {
    vec top, place, rest;
};

inline Shares shares(const Lot& lot, index i) {
    vec top = load(lot.z + i), place{}, rest{};
    for (index k = 1; k < lot.K; ++k) {
        const vec z = load(lot.z + k * lot.pitch + i);
        place = z > top ? broadcast(double(k)) : place;
        top = z > top ? z : top;
    }
    for (index k = 0; k < lot.K; ++k) {
        const vec e = exp(load(lot.z + k * lot.pitch + i) - top);
        store(lot.slope + k * lot.pitch + i, e);
        rest += place == double(k) ? vec{} : e;
    }
    return {top, place, rest};
}

inline void softmax(const Lot& lot) {
    vec value{};
    for (index i = 0; i < lot.rows; i += lanes) {
        const auto [top, place, rest] = shares(lot, i);
        const vec w = load(lot.weight + i), t = load(lot.t + i), factor = w / (rest + 1.0);
        vec own{};
        for (index k = 0; k < lot.K; ++k) {
            const index at = k * lot.pitch + i;
            const auto mine = t == double(k);
            own = mine ? load(lot.z + at) : own;
            const vec e = load(lot.slope + at), lack = place == double(k) ? -rest : e - (rest + 1.0);
            store(lot.slope + at, counted(w, factor * (mine ? lack : e)));
            if (lot.curvature) {
                const vec others = place == double(k) ? rest : (rest + 1.0) - e;
                const vec curvature = lot.shared ? e / (rest + 1.0) : factor * e * (others / (rest + 1.0));
                store(lot.curvature + at, counted(w, curvature));
            }
        }
        value += counted(w, w * ((top - own) + log1p(rest)));
    }
    add_to(lot.value, value);
}

inline void bent_softmax(const Lot& lot) {
    for (index i = 0; i < lot.rows; i += lanes) {
        const vec inverse = 1.0 / (shares(lot, i).rest + 1.0), w = load(lot.weight + i);
        vec mean{};
        for (index k = 0; k < lot.K; ++k) {
            const index at = k * lot.pitch + i;
            mean += load(lot.slope + at) * inverse * load(lot.q + at);
        }
        for (index k = 0; k < lot.K; ++k) {
            const index at = k * lot.pitch + i;
            const vec p = load(lot.slope + at) * inverse;
            store(lot.slope + at, counted(w, w * (p * (load(lot.q + at) - mean))));
        }
    }
}

using Rate = void (*)(const Lot&);

// How a vector of rows is rated, with its slopes and curvatures; and its second derivatives times q.
struct Rates {
    Rate cost, bend;
};

template <Function cost>
inline constexpr Rates apart{alone<cost>, bent<cost>};

inline Rates rates_of(Loss loss) {
    switch (loss) {
        case Loss::squared: return apart<squared>;
        case Loss::logistic: return apart<logistic>;
        case Loss::softmax: return {softmax, bent_softmax};
        case Loss::poisson: return apart<poisson>;
        case Loss::gamma: return apart<gamma>;
        case Loss::huber: return apart<huber>;
        case Loss::tukey: return apart<tukey>;
        case Loss::absolute: return apart<absolute>;
        case Loss::quantile: return apart<quantile>;
        case Loss::perceptron: return apart<perceptron>;
        case Loss::squared_hinge: return apart<squared_hinge>;
        case Loss::sigmoid_squared: return apart<sigmoid_squared>;
        case Loss::tanh_squared: return apart<tanh_squared>;
        case Loss::negative_binomial: return apart<negative_binomial>;
    }
    __builtin_unreachable();  // Python hands over members only
}

}  // namespace adaline::ADALINE_ISA
