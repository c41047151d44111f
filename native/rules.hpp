// The rules of the scans: the change of the weights by a row, in the lectures' symbols.
//
//   z = w.x,   x with the virtual ones column,   eta the rate of the step times the row's weight
//
// A rule of one output returns the factor g by which the row is added to its weights; rules of K
// coupled outputs, and the recursive ones, are given all outputs at once. None but Kesler's looks
// at the row: they are compiled once, whatever its layout.
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

// The rule of LMS, Widrow and Hoff's: scans/lms.py, which has its variants too.
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

// The rule of the perceptron: scans/perceptron.py.
struct Rosenblatt : Plain {
    static constexpr bool explodes = false, corrects = true;
    static Gain gain(double z, double t, double, double eta, const double*) {
        const double side = t * z;
        return {side <= 0 ? eta * t : 0, side < 0 ? -side : 0, side};
    }
};

// The rules of sigmoid units: scans/sigmoid.py.
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
    index* nonzero;  // room for the places of the numbers of a row that are not zero
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
    double step = 0, square = 0, m = 0;  // of the step at hand: its number, x.x, and the factor of the lag
    Recursion recursion{};

    double* at(index k) const { return w + k * pitch; }
    double* late(index k) const { return lag ? lag + k * pitch : nullptr; }

    // w_k += g d for a direction d, (1 + D) with the intercept last.
    void follow(index k, double g, const double* d) const {
        DenseRow<true>{d, D, d[D]}.add<false, false>(at(k), g, 1, late(k), m);
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

// The laws of the rules: what they make of the outputs z of a row. They leave in g what times the row is to be added.
using Law = Seen (*)(const Weights& a, const double* t, double eta);

// K outputs, each with a rule of its own.
template <class R>
Seen apiece(const Weights& a, const double* t, double eta) {
    Seen seen;
    for (index k = 0; k < a.K; ++k) {
        const double z = a.z[k];
        const Gain out = R::gain(z, t[k], a.square, eta, a.p);
        const double e = t[k] - z;
        a.g[k] = out.g;
        seen.loss += out.loss;
        if (R::explodes && !(e * e <= seen.error)) seen.error = e * e;
        seen.mistakes += out.side <= 0;
        seen.updates += R::corrects ? out.side <= 0 : 1;
        if (out.side < seen.margin) seen.margin = out.side;
    }
    return seen;
}

// K outputs that compete for the class of the row, as it changes them one after the other.
template <class Row>
ADALINE_INLINE Seen kesler(const Weights& a, const Row x, const double* t, double eta) {
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
        for (const index k : {i, j}) x.template add<false, false>(a.at(k), k == i ? eta : -eta, 1, a.late(k), a.m);
        mine = x.dot(a.at(i));
    }
    seen.mistakes = seen.updates > 0;
    return seen;
}

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
