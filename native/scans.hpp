// A scan: a rule over rows in their order, with its tallies and the weights saved.
//
// All state is in the arrays of the Scanner, so that runs over parts of the rows give the bits of one run. A row or
// a step that is not finite, or errors that explode, end it; theta is then the last one saved.
#pragma once

#include <cstddef>

#include "adaptive.hpp"
#include "quick.hpp"

namespace adaline::ADALINE_ISA {

inline double rate(const Scanner& s, double n, const double* rates, index k) {
    switch (s.schedule) {
        case Schedule::constant: return s.rate;
        case Schedule::inverse: return s.rate / n;
        case Schedule::power: return s.rate / std::pow(1 + n / s.tau, s.power);
        case Schedule::given: break;
    }
    return rates[k];
}

// Out of line, as those below: a few times a call, and in the loops of every layout.
[[gnu::noinline]] inline bool finite(const double* a, index n) {
    double s = 0;
    for (index i = 0; i < n; ++i) s += a[i] * 0;
    return s == 0;
}

// Between theta, (K, 1 + D) with the intercept first, and padded rows with the intercept last.
[[gnu::noinline]] inline void spread(const double* theta, double* w, index K, index D, index pitch) {
    for (index k = 0; k < K; ++k, theta += 1 + D, w += pitch) {
        __builtin_memcpy(w, theta + 1, sizeof(double) * D);
        w[D] = theta[0];
    }
}

[[gnu::noinline]] inline void gather(double* theta, const double* w, index K, index D, index pitch) {
    for (index k = 0; k < K; ++k, theta += 1 + D, w += pitch) {
        __builtin_memcpy(theta + 1, w, sizeof(double) * D);
        theta[0] = w[D];
    }
}

// How a rule takes a row: its law, and what is done with the row and the factors g then.
struct Manner {
    Law law = nullptr;  // none: Kesler's
    bool signs = false, leaks = false, explodes = false;
    bool always = false;   // a row is added though g is zero
    bool carries = false;  // the law reads the row in recursion.x, in g the outputs of late weights, and takes it all
};

inline Manner manner_of(Rule rule) {
    const auto of = []<class R>(R) { return Manner{apiece<R>, R::signs, R::leaks, R::explodes}; };
    const auto carrying = [](Law law) { return Manner{.law = law, .carries = true}; };
    switch (rule) {
        case Rule::lms: return of(Lms{});
        case Rule::normalized: return of(Normalized{});
        case Rule::leaky: return of(Leaky{});
        case Rule::sign_error: return of(SignError{});
        case Rule::sign_data: return of(SignData{});
        case Rule::sign_sign: return of(SignSign{});
        case Rule::perceptron: return of(Rosenblatt{});
        case Rule::kesler: return {};
        case Rule::sigmoid_tanh: return of(Tanh{});
        case Rule::sigmoid_logistic: return of(Logistic{});
        case Rule::softmax: return {.law = softmax, .always = true};
        case Rule::rls: return carrying(recursive);
        case Rule::adaptive_identity: return carrying(adaptive_identity);
        case Rule::wide_identity: return carrying(adaptive_sigmoid<straight>);
        case Rule::adaptive_tanh:
        case Rule::wide_tanh: return carrying(adaptive_sigmoid<hyperbolic>);
        case Rule::adaptive_logistic:
        case Rule::wide_logistic: return carrying(adaptive_sigmoid<logarithmic>);
        case Rule::adaptive_softmax:
        case Rule::wide_softmax: return carrying(adaptive_softmax);
    }
    return {};
}

// w_k += g_k x, or its signs, for the outputs k.
template <bool signs, bool leaks, class Row>
ADALINE_INLINE void add_each(const Weights& a, const Row x, double eta, bool always) {
    const double decay = leaks ? 1 - eta * a.p[1] : 1, m = a.m, *g = a.g, *const end = g + a.K;
    const index pitch = a.pitch;
    double *w = a.w, *lag = a.lag;
    for (; g < end; ++g, w += pitch, lag += lag ? pitch : 0)
        if (always || *g != 0) x.template add<signs, leaks>(w, *g, decay, lag, m);
}

// Out of line: the loop over the rows stays small, for the compiler too. Rows are copied first: what lies in memory
// would be read again after every store.
template <bool signs, bool leaks, class Row>
[[gnu::noinline]] void add_row(const Weights& a, const Row& row, double eta) {
    add_each<signs, leaks>(a, Row(row), eta, leaks);
}

template <class Row>
[[gnu::noinline]] Seen carry(Law law, const Weights& a, const Row& row, bool bends, const double* t, double eta) {
    const Row x = row;
    if (bends) x.dots(a.g, a.lag, a.pitch, a.K);
    x.write(a.recursion.x);
    const Seen seen = law(a, t, eta);
    x.clear(a.recursion.x);
    return seen;
}

template <class Rows>
void scan(const Scanner& s, const Rows rows, const Targets y, const Visits v, const Weights& shared) {
    using Row = decltype(rows.whole(0));
    Weights a = shared;
    const Manner how = manner_of(s.rule);
    const bool adds = how.law && !how.carries;
    const auto add = how.signs ? add_row<true, false, Row> : how.leaks ? add_row<false, true, Row> : nullptr;
    Tally tally = *s.tally;
    const index size = s.K * (1 + s.D), T = y.K;
    index taken = 0, left = s.period - index(tally.steps) % s.period;
    const auto stop = [&](ScanState state, index i) {
        tally.status = double(state);
        tally.stopped = double(i);
        spread(s.good, a.w, s.K, s.D, a.pitch);
    };
    const bool plain = s.K == 1 && s.schedule == Schedule::constant && s.average < 0 && !y.weight && is_quick<Rows>(s.rule);
    const index count = runs(tally) ? v.count : 0;
    for (index i = 0; i < count; ++i) {
        if constexpr (specialised) {
            if (plain && left > 1 && tally.steps > 0) {
                const index last = v.count - i < left - 1 ? v.count : i + left - 1;
                const index done = quickly(s, rows, y.t, v, i, last, a.w, tally);
                i += done;
                left -= done;
                taken += done;
                if (i == v.count) break;
            }
        }
        const index r = v.order ? v.order[i] : i;
        const double weight = y.weight ? y.weight[r] : 1;
        if (v.order && i + 16 < v.count) __builtin_prefetch(y.t + v.order[i + 16] * T);
        if (weight == 0 && !v.outputs) continue;
        const auto x = rows.whole(i);
        const Met met = x.meet(a.w);
        if (!met.within) {
            stop(ScanState::stray_index, i);
            break;
        }
        if (weight == 0) {
            for (index k = 0; k < s.K; ++k) v.outputs[i * s.K + k] = k ? x.dot(a.at(k)) : met.z;
            continue;
        }
        const double* const t = y.t + r * T;
        const bool usable = met.square < infinity && (!s.classes || (*t >= 0 && *t < double(s.K)));
        double far = 0;
        for (index k = 0; k < T; ++k) far += t[k] * 0;
        if (!usable || far != 0) {
            stop(ScanState::not_finite, i);
            break;
        }
        const double n = a.step = tally.steps + 1, eta = weight * rate(s, n, v.rates, taken++);
        if (a.lag && n > s.average) a.m = n - s.average - 1;
        a.square = met.square;
        a.z[0] = met.z;
        Row(x).dots(a.z + 1, a.at(1), a.pitch, a.K - 1);
        const Seen seen = how.carries ? carry(how.law, a, x, s.bends, t, eta)
                          : how.law   ? how.law(a, t, eta)
                                      : kesler(a, x, t, eta);
        if (add)
            add(a, x, eta);
        else if (adds)
            add_each<false, false>(a, Row(x), eta, how.always);
        double energy = 0, largest = 0;
        for (index k = 0; k < T; ++k) {
            const double square = t[k] * t[k];
            energy += square;
            if (square > largest) largest = square;
        }
        if (v.outputs && s.K == 1)
            v.outputs[i] = *a.z;
        else if (v.outputs)
            __builtin_memcpy(v.outputs + i * s.K, a.z, sizeof(double) * s.K);
        if (how.explodes) {
            if (largest > tally.reach) tally.reach = largest;
            if (n == 1 && seen.error > tally.reach) tally.reach = seen.error;
            if (!(seen.error <= 1e16 * tally.reach)) {
                stop(ScanState::diverged, i);
                break;
            }
            if (seen.error > tally.worst) tally.worst = seen.error;
        }
        if (!(std::fabs(seen.loss) < infinity)) {
            stop(ScanState::diverged, i);
            break;
        }
        tally.steps = n;
        tally.weight += weight;
        tally.loss += weight * seen.loss;
        tally.squares += weight * a.square;
        if (a.square > tally.largest) tally.largest = a.square;
        tally.mistakes += seen.mistakes;
        tally.updates += seen.updates;
        if (seen.margin < tally.margin) tally.margin = seen.margin;
        tally.energy += weight * energy;
        if (--left == 0) {
            left = s.period;
            if (!finite(a.w, s.K * a.pitch)) {
                tally.worst = 0;
                stop(ScanState::diverged, i);
                break;
            }
            if (tally.worst <= 100 * tally.reach)
                gather(s.good, a.w, s.K, s.D, a.pitch);
            tally.worst = 0;
        }
    }
    gather(s.theta, a.w, s.K, s.D, a.pitch);
    if (runs(tally) && !finite(s.theta, size)) {
        tally.status = double(ScanState::diverged);
        tally.stopped = double(v.count);
        __builtin_memcpy(s.theta, s.good, sizeof(double) * size);
    }
    __builtin_memcpy(s.tally, &tally, offsetof(Tally, hold));
    if (s.average >= 0) gather(s.lag, a.lag, s.K, s.D, a.pitch);
}

// Cuts the room for the weights off, and for `extra` more doubles.
[[gnu::noinline]] inline Weights weights_of(const Scanner& s, index extra, double*& more) {
    const index pitch = padded(1 + s.D), size = s.K * pitch;
    const bool averages = s.average >= 0;
    scratch.reserve((averages ? 2 : 1) * size + 2 * s.K + extra + room_of(s), 16);
    Weights a{scratch.array(size), nullptr, scratch.array(s.K), scratch.array(s.K), s.K, s.D, pitch, s.one, s.parameter};
    for (index k = 0; k < s.K; ++k)
        for (index j = s.D; j < pitch; ++j) a.w[k * pitch + j] = 0;
    spread(s.theta, a.w, s.K, s.D, pitch);
    if (averages) {
        a.lag = scratch.zeros(size);
        spread(s.lag, a.lag, s.K, s.D, pitch);
    }
    a.recursion = recursion_of(s);
    more = scratch.array(extra);
    return a;
}

inline void scan_dense(const Scanner& s, const Dense& x, const Targets& y, const Visits& v) {
    constexpr index lot = 32;
    const index pitch = padded(s.D);
    double* room;
    if (by_rows(x)) {
        const Weights a = weights_of(s, padded(1 + s.D), room);
        return scan(s, Together{x, v.count, s.one, room}, y, v, a);
    }
    const Weights a = weights_of(s, lot * pitch + padded(1 + s.D), room);
    double* const row = room + lot * pitch;
    const double start = s.tally->steps;
    for (index first = 0; first < v.count; first += lot) {
        const index n = v.count - first < lot ? v.count - first : lot;
        typed(x, [&](const auto& m) { pack_together(room, m, first, n); });
        const Dense some{room, false, n, s.D, pitch, 1};
        const index skip = v.order ? 0 : first;
        const Targets part{y.t + skip * y.K, y.K, y.weight ? y.weight + skip : nullptr};
        scan(s, Together{some, n, s.one, row}, part,
             {n, v.order ? v.order + first : nullptr, v.rates ? v.rates + index(s.tally->steps - start) : nullptr,
              v.outputs ? v.outputs + first * s.K : nullptr},
             a);
        if (!runs(*s.tally)) {
            s.tally->stopped += double(first);
            return;
        }
    }
}

template <class Index>
void scan_entries(const Scanner& s, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    const Starts starts{x.indptr, x.short_indptr};
    index longest = 0;
    for (index i = 0; x.single && i < v.count; ++i) {
        const index row = chosen ? chosen[i] : i, n = starts[row + 1] - starts[row];
        if (n > longest) longest = n;
    }
    double* room;
    const Weights a = weights_of(s, longest + 1, room);
    scan(s, Entire<Index>{x.data, x.single, static_cast<const Index*>(x.indices), starts, s.D, s.one, chosen, v.count, room},
         y, v, a);
}

inline void scan_csr(const Scanner& s, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    (x.short_indices ? scan_entries<std::int32_t> : scan_entries<index>)(s, x, chosen, y, v);
}

}  // namespace adaline::ADALINE_ISA
