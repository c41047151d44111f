// Least squares of windows of rows, each of which overlaps the one before: rolling, or expanding.
//
//   S = sum_n weight_n v v',  v = (1, x, t)   in double-double; rows that come are added, rows that go are subtracted
//   C = S about the means,    w = C_xx^-1 C_xt by the Cholesky factor of C_xx, refined by the double-double C
//
// A window takes a time that does not depend on its rows. What sums may be off by is bounded by their largest values on
// the way, drift_j = 2^-100 (rows added and subtracted) max S_jj; it is part of the proven digits. Where it shows in
// them, the sums are formed again; where columns nearly depend on each other, values are missing, or nothing is left of
// the targets, the rows of the window decide (groups.hpp).
#pragma once

#include "groups.hpp"

namespace adaline::ADALINE_ISA {

class WindowRegression : GroupRegression {
    static constexpr double largest_value = 1e70;   // whose square and its rounding stay in range
    static constexpr double least_pivot = 1e-8;     // share of a column beside those before it that Cholesky resolves
    static constexpr double least_residual = 1e-20; // share of the targets that sums resolve
    static constexpr double least_digits = 10;      // proven, below which the rows decide

    const index Q = D + 2;
    std::vector<dd<double>> S, C;
    std::vector<double> v, peak;
    index first = 0, last = 0;           // the window before
    index odd = 0, seen = 0, moved = 0;  // rows in S that are missing or too large, of positive weight; updates of S
    bool formed = false, adrift = false;

    void add(index i, double sign) {
        const index row = rows.order ? rows.order[i] : i;
        const double w = rows.weight ? rows.weight[row] : 1;
        bool plain = true;
        for (index j = 0; j <= D; ++j) {
            v[1 + j] = (j < D ? rows.columns[j] : rows.t)[row];
            plain = plain && std::fabs(v[1 + j]) < largest_value;
        }
        if (!plain) {
            odd += sign > 0 ? 1 : -1;
            return;
        }
        seen += (w > 0) * (sign > 0 ? 1 : -1);
        for (index a = 0; a < Q; ++a) {
            const dd<double> wv = two_prod(sign * w, v[a]);
            dd<double>* const s = S.data() + a * Q;
            for (index b = 0; b <= a; ++b) {
                accumulate(s[b], v[b], wv);
                s[b] = fast_sum(s[b].hi, s[b].lo);
            }
            peak[a] = std::fmax(peak[a], s[a].hi);
        }
        ++moved;
    }

    void form(index begin, index end) {
        std::fill(S.begin(), S.end(), dd<double>{0, 0});
        std::fill(peak.begin(), peak.end(), 0.0);
        odd = moved = seen = 0;
        for (index i = begin; i < end; ++i) add(i, 1);
    }

    // The sums about the means. False where rounding or drift leave too little of a column.
    bool centre_sums(double* off) {
        const dd<double> whole = S[0];
        total = whole.hi;
        *off = 0;
        for (index j = 0; j <= D; ++j) mean[j] = rows.intercept ? S[(1 + j) * Q].hi / total : 0;
        for (index i = 0; i <= D; ++i) {
            for (index j = 0; j <= i; ++j) {
                dd<double> c = S[(1 + i) * Q + 1 + j];
                if (rows.intercept) {
                    c = c + (-mean[i]) * S[(1 + j) * Q] + (-mean[j]) * S[(1 + i) * Q];
                    const dd<double> both = two_prod(mean[i], mean[j]);
                    c = c + whole.hi * both + whole.lo * both;
                }
                C[i * (D + 1) + j] = C[j * (D + 1) + i] = c;
            }
            const double drift = 0x1p-100 * double(moved + 16) * peak[1 + i], squares = C[i * (D + 2)].hi;
            if (!(squares > least * least && squares > 0x1p50 * drift)) return false;
            length[i] = std::sqrt(squares);
            *off = std::fmax(*off, drift / squares);
        }
        return true;
    }

    double entry(index i, index j) const { return C[i * (D + 1) + j].hi; }

    // C_xx + pull = R'R, column by column, and U = R^-1. False where columns nearly depend.
    bool factor_sums() {
        for (index c = 0; c < D; ++c)
            for (index i = 0; i <= c; ++i) {
                double s = entry(i, c) + (i == c && rows.pull ? rows.pull[c] : 0);
                const double diagonal = s;
                for (index k = 0; k < i; ++k) s -= R[i * D + k] * R[c * D + k];
                if (i == c && !(s > least_pivot * diagonal)) return false;
                R[c * D + i] = i == c ? std::sqrt(s) : s / R[i * D + i];
            }
        p = D;
        for (index c = 0; c < D; ++c) {
            kept[c] = c;
            if (rows.pull) length[c] = std::hypot(length[c], std::sqrt(rows.pull[c]));
        }
        n = last - first;
        invert();
        slack = 8 * double(D + 10) * double(D + 1) * unit * condition * condition;
        return slack <= 0.1;
    }

    // The step that is left to w by the sums, in h and step; and the sum of squares.
    void residual_of_sums() {
        dd<double> around = C[D * (D + 2)];
        for (index k = 0; k < D; ++k) {
            dd<double> g = C[k * (D + 1) + D];
            for (index j = 0; j < D; ++j) g = g + (-theta[1 + j]) * C[k * (D + 1) + j];
            around = around + (-theta[1 + k]) * (g + C[k * (D + 1) + D]);
            if (rows.pull) g = g + two_prod(-rows.pull[k], theta[1 + k]);
            reflected[k] = g.hi;
        }
        squares = around.hi;
        transposed_product(h.data(), [this](index i) { return reflected[i]; });
        product(step.data(), h.data());
    }

    // Whether the sums tell what the rows would; sets the proven digits, and whether they have drifted.
    bool solve_sums(double* proven) {
        double off;
        adrift = false;
        if (odd || seen < (rows.pull ? 1 : D) + rows.intercept || !centre_sums(&off) || !factor_sums()) return false;
        double size = 0;
        for (index k = 0; k < D; ++k) theta[1 + k] = 0;
        for (int steps = 0;; ++steps) {
            residual_of_sums();
            if (steps > most_steps || (steps && norm(h, D) <= 0x1p-56 * size)) break;
            size = length[D];
            for (index k = 0; k < D; ++k) {
                theta[1 + k] += step[k];
                size += length[k] * std::fabs(theta[1 + k]);
            }
        }
        double whole = theta[0] = 0;
        if (rows.intercept) {
            dd<double> rest = S[(D + 1) * Q];
            for (index k = 0; k < D; ++k) rest = rest + (-theta[1 + k]) * S[(1 + k) * Q];
            theta[0] = rest.hi / total;
            whole = (rest + (-theta[0]) * S[0]).hi / total;
        }
        const double drift = off * double(D + 1) * condition * size, left = slack * norm(h, D) + drift;
        adrift = drift > 0x1p-56 * size;
        *proven = digits([&](index k) {
            return k ? std::fabs(step[k - 1]) + error[k] * left
                     : std::fabs(constant_step(whole)) + norm(half_mean, D) * left;
        });
        return squares > least_residual * length[D] * length[D] && *proven > least_digits;
    }

  public:
    WindowRegression(const GroupRows& rows, index D)
        : GroupRegression(rows, D), S(Q * Q), C((D + 1) * (D + 1)), v(Q, 1), peak(Q) {}

    // A window, or a group: rows begin .. end of the order.
    void fit(index begin, index end, const GroupFit& out) {
        const index from = first, to = last;
        first = begin, last = end;
        const bool overlaps = from <= begin && begin < to && to <= end;
        if (!overlaps || 2 * (begin - from + end - to) > end - begin) {
            formed = false;
            return GroupRegression::fit(begin, end, out);
        }
        double proven = nan;
        bool known = false;
        if (formed) {
            for (index i = to; i < end; ++i) add(i, 1);
            for (index i = from; i < begin; ++i) add(i, -1);
            known = solve_sums(&proven);
        }
        if (!formed || (!odd && moved > end - begin && (adrift || !known))) {
            form(begin, end);
            known = solve_sums(&proven);
        }
        formed = true;
        if (!known) return GroupRegression::fit(begin, end, out);
        for (index j = 0; j <= D; ++j) out.theta[j] = out.error[j] = out.statistic[j] = nan;
        GroupState state = GroupState::solved;
        *out.digits = proven;
        report(&state, out);
        *out.state = std::int32_t(state);
        *out.column = 0;
    }
};

}  // namespace adaline::ADALINE_ISA
