// Recursive least squares in square-root form (Potter): P = S S' stays positive definite.
//
//   f = S'x,   a = lam / weight,   r = a + f.f
//   w += (S f / r) (t - w.x),   S = (S - S f f' / (r + sqrt(r a))) / sqrt(lam)
//
// S is (1 + D) x (1 + D), the intercept last, its rows padded with zeros to whole vectors.
#pragma once

#include "rules.hpp"

namespace adaline::ADALINE_ISA {

// f = S'x, by as many columns as registers hold; returns f.f. Where that takes several rounds, the columns where x is not
// zero are listed first: in sparse rows no branch could be predicted. Here and below members are copied first: a store
// of a vector could change them, for all that the compiler knows.
inline double Recursion::turn(double* S) const {
    const index n = this->n, pitch = this->pitch;
    const double* const x = this->x;
    double* const f = this->f;
    index *const nonzero = this->nonzero, *end = nonzero;
    const bool listed = pitch > 8 * lanes;
    for (index i = 0; listed && i < n; ++i) {
        *end = i;
        end += x[i] != 0;
    }
    vec square{};
    const auto turned = [&]<int V>(index j) __attribute__((always_inline)) {
        vec sum[V] = {};
        const auto add = [&](index i) __attribute__((always_inline)) {
            const vec xi = broadcast(x[i]);
#pragma GCC unroll 4
            for (int v = 0; v < V; ++v) sum[v] = multiply_add(xi, load(S + i * pitch + j + v * lanes), sum[v]);
        };
        if (listed)
            for (const index* i = nonzero; i < end; ++i) add(*i);
        else
            for (index i = 0; i < n; ++i)
                if (x[i] != 0) add(i);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
            store(f + j + v * lanes, sum[v]);
            square = multiply_add(sum[v], sum[v], square);
        }
    };
    index j = 0;
    for (; j + 4 * lanes <= pitch; j += 4 * lanes) turned.template operator()<4>(j);
    for (; j + 2 * lanes <= pitch; j += 2 * lanes) turned.template operator()<2>(j);
    for (; j < pitch; j += lanes) turned.template operator()<1>(j);
    return across(square);
}

// Sf = S f,   S = (S - beta Sf f') growth.
inline void Recursion::shrink(double* S, double beta, double growth) const {
    const index n = this->n, pitch = this->pitch;
    double *const f = this->f, *const Sf = this->Sf;
    const vec grown = broadcast(growth);
    for (index i = 0; i < n; ++i) {
        double* const row = S + i * pitch;
        vec s{};
        for (index j = 0; j < pitch; j += lanes) s = multiply_add(load(row + j), load(f + j), s);
        Sf[i] = across(s);
        const vec g = broadcast(-beta * Sf[i]);
        for (index j = 0; j < pitch; j += lanes)
            store(row + j, multiply_add(g, load(f + j), load(row + j)) * grown);
    }
}

inline index room_of(const Scanner& s) { return s.roots ? 4 * padded(1 + s.D) : 0; }

inline Recursion recursion_of(const Scanner& s) {
    if (!s.roots) return {};
    const index pitch = padded(1 + s.D);
    return {scratch.zeros(pitch), scratch.zeros(pitch), scratch.zeros(pitch),
            reinterpret_cast<index*>(scratch.array(pitch)), s.root, 1 + s.D, pitch, s.period,
            s.tally, s.diagonal};
}

inline Seen recursive(const Weights& a, const double* t, double eta) {
    const Recursion& u = a.recursion;
    const bool held = u.tally->hold > 0;
    const double noise = (held ? 1 : a.p[0]) / eta, r = noise + u.turn(u.S);
    u.shrink(u.S, 1 / (r + std::sqrt(r * noise)), held ? 1 : a.p[1]);
    Seen seen;
    for (index k = 0; k < a.K; ++k) {
        const double e = seen.take_error(t[k], a.z[k]);
        a.follow(k, e / r, u.Sf);
    }
    if (index(a.step) % u.period == 0) {
        double most = 0;
        for (index i = 0; i < u.n * u.pitch; ++i) most = std::fmax(most, std::fabs(u.S[i]));
        u.tally->hold = most > 1e100;
    }
    return seen;
}

}  // namespace adaline::ADALINE_ISA
