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

// Rules of coupled outputs, and those that carry a matrix.
template <class Row>
ADALINE_INLINE Seen coupled(const Scanner& s, const Weights& a, const Row& x, Met met, const double* t, double eta,
                            double m) {
    for (index k = 0; k < a.K; ++k) a.z[k] = k ? x.dot(a.at(k)) : met.z;
    if (s.rule == Rule::kesler) return kesler(a, x, t, eta, m);
    if (s.rule == Rule::softmax) {
        const Seen seen = softmax(a, t, eta);
        for (index k = 0; k < a.K; ++k) a.template add<false, false>(x, k, a.g[k], 1, m);
        return seen;
    }
    for (index k = 0; s.bends && k < a.K; ++k) a.g[k] = x.dot(a.late(k));
    x.write(a.recursion.x);
    const Seen seen = carried(s.rule, a, t, eta, m);
    x.clear(a.recursion.x);
    return seen;
}

// apart: each output has a rule of its own.
template <bool apart, class Rows>
void scan(const Scanner& s, const Rows& rows, const Targets y, const Visits v, const Weights& shared) {
    Weights a = shared;
    const Rule rule = s.rule;
    const Manner how = manner_of(rule);
    Tally tally = *s.tally;
    const index size = s.K * (1 + s.D), T = y.K;
    index taken = 0, left = s.period - index(tally.steps) % s.period;
    const auto stop = [&](ScanState state, index i) {
        tally.status = double(state);
        tally.stopped = double(i);
        spread(s.good, a.w, s.K, s.D, a.pitch);
    };
    const bool plain = s.K == 1 && s.schedule == Schedule::constant && s.average < 0 && !y.weight && !v.outputs && is_quick(s);
    for (index i = 0; i < v.count && runs(tally); ++i) {
        if constexpr (apart && specialised) {
            if (plain && left > 1 && tally.steps > 0) {
                const index last = v.count - i < left - 1 ? v.count : i + left - 1;
                const index done = quickly(s, rows, y.t, v.order, i, last, a.w, tally);
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
        const auto x = rows.at(i);
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
        double energy = 0, largest = 0;
        bool usable = met.square < infinity && (!s.classes || (*t >= 0 && *t < double(s.K)));
        for (index k = 0; k < T; ++k) {
            const double square = t[k] * t[k];
            usable &= std::fabs(t[k]) < infinity;
            energy += square;
            if (square > largest) largest = square;
        }
        if (!usable) {
            stop(ScanState::not_finite, i);
            break;
        }
        const double n = a.step = tally.steps + 1, eta = weight * rate(s, n, v.rates, taken++);
        const double m = n > s.average ? n - s.average - 1 : 0;
        Seen seen;
        if constexpr (apart)
            seen = apiece(rule, how, a, x, met, t, eta, m);
        else
            seen = coupled(s, a, x, met, t, eta, m);
        if (v.outputs && s.K == 1)
            v.outputs[i] = *a.z;
        else if (v.outputs)
            __builtin_memcpy(v.outputs + i * s.K, a.z, sizeof(double) * s.K);
        if (apart && how.explodes) {
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
        tally.squares += weight * met.square;
        if (met.square > tally.largest) tally.largest = met.square;
        tally.mistakes += seen.mistakes;
        tally.updates += seen.updates;
        if (seen.margin < tally.margin) tally.margin = seen.margin;
        tally.energy += weight * energy;
        if (--left == 0) {
            left = s.period;
            if (!finite(a.w, s.K * a.pitch))
                stop(ScanState::diverged, i);
            else if (tally.worst <= 100 * tally.reach)
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

template <class Rows>
void scan_rows(const Scanner& s, const Rows& rows, const Targets& y, const Visits& v, const Weights& a) {
    return (s.classes || s.rule >= Rule::rls ? scan<false, Rows> : scan<true, Rows>)(s, rows, y, v, a);
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
    typed(x, [&]<class T>(const Matrix<T>& m) {
        double* room;
        if constexpr (specialised || sizeof(T) == sizeof(double))
            if (by_rows(m)) {
                Weights a = weights_of(s, 0, room);
                return scan_rows(s, Together<T>{m, v.count, s.one}, y, v, a);
            }
        constexpr index lot = 32;
        const index pitch = padded(s.D);
        Weights a = weights_of(s, lot * pitch, room);
        const double start = s.tally->steps;
        for (index first = 0; first < v.count; first += lot) {
            const index n = v.count - first < lot ? v.count - first : lot;
            pack_together(room, m, first, n);
            const Matrix<double> some{{room, false, n, s.D, pitch, 1}};
            const index skip = v.order ? 0 : first;
            const Targets part{y.t + skip * y.K, y.K, y.weight ? y.weight + skip : nullptr};
            scan_rows(s, Together<double>{some, n, s.one}, part,
                      {n, v.order ? v.order + first : nullptr, v.rates ? v.rates + index(s.tally->steps - start) : nullptr,
                       v.outputs ? v.outputs + first * s.K : nullptr},
                      a);
            if (!runs(*s.tally)) {
                s.tally->stopped += double(first);
                return;
            }
        }
    });
}

template <class T, class Index>
void scan_entries(const Scanner& s, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    double* room;
    Weights a = weights_of(s, 0, room);
    scan_rows(s, Entire<T, Index>{static_cast<const T*>(x.data), static_cast<const Index*>(x.indices),
                                  {x.indptr, x.short_indptr}, s.D, s.one, chosen, v.count},
              y, v, a);
}

inline void scan_csr(const Scanner& s, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    using Short = std::int32_t;
    (x.single ? (x.short_indices ? scan_entries<float, Short> : scan_entries<float, index>)
              : (x.short_indices ? scan_entries<double, Short> : scan_entries<double, index>))(s, x, chosen, y, v);
}

}  // namespace adaline::ADALINE_ISA
