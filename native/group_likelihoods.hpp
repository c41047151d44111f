// Likelihoods of every group of rows: logistic regression of labels 0 and 1, and Poisson regression of counts.
//
//   minimise F(w) = sum_n weight_n cost(w0 + w'x_n, t_n) + 1/2 sum_j pull_j w_j^2   over the rows n of a group
//
// Newton's steps are taken in the coordinates z of the orthonormal columns q = U'(x - mean) that the factor of the group
// gives (groups.hpp), w = U z, so that units do not matter. At their end the gradient g is formed in double-double on the
// rows as they are, and with H = L L' there
//
//   lambda = |L^-1 g|,   Var(w) = H^-1 in raw coordinates,   error of w_j <= |step_j| + sigma_j (q / (1 - q) lambda + noise)
//
// where q bounds the relative change of H in the ball of radius 2 lambda (both costs have |cost'''| <= cost'') and its
// rounding: for q <= 1/2 a minimum lies inside. Labels that some w on the way puts on their sides, rounding included, are
// separated: there is no minimum.
#pragma once

#include "group_windows.hpp"
#include "losses.hpp"

namespace adaline::ADALINE_ISA {

class GroupLikelihood : GroupColumns {
    static constexpr int most_newton = 60, most_halvings = 30;
    static constexpr double near = 1e-10;           // squared decrement from which one more step is the last
    static constexpr double most_inflation = 1e7;   // of variances, by columns that nearly depend under the weights

    const bool labels;
    const Function cost;
    std::vector<double> z, moved, g, step, H, inverse, costs, slope, curvature, constant;
    double rounding = 0;  // of the gradient, in the metric of H
    index P = 0;          // coefficients

    const double* basis(index c) { return rows.intercept && c == 0 ? constant.data() : column(c - rows.intercept); }

    // t is such that F has a minimum along w0, or nothing is known.
    GroupState targets() {
        const double* const t = raw(D);
        double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
        for (index i = 0; i < n; ++i)
            if (weight[i] > 0) lowest = std::fmin(lowest, t[i]), highest = std::fmax(highest, t[i]);
        if (labels) return lowest == highest ? GroupState::one_class : GroupState::solved;
        if (lowest < 0) return GroupState::undecided;
        return highest == 0 ? GroupState::unbounded : GroupState::solved;
    }

    // The columns q in place of the factored ones, what w costs in z, and the best constants.
    void prepare() {
        P = p + rows.intercept;
        constant.assign(padded, 1);
        for (auto* v : {&slope, &curvature}) v->resize(padded);
        for (auto* v : {&z, &moved, &g, &step}) v->assign(P, 0);
        for (auto* v : {&H, &inverse, &costs}) v->assign(P * P, 0);
        for (index k = 0; k < p; ++k) {
            double* const q = column(k);
            for (index i = 0; i < padded; i += lanes) {
                vec s{};
                for (index j = 0; j <= k; ++j)
                    s = multiply_add(broadcast(U[k * D + j]), load(raw(kept[j]) + i) - mean[kept[j]], s);
                store(q + i, s);
            }
        }
        if (rows.pull)
            for (index k = 0; k < p; ++k)
                for (index l = 0; l < p; ++l) {
                    double s = 0;
                    for (index j = 0; j <= std::min(k, l); ++j) s += rows.pull[kept[j]] * U[k * D + j] * U[l * D + j];
                    costs[(k + rows.intercept) * P + l + rows.intercept] = s;
                }
        if (rows.intercept) z[0] = labels ? std::log(mean[D] / (1 - mean[D])) : std::log(mean[D]);
    }

    // F at z, with the slopes and curvatures of the rows.
    double value(const std::vector<double>& at) {
        vec sum{};
        for (index i = 0; i < padded; i += lanes) {
            vec m{};
            for (index c = 0; c < P; ++c) m = multiply_add(broadcast(at[c]), load(basis(c) + i), m);
            const vec w = load(weight.data() + i);
            const Cost found = cost(m, load(raw(D) + i), 0);
            sum += counted(w, w * found.value);
            store(slope.data() + i, counted(w, w * found.slope));
            store(curvature.data() + i, counted(w, w * found.curvature));
        }
        double out = across_lanes(sum);
        if (rows.pull)
            for (index c = 0; c < P; ++c)
                for (index d = 0; d < P; ++d) out += 0.5 * costs[c * P + d] * at[c] * at[d];
        return out;
    }

    // The gradient in z of the slopes.
    void gradient() {
        for (index c = 0; c < P; ++c) {
            g[c] = dot(slope.data(), basis(c), padded);
            if (rows.pull)
                for (index d = 0; d < P; ++d) g[c] += costs[c * P + d] * z[d];
        }
    }

    // H = L L' of the curvatures, L below the diagonal of H, L^-1 in inverse. False where H is singular.
    bool factor_curvature() {
        double inflation = 0;
        for (index c = 0; c < P; ++c)
            for (index d = 0; d <= c; ++d) {
                const double *const u = basis(c), *const v = basis(d);
                vec s{};
                for (index i = 0; i < padded; i += lanes)
                    s = multiply_add(load(curvature.data() + i) * load(u + i), load(v + i), s);
                H[c * P + d] = across_lanes(s) + costs[c * P + d];
            }
        for (index c = 0; c < P; ++c) step[c] = H[c * P + c];
        for (index c = 0; c < P; ++c) {
            for (index d = 0; d <= c; ++d) {
                double s = H[c * P + d];
                for (index k = 0; k < d; ++k) s -= H[c * P + k] * H[d * P + k];
                if (d == c && !(s > 0)) return false;
                H[c * P + d] = d == c ? std::sqrt(s) : s / H[d * P + d];
            }
            inverse[c * P + c] = 1 / H[c * P + c];
            for (index d = 0; d < c; ++d) {
                double s = 0;
                for (index k = d; k < c; ++k) s += H[c * P + k] * inverse[k * P + d];
                inverse[c * P + d] = -s / H[c * P + c];
            }
            for (index d = 0; d <= c; ++d) inflation += step[d] * inverse[c * P + d] * inverse[c * P + d];
        }
        condition = inflation;
        return std::isfinite(inflation);
    }

    // step = H^-1 g; returns lambda^2.
    double newton_step() {
        double decrement = 0;
        std::fill(step.begin(), step.end(), 0.0);
        for (index c = 0; c < P; ++c) {
            double y = 0;
            for (index d = 0; d <= c; ++d) y += inverse[c * P + d] * g[d];
            decrement += y * y;
            for (index d = 0; d <= c; ++d) step[d] += inverse[c * P + d] * y;
        }
        return decrement;
    }

    // theta in raw coordinates of z.
    void to_raw() {
        product(theta.data() + 1, z.data() + rows.intercept);
        theta[0] = 0;
        if (rows.intercept) {
            theta[0] = z[0];
            for (index k = 0; k < p; ++k) theta[0] -= mean[kept[k]] * theta[1 + k];
        }
    }

    // Whether theta puts every label on its side, rounding included.
    bool separates() const {
        const double* const t = x.data() + D * padded;
        for (index i = 0; i < n; ++i) {
            double m = theta[0], size = std::fabs(theta[0]);
            for (index k = 0; k < p; ++k) {
                const double term = theta[1 + k] * x[kept[k] * padded + i];
                m += term, size += std::fabs(term);
            }
            if (weight[i] > 0 && !((2 * t[i] - 1) * m > 2 * double(p + 2) * unit * size)) return false;
        }
        return true;
    }

    // z near the minimum.
    GroupState descend() {
        double now = value(z);
        for (int steps = 0; steps < most_newton; ++steps) {
            gradient();
            if (!factor_curvature()) break;
            const double decrement = newton_step();
            if (labels && !rows.pull && steps && (to_raw(), separates())) return GroupState::separated;
            if (decrement <= near) {
                for (index c = 0; c < P; ++c) z[c] -= step[c];
                return GroupState::solved;
            }
            double share = 1;
            for (int halvings = 0;; share *= 0.5) {
                for (index c = 0; c < P; ++c) moved[c] = z[c] - share * step[c];
                const double then = value(moved);
                if (then <= now - 1e-4 * share * decrement + 1e-13 * std::fabs(now)) {
                    now = then;
                    break;
                }
                if (++halvings == most_halvings) return GroupState::undecided;
            }
            z.swap(moved);
        }
        return GroupState::undecided;
    }

    // g and H at theta on the rows as they are; false where H is singular.
    bool refined_gradient() {
        for (index i = 0; i <= p; ++i) sums[i] = dd<vec>{vec{}, vec{}};
        vec energy{}, squares{};
        for (index i = 0; i < padded; i += lanes) {
            dd<vec> m{broadcast(theta[0]), vec{}};
            for (index k = 0; k < p; ++k) accumulate(m, broadcast(theta[1 + k]), dd<vec>{load(raw(kept[k]) + i), vec{}});
            m = fast_sum(m.hi, m.lo);
            const vec w = load(weight.data() + i);
            const Cost found = cost(m.hi, load(raw(D) + i), 0);
            const vec bent = counted(w, w * found.curvature);
            const vec pulled = counted(w, w * multiply_add(found.curvature, m.lo, found.slope));
            const vec off = (magnitude(pulled) + bent) * (8 * unit);
            squares = multiply_add(off, off, squares);
            energy += bent > 0.0 ? off * off / bent : off / 0x1p-1000;
            store(curvature.data() + i, bent);
            accumulate(sums[0], broadcast(1.0), dd<vec>{pulled, vec{}});
            for (index k = 0; k < p; ++k) accumulate(sums[1 + k], load(raw(kept[k]) + i), dd<vec>{pulled, vec{}});
        }
        const dd<double> whole = across_lanes(sums[0]);
        for (index k = 0; k < p; ++k) {
            dd<double> own = across_lanes(sums[1 + k]);
            if (rows.intercept) own = own + (-mean[kept[k]]) * whole;
            if (rows.pull) own = own + two_prod(rows.pull[kept[k]], theta[1 + k]);
            moved[k] = own.hi;
        }
        if (rows.intercept) g[0] = whole.hi;
        transposed_product(g.data() + rows.intercept, [this](index i) { return moved[i]; });
        if (!factor_curvature()) return false;
        double length = 0;
        for (double one : inverse) length += one * one;
        rounding = std::fmin(std::sqrt(across_lanes(energy)), std::sqrt(across_lanes(squares) * length));
        return true;
    }

    // The longest row in the metric of H.
    double longest_row() {
        vec longest{};
        for (index i = 0; i < padded; i += lanes) {
            vec squares{};
            for (index c = 0; c < P; ++c) {
                vec y{};
                for (index d = 0; d <= c; ++d) y = multiply_add(broadcast(inverse[c * P + d]), load(basis(d) + i), y);
                squares = multiply_add(y, y, squares);
            }
            squares = counted(load(weight.data() + i), squares);
            longest = squares > longest ? squares : longest;
        }
        double out = 0;
        for (int l = 0; l < lanes; ++l) out = std::fmax(out, longest[l]);
        return std::sqrt(out);
    }

    // Standard errors of theta: the lengths of the rows of its map from L^-T.
    void errors() {
        for (index k = 0; k <= p; ++k) {
            double squares = 0;
            for (index c = 0; c < P; ++c) {
                double s = k == 0 && rows.intercept ? inverse[c * P] : 0;
                for (index l = 0; l < p; ++l)
                    s += inverse[c * P + l + rows.intercept] * (k ? (k - 1 <= l ? U[l * D + k - 1] : 0) : -half_mean[l]);
                squares += s * s;
            }
            error[k] = std::sqrt(squares);
        }
    }

    // Step by step nearer to the minimum, until the digits of theta are proven. False where too few are.
    bool refine(double* proven) {
        to_raw();
        for (int steps = 0;; ++steps) {
            if (!refined_gradient() || condition > most_inflation) return false;
            const double lambda = std::sqrt(newton_step()), tau = (unit * double((n + 10) * P) + 2 * slack) * condition;
            const double ball = 2 * (lambda + rounding), q = tau + std::expm1(std::fmin(longest_row() * ball, 1));
            errors();
            const double left = q <= 0.5 ? q / (1 - q) * (lambda + rounding) + rounding + tau * lambda : most;
            product(moved.data(), step.data() + rows.intercept);  // of w
            double first = rows.intercept ? step[0] : 0;
            if (rows.intercept)
                for (index k = 0; k < p; ++k) first -= mean[kept[k]] * moved[k];
            *proven = digits([&](index k) { return std::fabs(k ? moved[k - 1] : first) + error[k] * left; });
            if (*proven > 15 || steps == most_steps) return *proven >= 6;
            theta[0] -= first;
            for (index k = 0; k < p; ++k) theta[1 + k] -= moved[k];
        }
    }

  public:
    GroupLikelihood(const GroupRows& rows, index D)
        : GroupColumns(rows, D), labels(rows.loss == Loss::logistic), cost(labels ? logistic : poisson) {}

    // One group: rows begin .. end of the order.
    void fit(index begin, index end, const GroupFit& out) {
        index where;
        GroupState state = open(begin, end, out, &where);
        if (state == GroupState::solved || state == GroupState::constant || state == GroupState::dependent) {
            GroupState found = targets();
            if (found == GroupState::solved) {
                prepare();
                found = descend();
            }
            double proven = nan;
            if (found == GroupState::solved && !refine(&proven)) found = GroupState::undecided;
            if (found != GroupState::solved) state = found, where = 0;
            if (found == GroupState::solved) {
                *out.digits = proven;
                *out.freedom = std::numeric_limits<double>::infinity();
                if (rows.intercept) set(out, 0, theta[0], error[0], true);
                for (index k = 0; k < p; ++k) set(out, 1 + kept[k], theta[1 + k], error[1 + k], true);
            }
        }
        *out.state = std::int32_t(state);
        *out.column = std::int32_t(where);
    }
};

template <class Fit>
inline void fit_groups(const GroupRows& rows, index D, const index* begins, const index* ends, index groups,
                       const GroupFit& out) {
    Fit own(rows, D);
    for (index g = 0; g < groups; ++g) {
        const index at = g * (1 + D);
        own.fit(begins[g], ends[g],
                {out.theta + at, out.error + at, out.statistic + at, out.freedom + g, out.digits + g, out.state + g,
                 out.column + g});
    }
}

// Groups g = 0 .. groups - 1 are rows begins[g] .. ends[g] of the order; out is that of the first.
inline void group_regressions(const GroupRows& rows, index D, const index* begins, const index* ends, index groups,
                              const GroupFit& out) {
    const auto fit = rows.loss == Loss::squared ? fit_groups<WindowRegression> : fit_groups<GroupLikelihood>;
    fit(rows, D, begins, ends, groups, out);
}

}  // namespace adaline::ADALINE_ISA
