// The common case of a scan, with all it needs in registers: one output, few columns, a constant rate.
//
// The same bits as the general loop, which takes over at any row that asks for more: the first, one
// that is due to keep theta aside, one that ends the scan.
#pragma once

#include "rules.hpp"

namespace adaline::ADALINE_ISA {

// Takes rows from `first` to before `last` while nothing happens; returns how many.
template <class Rule, int V, class T>
[[gnu::noinline]] index quick(const Scanner& s, const Matrix<T>& x, const double* targets, const index* order,
                              index first, index last, double* weights, Tally& out) {
    constexpr index ahead = 16;
    const index rest = x.columns - (V - 1) * lanes;
    const double eta = s.rate, one = s.one;
    vec w[V];
#pragma GCC unroll 4
    for (int k = 0; k < V; ++k) w[k] = load(weights + k * lanes);
    Tally tally = out;
    index i = first;
    for (; i < last; ++i) {
        const T* const p = x.at(i, 0);
        if (order && i + ahead < last) {
            const char* const next = reinterpret_cast<const char*>(x.at(i + ahead, 0));
#pragma GCC unroll 4
            for (int k = 0; k < V; ++k) __builtin_prefetch(next + 64 * k);
            __builtin_prefetch(targets + order[i + ahead]);
        }
        vec v[V], products{}, squares{};
#pragma GCC unroll 4
        for (int k = 0; k < V; ++k) {
            v[k] = k + 1 < V ? load(p + k * lanes) : DenseRow<T>{p, x.columns, one}.end(p + k * lanes, rest);
            products = multiply_add(v[k], w[k], products);
            squares = multiply_add(v[k], v[k], squares);
        }
        const double z = across(products), square = across(squares), t = targets[order ? order[i] : i];
        const Gain gain = Rule::gain(z, t, square, eta, s.parameter);
        const double e = t - z, error = e * e, energy = t * t, reach = energy > tally.reach ? energy : tally.reach;
        if (!(square < infinity && std::fabs(t) < infinity && std::fabs(gain.loss) < infinity)) break;
        if (Rule::explodes && !(error <= 1e16 * reach)) break;
        if (Rule::explodes) {
            tally.reach = reach;
            tally.worst = error > tally.worst ? error : tally.worst;
        }
        const bool wrong = gain.side <= 0;
        tally.steps += 1;
        tally.weight += 1;
        tally.loss += gain.loss;
        tally.squares += square;
        tally.largest = square > tally.largest ? square : tally.largest;
        tally.mistakes += wrong;
        tally.updates += Rule::corrects ? wrong : 1;
        tally.margin = gain.side < tally.margin ? gain.side : tally.margin;
        tally.energy += energy;
        if (gain.g != 0) {
            const vec g = broadcast(gain.g);
#pragma GCC unroll 4
            for (int k = 0; k < V; ++k) w[k] = multiply_add(g, v[k], w[k]);
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < V; ++k) store(weights + k * lanes, w[k]);
    out = tally;
    return i - first;
}

template <class Rule, class T>
index quick(const Scanner& s, const Matrix<T>& x, const double* targets, const index* order, index first, index last,
            double* weights, Tally& tally) {
    const auto take = [&]<int V>() { return quick<Rule, V>(s, x, targets, order, first, last, weights, tally); };
    switch (x.columns / lanes) {
        case 0: return take.template operator()<1>();
        case 1: return take.template operator()<2>();
        case 2: return take.template operator()<3>();
        case 3: return take.template operator()<4>();
    }
    return 0;
}

// The rules that have a quick loop.
template <class Rule>
struct Quick {
    static constexpr bool exists = false;
};

template <class Rule>
struct Quick<Apiece<Rule>> {
    static constexpr bool exists = !Rule::signs && !Rule::leaks;
    using rule = Rule;
};

}  // namespace adaline::ADALINE_ISA
