// The common case of a scan, with its tallies in registers: one output, a constant rate, no weights.
//
// The same bits as the general loop, which takes over at any row that needs more: the first, one
// after which theta is saved, one that ends the scan.
#pragma once

#include "rules.hpp"

namespace adaline::ADALINE_ISA {

// Few columns: the weights are in registers too.
template <int V>
struct Held {
    const Together rows;
    double* const weights;
    vec w[V], v[V];

    ADALINE_INLINE Held(const Together& rows, double* weights) : rows(rows), weights(weights) {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) w[k] = load(weights + k * lanes);
    }

    index rest() const { return rows.x.columns - (V - 1) * lanes; }

    template <class T>
    ADALINE_INLINE void read(const void* row) {
        const T* const p = static_cast<const T*>(row);
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) v[k] = k + 1 < V ? load(p + k * lanes) : end(p + k * lanes, rest(), rows.one);
    }

    ADALINE_INLINE Met meet(index i, index last) {
        if (rows.x.chosen && i + rows.ahead < last) {
            const char* const next = static_cast<const char*>(rows.find(i + rows.ahead));
#pragma GCC unroll 4
            for (int k = 0; k < V; ++k) __builtin_prefetch(next + 64 * k);
        }
        if (rows.x.single) [[unlikely]]
            read<float>(rows.find(i));
        else
            read<double>(rows.find(i));
        vec products{}, squares{};
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) {
            products = multiply_add(v[k], w[k], products);
            squares = multiply_add(v[k], v[k], squares);
        }
        return {across(products), across(squares), true};
    }

    // The intercept, at the end, does not leak.
    template <bool signs, bool leaks>
    ADALINE_INLINE void add(double g, double decay) {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) {
            const vec leak = broadcast(decay), kept = k + 1 < V ? leak : with_lane(leak, rest(), 1);
            w[k] = multiply_add(broadcast(g), signs ? sign_of(v[k]) : v[k], leaks ? w[k] * kept : w[k]);
        }
    }

    ADALINE_INLINE void leave() const {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) store(weights + k * lanes, w[k]);
    }
};

// Any other rows.
template <class Rows>
struct Beside {
    const Rows rows;
    double* const w;
    decltype(rows.at(0)) row;

    ADALINE_INLINE Beside(const Rows& rows, double* w) : rows(rows), w(w), row{} {}
    ADALINE_INLINE Met meet(index i, index) {
        row = rows.at(i);
        return row.meet(w);
    }
    template <bool signs, bool leaks>
    ADALINE_INLINE void add(double g, double decay) {
        row.template add<signs, leaks>(w, g, decay, nullptr, 0);
    }
    ADALINE_INLINE void leave() const {}
};

#if defined(__AVX512F__)
// Short sparse rows: up to 16 weights are read once and kept until they are written.
struct Few {
    using Rows = Entire<std::int32_t>;

    const Rows rows;
    double *const w, w0;
    Rows::Row row;
    vec v[2], old[2];
    __m256i j[2];
    __mmask8 there[2];

    ADALINE_INLINE Few(const Rows& rows, double* w) : rows(rows), w(w), w0(w[rows.D]), row{} {}

    ADALINE_INLINE Met meet(index i, index) {
        const Rows::Span span = rows.find(i);
        row.n = span.n;
        if (span.n > 16) [[unlikely]] {
            w[rows.D] = w0;
            row = rows.row(span);
            return row.meet(w);
        }
        const unsigned all = (1u << span.n) - 1;
        const __m256i columns = _mm256_set1_epi32(int(rows.D));
        vec z{}, s{};
        bool within = true;
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k) {
            there[k] = __mmask8(all >> 8 * k);
            j[k] = _mm256_maskz_loadu_epi32(there[k], rows.indices + span.begin + 8 * k);
            v[k] = rows.single ? some(rows.numbers<float>(span) + 8 * k, there[k])
                               : some(rows.numbers<double>(span) + 8 * k, there[k]);
            const __mmask8 good = _mm256_mask_cmplt_epu32_mask(there[k], j[k], columns);
            within &= good == there[k];
            old[k] = _mm512_mask_i32gather_pd(vec{}, good, j[k], w, 8);
            z = multiply_add(v[k], old[k], z);
            s = multiply_add(v[k], v[k], s);
        }
        return {multiply_add(rows.one, w0, across(z)), rows.one + across(s), within};
    }

    template <bool signs, bool leaks>
    ADALINE_INLINE void add(double g, double) {
        static_assert(!leaks);
        if (row.n > 16) [[unlikely]] {
            row.add<signs, false>(w, g, 1, nullptr, 0);
            w0 = w[rows.D];
            return;
        }
        w0 = multiply_add(g, rows.one, w0);
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k)
            _mm512_mask_i32scatter_pd(w, there[k], j[k], multiply_add(broadcast(g), signs ? sign_of(v[k]) : v[k], old[k]), 8);
    }

    ADALINE_INLINE void leave() const { w[rows.D] = w0; }
};
#endif

// Takes rows from `first` to before `last` while nothing happens; returns how many.
template <class R, class Machine>
[[gnu::noinline]] index quick(R rule, const Scanner& s, Machine machine, const double* targets, const Visits& v,
                              index first, index last, Tally& out) {
    constexpr index ahead = 16;
    const index* const order = v.order;
    double* const outputs = v.outputs;
    const double eta = s.rate, decay = 1 - eta * s.parameter[1];
    double weight = out.weight, loss = out.loss, squares = out.squares, largest = out.largest, margin = out.margin;
    double energies = out.energy, reach = out.reach, worst = out.worst;
    index i = first, wrong = 0;
    for (; i < last; ++i) {
        if (order && i + ahead < last) __builtin_prefetch(targets + order[i + ahead]);
        const Met met = machine.meet(i, last);
        const double t = targets[order ? order[i] : i], e = t - met.z, error = e * e, energy = t * t;
        const Gain gain = rule.gain(met.z, t, met.square, eta, s.parameter);
        if (!(met.square + energy + gain.loss < infinity && met.within)) break;
        const double far = energy > reach ? energy : reach;
        if (R::explodes && !(error <= 1e16 * far)) break;
        if (R::explodes) {
            reach = far;
            worst = error > worst ? error : worst;
        }
        if (outputs) outputs[i] = met.z;
        weight += 1;
        loss += gain.loss;
        squares += met.square;
        largest = met.square > largest ? met.square : largest;
        wrong += gain.side <= 0;
        margin = gain.side < margin ? gain.side : margin;
        energies += energy;
        if (R::leaks || __builtin_expect(gain.g != 0, !R::corrects)) machine.template add<R::signs, R::leaks>(gain.g, decay);
    }
    machine.leave();
    out.steps += double(i - first);
    out.weight = weight;
    out.loss = loss;
    out.squares = squares;
    out.largest = largest;
    out.mistakes += double(wrong);
    out.updates += double(R::corrects ? wrong : i - first);
    out.margin = margin;
    out.energy = energies;
    out.reach = reach;
    out.worst = worst;
    return i - first;
}

// A branch that is always the same costs less than a loop for each of two rules.
template <class A, class B>
struct Either : A {
    bool first;
    ADALINE_INLINE Gain gain(double z, double t, double square, double eta, const double* p) const {
        return first ? A::gain(z, t, square, eta, p) : B::gain(z, t, square, eta, p);
    }
};

// Whether a rule has a quick loop over rows of this kind. Over sparse ones, a leak is slow anyway.
template <class Rows>
inline bool is_quick(Rule rule) {
    switch (rule) {
        case Rule::lms:
        case Rule::normalized:
        case Rule::sign_error:
        case Rule::perceptron:
        case Rule::sigmoid_tanh:
        case Rule::sign_data:
        case Rule::sign_sign:
        case Rule::sigmoid_logistic: return true;
        case Rule::leaky: return std::is_same_v<Rows, Together>;
        default: return false;
    }
}

template <class Rows>
index quickly(const Scanner& s, const Rows& rows, const double* targets, const Visits& v, index first, index last,
              double* w, Tally& tally) {
    const auto run = [&](auto machine) {
        const auto by = [&](auto rule) { return quick(rule, s, machine, targets, v, first, last, tally); };
        if constexpr (std::is_same_v<Rows, Together>)
            if (s.rule == Rule::leaky) return by(Leaky{});
        switch (s.rule) {
            case Rule::lms: return by(Lms{});
            case Rule::perceptron: return by(Rosenblatt{});
            case Rule::normalized: return by(Normalized{});
            case Rule::sign_error: return by(SignError{});
            case Rule::sign_data:
            case Rule::sign_sign: return by(Either<SignData, SignSign>{{}, s.rule == Rule::sign_data});
            default: return by(Either<Tanh, Logistic>{{}, s.rule == Rule::sigmoid_tanh});
        }
    };
    if constexpr (std::is_same_v<Rows, Together>) {
        switch (rows.x.columns / lanes) {
            case 0: return run(Held<1>(rows, w));
            case 1: return run(Held<2>(rows, w));
            case 2: return run(Held<3>(rows, w));
            case 3: return run(Held<4>(rows, w));
        }
    }
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<Rows, Few::Rows>) return run(Few(rows, w));
#endif
    return run(Beside<Rows>(rows, w));
}

}  // namespace adaline::ADALINE_ISA
