// The rules of the scans: the change of the weights by a row, in the lectures' symbols.
//
//   z = w.x,   x with the virtual ones column,   eta the rate of the step times the row's weight
//
// A rule of one output returns the factor g by which the row is added to its weights; rules of K
// coupled outputs, and the recursive ones, are given all outputs at once.
#pragma once

#include <cmath>
#include <limits>

#include "rows.hpp"

namespace adaline::ADALINE_ISA {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline double logistic(double z) {
    const double small = std::exp(-std::fabs(z));
    return (z >= 0 ? 1 : small) / (1 + small);
}

// tanh to an absolute rounding error, which is all that t - phi can show.
inline double tangent(double z) {
    const double small = std::exp(-2 * std::fabs(z));
    return std::copysign((1 - small) / (1 + small), z);
}

inline bool runs(const Tally& tally) { return tally.status == double(ScanState::running); }

// g, the loss before the step, and the signed distance t z of the right side.
struct Gain {
    double g, loss, side;
};

struct Plain {
    static constexpr bool signs = false, leaks = false, explodes = true, corrects = false;
};

struct Lms : Plain {
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double e = t - z;
        return {eta * e, e * e / 2, t * z};
    }
};

struct Normalized : Plain {
    static Gain gain(double z, double t, double square, double eta, const double* p) {
        const double e = t - z, length = p[0] + square;
        return {length > 0 ? eta * e / length : 0, e * e / 2, t * z};
    }
};

struct Leaky : Lms {
    static constexpr bool leaks = true;
};

struct SignError : Plain {
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double e = t - z;
        return {eta * sign_of(e), e * e / 2, t * z};
    }
};

struct SignData : Lms {
    static constexpr bool signs = true;
};

struct SignSign : SignError {
    static constexpr bool signs = true;
};

struct Rosenblatt : Plain {
    static constexpr bool explodes = false, corrects = true;
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double side = t * z;
        return {side <= 0 ? eta * t : 0, side < 0 ? -side : 0, side};
    }
};

struct Tanh : Plain {
    static constexpr bool explodes = false;
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double phi = tangent(z), e = t - phi;
        return {eta * e * (1 - phi * phi), e * e / 2, t * z};
    }
};

struct Logistic : Plain {
    static constexpr bool explodes = false;
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double phi = logistic(z), e = t - phi;
        return {eta * e * (phi * (1 - phi)), e * e / 2, (2 * t - 1) * z};
    }
};

// What the recursive rules carry besides: a square root S of P, and room for one row.
struct Recursion {
    double *x, *f, *Sf;  // padded
    double* S;
    index n, pitch, period;
    Tally* tally;
    bool apart;  // S is the diagonal of second moments

    double turn(double* S) const;
    void shrink(double* S, double beta, double growth) const;
};

// The weights of a scan while it runs: rows of theta with the intercept last, padded. z: their outputs. g: a number
// for each output, that of the late weights or the factor of the row.
struct Weights {
    double *w, *lag, *z, *g;
    index K, D, pitch;
    double one;
    const double* p;
    double step = 0;  // the number of the step at hand
    Recursion recursion{};

    double* at(index k) const { return w + k * pitch; }
    double* late(index k) const { return lag ? lag + k * pitch : nullptr; }

    template <bool signs, bool leaks, class Row>
    ADALINE_INLINE void add(const Row& x, index k, double g, double decay, double m) const {
        x.template add<signs, leaks>(at(k), g, decay, late(k), m);
    }

    // w_k += g d for a direction d, (1 + D) with the intercept last.
    void follow(index k, double g, const double* d, double m) const {
        DenseRow<double>{d, D, d[D]}.add<false, false>(at(k), g, 1, late(k), m);
    }
};

// What a row showed.
struct Seen {
    double loss = 0, error = 0, mistakes = 0, updates = 0, margin = infinity;

    // Counts an output z for the target t as an update, with half the square of its error, which is returned.
    double take_error(double t, double z) {
        const double e = t - z, side = t * z;
        loss += e * e / 2;
        mistakes += side <= 0;
        updates += 1;
        if (side < margin) margin = side;
        return e;
    }
};

// How a rule of one output changes its weights, and what counts as an update or an end of the scan.
struct Manner {
    bool signs, leaks, explodes, corrects;
};

inline Manner manner_of(Rule rule) {
    const auto of = []<class R>(R) { return Manner{R::signs, R::leaks, R::explodes, R::corrects}; };
    switch (rule) {
        case Rule::lms:
        case Rule::normalized:
        case Rule::sign_error: return of(Lms{});
        case Rule::leaky: return of(Leaky{});
        case Rule::sign_data:
        case Rule::sign_sign: return of(SignData{});
        case Rule::perceptron: return of(Rosenblatt{});
        default: return of(Tanh{});
    }
}

// Loops for each rule would cost the compiler minutes, and a branch that is always the same is nearly free.
template <class A, class B>
struct Either : A {
    bool first;
    ADALINE_INLINE Gain gain(double z, double t, double square, double eta, const double* p) const {
        return first ? A::gain(z, t, square, eta, p) : B::gain(z, t, square, eta, p);
    }
};

ADALINE_INLINE Gain gain_of(Rule rule, double z, double t, double square, double eta, const double* p) {
    if (rule == Rule::lms || rule == Rule::leaky || rule == Rule::sign_data) [[likely]]
        return Lms::gain(z, t, square, eta, p);
    if (rule == Rule::perceptron) return Rosenblatt::gain(z, t, square, eta, p);
    if (rule == Rule::normalized) return Normalized::gain(z, t, square, eta, p);
    if (rule == Rule::sigmoid_tanh) return Tanh::gain(z, t, square, eta, p);
    if (rule == Rule::sigmoid_logistic) return Logistic::gain(z, t, square, eta, p);
    return SignError::gain(z, t, square, eta, p);
}

// K outputs, each with a rule of its own.
template <class Row>
ADALINE_INLINE Seen apiece(Rule rule, Manner how, const Weights& a, const Row& x, Met met, const double* t, double eta,
                           double m) {
    Seen seen;
    for (index k = 0; k < a.K; ++k) {
        const double z = k ? x.dot(a.at(k)) : met.z;
        a.z[k] = z;
        const Gain out = gain_of(rule, z, t[k], met.square, eta, a.p);
        const double e = t[k] - z;
        seen.loss += out.loss;
        if (how.explodes && !(e * e <= seen.error)) seen.error = e * e;
        seen.mistakes += out.side <= 0;
        seen.updates += how.corrects ? out.side <= 0 : 1;
        if (out.side < seen.margin) seen.margin = out.side;
        if (how.leaks) [[unlikely]]
            a.template add<false, true>(x, k, out.g, 1 - eta * a.p[1], m);
        else if (out.g != 0 && how.signs) [[unlikely]]
            a.template add<true, false>(x, k, out.g, 1, m);
        else if (out.g != 0)
            a.template add<false, false>(x, k, out.g, 1, m);
    }
    return seen;
}

// K outputs that compete for the class of the row, as it changes them one after the other.
template <class Row>
Seen kesler(const Weights& a, const Row& x, const double* t, double eta, double m) {
    const index i = index(*t);
    Seen seen;
    double mine = a.z[i];
    for (index j = 0; j < a.K; ++j) {
        if (j == i) continue;
        const double lead = mine - a.z[j];
        if (lead < seen.margin) seen.margin = lead;
        if (lead > 0) continue;
        seen.loss -= lead;
        ++seen.updates;
        for (const index k : {i, j}) a.template add<false, false>(x, k, k == i ? eta : -eta, 1, m);
        mine = x.dot(a.at(i));
    }
    seen.mistakes = seen.updates > 0;
    return seen;
}

// The rules below are given the outputs z of all weights. This one leaves in g what times the row is to be added.
inline Seen softmax(const Weights& a, const double* t, double eta) {
    const index i = index(*t);
    double top = -infinity, rival = -infinity, total = 0;
    for (index k = 0; k < a.K; ++k) {
        if (a.z[k] > top) top = a.z[k];
        if (k != i && a.z[k] > rival) rival = a.z[k];
    }
    for (index k = 0; k < a.K; ++k) total += a.g[k] = std::exp(a.z[k] - top);
    for (index k = 0; k < a.K; ++k) a.g[k] = eta * (double(k == i) - a.g[k] / total);
    const double lead = a.z[i] - rival;
    return {std::log(total) - (a.z[i] - top), 0, double(lead <= 0), double(a.K), lead};
}

}  // namespace adaline::ADALINE_ISA
