// Least squares of every group of rows.
//
//   minimise sum_n weight_n (t_n - w0 - w'x_n)^2 + sum_j pull_j w_j^2   over the rows n of a group
//
// Columns are centred, A = Q R by reflections in their order; a column of which nothing is left depends on those before
// it and takes no part, as in R. With U = R^-1:
//
//   w = U z, z = the head of Q't,   Var(w_j) = sigma^2 |row j of U|^2,   Var(w0) = sigma^2 (1/W + |U'mean|^2)
//
// Then r = t - w0 - w'x and g = X'r - pull w are formed in double-double on the rows as they are; w += U U'g, and what
// the same step would still change bounds the error of w: relatively to that step, the factor is off by at most slack.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

// The columns of a group, centred and factored; what every fit to them begins with.
class GroupColumns {
  protected:
    static constexpr double unit = 0x1p-53, nan = std::numeric_limits<double>::quiet_NaN();
    static constexpr double most_condition = 1e7;        // beyond it the rank is for the caller to decide
    static constexpr double least = 1e-140, most = 1e140;  // of lengths: their squares stay in range
    static constexpr double negligible = 0x1p-70;        // a coefficient that counts as zero next to the others
    static constexpr int most_steps = 3;                 // of refinement

    const GroupRows rows;
    const index D;
    std::vector<double> x, a, weight, R, U, mean, length, theta, error, half_mean;
    std::vector<dd<vec>> sums;
    std::vector<index> kept;
    index n = 0, positive = 0, padded = 0, p = 0;  // rows, those of positive weight, columns kept
    double total = 0, worst_noise = 0, condition = 0, slack = 0;

    static double dot(const double* u, const double* v, index size) {
        vec s{};
        for (index i = 0; i < size; i += lanes) s = multiply_add(load(u + i), load(v + i), s);
        return across_lanes(s);
    }

    static index whole_vectors(index size) { return (size + lanes - 1) / lanes * lanes; }

    double* raw(index j) { return x.data() + j * padded; }
    double* column(index j) { return a.data() + j * tall(); }
    index tall() const { return padded + (rows.pull ? whole_vectors(D) : 0); }

    // The rows of a group, column by column; false where a number is missing or infinite, in *where.
    bool gather(index begin, index* where) {
        for (index j = 0; j <= D; ++j) {
            const double* const from = j < D ? rows.columns[j] : rows.t;
            double* const to = raw(j);
            double probe = 0;
            for (index i = 0; i < n; ++i) {
                const double value = from[rows.order ? rows.order[begin + i] : begin + i];
                to[i] = value;
                probe += value - value;
            }
            if (probe != 0) return *where = j, false;
            for (index i = n; i < padded; ++i) to[i] = 0;
        }
        for (index i = 0; i < padded; ++i)
            weight[i] = i >= n ? 0 : rows.weight ? rows.weight[rows.order ? rows.order[begin + i] : begin + i] : 1;
        total = 0;
        positive = 0;
        for (index i = 0; i < n; ++i) total += weight[i], positive += weight[i] > 0;
        return true;
    }

    // Centred columns of rows times the square roots of their weights, and below them the roots of the penalties.
    bool centre() {
        worst_noise = 0;
        for (index j = 0; j <= D; ++j) {
            const double* const from = raw(j);
            double* const to = column(j);
            double middle = 0, largest = 0;
            if (rows.intercept) {
                middle = dot(weight.data(), from, padded) / total;
                double rest = 0;
                for (index i = 0; i < n; ++i) rest += weight[i] * (from[i] - middle);
                middle += rest / total;
            }
            for (index i = 0; i < n; ++i) {
                largest = std::fmax(largest, std::fabs(from[i]));
                to[i] = rows.weight ? std::sqrt(weight[i]) * (from[i] - middle) : from[i] - middle;
            }
            for (index i = n; i < tall(); ++i) to[i] = 0;
            mean[j] = middle;
            length[j] = std::sqrt(dot(to, to, tall()));
            if (!(largest < most) || (length[j] != 0 && !(length[j] > least && length[j] < most))) return false;
            if (j < D && length[j] > 0) {
                const double noise = unit * largest * std::sqrt(total) / length[j];
                if (rows.pull && rows.pull[j] > 0) {
                    to[padded + j] = std::sqrt(rows.pull[j]);
                    length[j] = std::hypot(length[j], to[padded + j]);
                } else {
                    worst_noise = std::fmax(worst_noise, noise);
                }
            }
        }
        return true;
    }

    // A = Q R over the columns that are kept; t becomes Q't. False where the rank is doubtful.
    bool factor(GroupState* state, index* where) {
        const index m = tall();
        p = 0;
        for (index j = 0; j < D; ++j) {
            double* const own = column(j);
            double* const r = R.data() + p * D;  // column p of R
            for (index i = 0; i < p; ++i) r[i] = own[i], own[i] = 0;
            const double left = std::sqrt(dot(own, own, m));
            if (left <= 2 * (double(D) + 10) * unit * length[j]) {
                const GroupState found = length[j] == 0 ? GroupState::constant : GroupState::dependent;
                if (*state != GroupState::dependent && *state != found) *state = found, *where = j;
                continue;
            }
            if (left <= 4 * worst_noise * length[j] || p == positive + (rows.pull ? D : 0)) return false;
            const double head = own[p], turned = head >= 0 ? -left : left, scale = 1 / (left * (left + std::fabs(head)));
            own[p] = head - turned;
            for (index c = j + 1; c <= D; ++c) {
                double* const other = column(c);
                const vec share = broadcast(-scale * dot(own, other, m));
                for (index i = 0; i < m; i += lanes) store(other + i, multiply_add(share, load(own + i), load(other + i)));
            }
            r[p] = turned;
            kept[p++] = j;
        }
        invert();
        return condition <= most_condition && slack <= 0.1;
    }

    // U = R^-1, column by column: U R = 1. The condition is that of columns of length one, at most.
    void invert() {
        for (index c = 0; c < p; ++c) {
            U[c * D + c] = 1 / R[c * D + c];
            for (index i = 0; i < c; ++i) {
                double s = 0;
                for (index k = i; k < c; ++k) s += U[k * D + i] * R[c * D + k];
                U[c * D + i] = -s / R[c * D + c];
            }
        }
        double inflation = 0;
        for (index i = 0; i < p; ++i) {
            double own = 0;
            for (index c = i; c < p; ++c) own += U[c * D + i] * U[c * D + i];
            error[1 + i] = std::sqrt(own);
            const double size = error[1 + i] * length[kept[i]];
            inflation += size * size;
        }
        condition = std::sqrt(double(p > 0 ? p : 1) * inflation);
        slack = 8 * double(n + 10) * double(D + 1) * unit * condition + worst_noise * worst_noise;
        transposed_product(half_mean.data(), [this](index i) { return mean[kept[i]]; });
    }

    // out = U'v
    template <class Values>
    void transposed_product(double* out, Values v) const {
        for (index c = 0; c < p; ++c) {
            double s = 0;
            for (index i = 0; i <= c; ++i) s += U[c * D + i] * v(i);
            out[c] = s;
        }
    }

    // out = U v
    void product(double* out, const double* v) const {
        for (index i = 0; i < p; ++i) {
            double s = 0;
            for (index c = i; c < p; ++c) s += U[c * D + i] * v[c];
            out[i] = s;
        }
    }

    static double norm(const std::vector<double>& v, index size) {
        double s = 0;
        for (index k = 0; k < size; ++k) s += v[k] * v[k];
        return std::sqrt(s);
    }

    // Correct digits of the worst coefficient; coefficient k of those that are kept, 0 the constant, is off by off(k).
    template <class Off>
    double digits(Off off) const {
        const double root = std::sqrt(total);
        double largest = std::fabs(theta[0]) * root * rows.intercept, share = 0;
        for (index k = 0; k < p; ++k) largest = std::fmax(largest, std::fabs(theta[1 + k]) * length[kept[k]]);
        for (index k = 0; k <= p; ++k) {
            if (k == 0 && !rows.intercept) continue;
            const double away = off(k), size = std::fabs(theta[k]);
            if (std::fmax(size, away) * (k ? length[kept[k - 1]] : root) <= negligible * largest) continue;
            if (!(size > away)) return 0;
            share = std::fmax(share, away / size);
        }
        return -std::log10(share + unit);
    }

    static void set(const GroupFit& out, index j, double estimate, double error, bool tested) {
        out.theta[j] = estimate;
        out.error[j] = error;
        out.statistic[j] = tested ? estimate / error : nan;
    }

    // The rows begin .. end of the order, factored; how the fit ended, or solved, and the column that this is about.
    GroupState open(index begin, index end, const GroupFit& out, index* where) {
        n = end - begin;
        padded = whole_vectors(n > 0 ? n : 1);
        if (index(weight.size()) < padded) {
            weight.resize(padded);
            x.resize((D + 1) * padded);
            a.resize((D + 1) * tall());
        }
        for (index j = 0; j <= D; ++j) out.theta[j] = out.error[j] = out.statistic[j] = nan;
        *out.freedom = *out.digits = nan;
        GroupState state = GroupState::solved;
        *where = 0;
        if (!gather(begin, where)) return GroupState::missing;
        if (positive < (rows.pull ? 1 : D) + rows.intercept) return GroupState::few_rows;
        return centre() && factor(&state, where) ? state : GroupState::undecided;
    }

    GroupColumns(const GroupRows& rows, index D)
        : rows(rows), D(D), R(D * D), U(D * D), mean(D + 1), length(D + 1), theta(D + 1), error(D + 1), half_mean(D),
          sums(D + 1), kept(D) {}
};

class GroupRegression : protected GroupColumns {
  protected:
    static constexpr double exact_ratio = 1e-15;  // residuals that are rounding

    std::vector<double> h, step, reflected;
    double squares = 0;

    // The step that is left to w and, about the mean, to w0; sets the sum of squares.
    double residual() {
        for (index i = 0; i <= p; ++i) sums[i] = dd<vec>{vec{}, vec{}};
        vec around{};
        const vec constant = broadcast(-theta[0]);
        for (index i = 0; i < padded; i += lanes) {
            dd<vec> r = two_sum(load(raw(D) + i), constant);
            for (index k = 0; k < p; ++k) accumulate(r, broadcast(-theta[1 + k]), dd<vec>{load(raw(kept[k]) + i), vec{}});
            const vec w = load(weight.data() + i);
            r = fast_sum(r.hi, r.lo);
            const dd<vec> pulled = w * r;
            around = multiply_add(pulled.hi, r.hi, around);
            accumulate(sums[0], broadcast(1.0), pulled);
            for (index k = 0; k < p; ++k) accumulate(sums[1 + k], load(raw(kept[k]) + i), pulled);
        }
        squares = across_lanes(around);
        const dd<double> whole = across_lanes(sums[0]);
        for (index k = 0; k < p; ++k) {
            dd<double> g = across_lanes(sums[1 + k]);
            if (rows.intercept) g = g + (-mean[kept[k]]) * whole;
            if (rows.pull) g = g + two_prod(-rows.pull[kept[k]], theta[1 + k]);
            reflected[k] = g.hi;
        }
        transposed_product(h.data(), [this](index i) { return reflected[i]; });
        product(step.data(), h.data());
        return rows.intercept ? whole.hi / total : 0;
    }

    double constant_step(double whole) const {
        double out = whole;
        if (rows.intercept)
            for (index k = 0; k < p; ++k) out -= mean[kept[k]] * step[k];
        return out;
    }

    double digits_after(double whole) const {
        const double more = norm(h, p);
        return digits([&](index k) {
            return k ? std::fabs(step[k - 1]) + slack * error[k] * more
                     : std::fabs(constant_step(whole)) + slack * (std::fabs(whole) + norm(half_mean, p) * more);
        });
    }

    // Whether the residuals are no larger than rounding of the numbers makes them.
    bool exact() const {
        const double spread = length[D] / std::sqrt(total);
        double largest = std::fmax(std::hypot(mean[D], spread), std::fabs(theta[0]));
        for (index k = 0; k < p; ++k)
            largest = std::fmax(largest, std::fabs(theta[1 + k]) *
                                             std::hypot(mean[kept[k]], length[kept[k]] / std::sqrt(total)));
        return std::sqrt(squares / total) <= exact_ratio * largest;
    }

    void start() {
        product(theta.data() + 1, column(D));
        theta[0] = 0;
        if (rows.intercept) {
            theta[0] = mean[D];
            for (index k = 0; k < p; ++k) theta[0] -= mean[kept[k]] * theta[1 + k];
        }
    }

    // Standard errors and statistics by the sum of squares.
    void report(GroupState* state, const GroupFit& out) {
        double freedom = total - rows.intercept;
        for (index k = 0; k < p; ++k)
            freedom -= rows.pull ? 1 - rows.pull[kept[k]] * error[1 + k] * error[1 + k] : 1;
        const double sigma = freedom > 0.5 ? std::sqrt(squares / freedom) : nan;
        const bool tested = !exact();
        error[0] = std::sqrt(1 / total + norm(half_mean, p) * norm(half_mean, p));
        if (rows.intercept) set(out, 0, theta[0], sigma * error[0], tested);
        for (index k = 0; k < p; ++k) set(out, 1 + kept[k], theta[1 + k], sigma * error[1 + k], tested);
        *out.freedom = freedom;
        if (*state == GroupState::solved && !(freedom > 0.5)) *state = GroupState::no_freedom;
        if (*state == GroupState::solved && !tested) *state = GroupState::exact;
    }

    bool solve(GroupState* state, const GroupFit& out) {
        start();
        double whole = residual();
        for (int steps = 0;; ++steps) {
            *out.digits = digits_after(whole);
            if (*out.digits > 15 || steps == most_steps) break;
            theta[0] += constant_step(whole);
            for (index k = 0; k < p; ++k) theta[1 + k] += step[k];
            whole = residual();
        }
        if (!std::isfinite(squares) || *out.digits < 6) return false;
        report(state, out);
        return true;
    }

  public:
    GroupRegression(const GroupRows& rows, index D) : GroupColumns(rows, D), h(D), step(D), reflected(D) {}

    // One group: rows begin .. end of the order.
    void fit(index begin, index end, const GroupFit& out) {
        index where;
        GroupState state = open(begin, end, out, &where);
        const bool open = state == GroupState::solved || state == GroupState::constant || state == GroupState::dependent;
        if (open && !solve(&state, out)) state = GroupState::undecided;
        *out.state = std::int32_t(state);
        *out.column = std::int32_t(where);
    }
};

}  // namespace adaline::ADALINE_ISA
