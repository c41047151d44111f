// The common case of a scan, with its tallies in registers: one output, a constant rate, no weights.
//
// The same bits as the general loop, which takes over at any row that needs more: the first, one
// after which theta is saved, one that ends the scan.
#pragma once

#include "rules.hpp"

namespace adaline::ADALINE_ISA {

// Few columns: the weights are in registers too.
template <int V, class T>
struct Held {
    const Matrix<T>& x;
    double one;
    double* weights;
    vec w[V], v[V];

    ADALINE_INLINE Held(const Matrix<T>& x, double one, double* weights) : x(x), one(one), weights(weights) {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) w[k] = load(weights + k * lanes);
    }

    ADALINE_INLINE Met meet(index i, index last) {
        constexpr index ahead = 16;
        const T* const p = x.at(i, 0);
        if (x.chosen && i + ahead < last) {
            const char* const next = reinterpret_cast<const char*>(x.at(i + ahead, 0));
#pragma GCC unroll 4
            for (int k = 0; k < V; ++k) __builtin_prefetch(next + 64 * k);
        }
        vec products{}, squares{};
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) {
            const index rest = x.columns - (V - 1) * lanes;
            v[k] = k + 1 < V ? load(p + k * lanes) : DenseRow<T>{p, x.columns, one}.end(p + k * lanes, rest);
            products = multiply_add(v[k], w[k], products);
            squares = multiply_add(v[k], v[k], squares);
        }
        return {across(products), across(squares), true};
    }

    ADALINE_INLINE void add(double g) {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) w[k] = multiply_add(broadcast(g), v[k], w[k]);
    }

    ADALINE_INLINE void leave() const {
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) store(weights + k * lanes, w[k]);
    }
};

// Any other rows.
template <class Rows>
struct Beside {
    const Rows& rows;
    double* w;
    decltype(rows.at(0)) row;

    ADALINE_INLINE Beside(const Rows& rows, double* w) : rows(rows), w(w), row(rows.at(0)) {}
    ADALINE_INLINE Met meet(index i, index) {
        row = rows.at(i);
        return row.meet(w);
    }
    ADALINE_INLINE void add(double g) { row.template add<false, false>(w, g, 1, nullptr, 0); }
    ADALINE_INLINE void leave() const {}
};

#if defined(__AVX512F__)
// Short sparse rows: up to 16 weights are read once and kept until they are written.
template <class T>
struct Few {
    const Entire<T, std::int32_t>& rows;
    double *w, w0;
    SparseRow<T, std::int32_t> row;
    vec v[2], old[2];
    __m256i j[2];
    __mmask8 there[2];

    ADALINE_INLINE Few(const Entire<T, std::int32_t>& rows, double* w)
        : rows(rows), w(w), w0(w[rows.D]), row(rows.at(0)) {}

    ADALINE_INLINE Met meet(index i, index) {
        row = rows.at(i);
        if (row.n > 16) [[unlikely]] {
            w[rows.D] = w0;
            return row.meet(w);
        }
        const unsigned all = (1u << row.n) - 1;
        const __m256i columns = _mm256_set1_epi32(int(rows.D));
        vec z{}, s{};
        bool within = true;
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k) {
            there[k] = __mmask8(all >> 8 * k);
            j[k] = _mm256_maskz_loadu_epi32(there[k], row.at + 8 * k);
            v[k] = some(row.x + 8 * k, there[k]);
            const __mmask8 good = _mm256_mask_cmplt_epu32_mask(there[k], j[k], columns);
            within &= good == there[k];
            old[k] = _mm512_mask_i32gather_pd(vec{}, good, j[k], w, 8);
            z = multiply_add(v[k], old[k], z);
            s = multiply_add(v[k], v[k], s);
        }
        return {multiply_add(rows.one, w0, across(z)), rows.one + across(s), within};
    }

    ADALINE_INLINE void add(double g) {
        if (row.n > 16) [[unlikely]] {
            row.template add<false, false>(w, g, 1, nullptr, 0);
            w0 = w[rows.D];
            return;
        }
        w0 = multiply_add(g, rows.one, w0);
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k)
            _mm512_mask_i32scatter_pd(w, there[k], j[k], multiply_add(broadcast(g), v[k], old[k]), 8);
    }

    ADALINE_INLINE void leave() const { w[rows.D] = w0; }
};
#endif

// Takes rows from `first` to before `last` while nothing happens; returns how many.
template <class Law, class Machine>
[[gnu::noinline]] index quick(Law law, const Scanner& s, Machine machine, const double* targets, const index* order,
                              index first, index last, Tally& out) {
    constexpr index ahead = 16;
    const double eta = s.rate;
    double weight = out.weight, loss = out.loss, squares = out.squares, largest = out.largest, margin = out.margin;
    double energies = out.energy, reach = out.reach, worst = out.worst;
    index i = first, wrong = 0;
    for (; i < last; ++i) {
        if (order && i + ahead < last) __builtin_prefetch(targets + order[i + ahead]);
        const Met met = machine.meet(i, last);
        const double t = targets[order ? order[i] : i], e = t - met.z, error = e * e, energy = t * t;
        const Gain gain = law.gain(met.z, t, met.square, eta, s.parameter);
        if (!(met.square + energy + gain.loss < infinity && met.within)) break;
        const double far = energy > reach ? energy : reach;
        if (Law::explodes && !(error <= 1e16 * far)) break;
        if (Law::explodes) {
            reach = far;
            worst = error > worst ? error : worst;
        }
        weight += 1;
        loss += gain.loss;
        squares += met.square;
        largest = met.square > largest ? met.square : largest;
        wrong += gain.side <= 0;
        margin = gain.side < margin ? gain.side : margin;
        energies += energy;
        if (gain.g != 0) machine.add(gain.g);
    }
    machine.leave();
    out.steps += double(i - first);
    out.weight = weight;
    out.loss = loss;
    out.squares = squares;
    out.largest = largest;
    out.mistakes += double(wrong);
    out.updates += double(Law::corrects ? wrong : i - first);
    out.margin = margin;
    out.energy = energies;
    out.reach = reach;
    out.worst = worst;
    return i - first;
}

// The rules of one output that have a quick loop: without signs of the data or a leak.
inline bool is_quick(const Scanner& s) {
    const Manner how = manner_of(s.rule);
    return !how.signs && !how.leaks;
}

template <class Rows>
index quickly(const Scanner& s, const Rows& rows, const double* targets, const index* order, index first, index last,
              double* w, Tally& tally) {
    const auto run = [&](auto machine) {
        const auto by = [&](auto law) { return quick(law, s, machine, targets, order, first, last, tally); };
        switch (s.rule) {
            case Rule::lms: return by(Lms{});
            case Rule::perceptron: return by(Rosenblatt{});
            case Rule::normalized:
            case Rule::sign_error: return by(Either<Normalized, SignError>{{}, s.rule == Rule::normalized});
            default: return by(Either<Tanh, Logistic>{{}, s.rule == Rule::sigmoid_tanh});
        }
    };
    if constexpr (requires { rows.x; }) {
        using T = std::remove_cvref_t<decltype(*rows.x.at(0, 0))>;
        switch (rows.x.columns / lanes) {
            case 0: return run(Held<1, T>(rows.x, s.one, w));
            case 1: return run(Held<2, T>(rows.x, s.one, w));
            case 2: return run(Held<3, T>(rows.x, s.one, w));
            case 3: return run(Held<4, T>(rows.x, s.one, w));
        }
    }
#if defined(__AVX512F__)
    if constexpr (requires { rows.starts; }) {
        if constexpr (Rows::Row::gathers) return run(Few(rows, w));
    }
#endif
    return run(Beside<Rows>(rows, w));
}

}  // namespace adaline::ADALINE_ISA
