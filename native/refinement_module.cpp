// Least squares between its passes over the rows: a few vectors of K x D numbers, by one call instead of dozens of
// array operations, so that small fits are fast. The references are in solvers/least_squares.

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "arrays.hpp"

namespace adaline {

namespace {

using namespace nb::literals;

using Flags = Array<bool, nb::c_contig>;
using ColumnMajor = Array<const double, nb::f_contig>;

constexpr double rounding = 0x1p-53, twofold_rounding = 0x1p-100, negligible = 0x1p-70, stalled = 0.5;

struct Twofold {
    double hi, lo;
};

Twofold two_sum(double a, double b) {
    const double s = a + b, v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}

Twofold operator+(Twofold a, Twofold b) {
    const Twofold s = two_sum(a.hi, b.hi);
    return two_sum(s.hi, s.lo + (a.lo + b.lo));
}

Twofold operator*(Twofold a, Twofold b) {
    const double p = a.hi * b.hi, e = std::fma(a.hi, b.hi, -p);
    return two_sum(p, e + (a.hi * b.lo + a.lo * b.hi));
}

// The larger number; NaN where one of them is.
double larger(double a, double b) { return a >= b || a != a ? a : b; }

// The sum of a vector in pairs: its second half is added to its first, again and again.
Twofold sum_in_pairs(std::vector<Twofold>& terms) {
    for (index n = index(terms.size()); n > 1; n /= 2) {
        const index half = n / 2;
        for (index i = 0; i < half; ++i) terms[i] = terms[i] + terms[half + i];
        if (n % 2) terms[0] = terms[0] + terms[n - 1];
    }
    return terms[0];
}

// hi + lo: w0 = mean_t - mean_x'u before u, (K, 1 + D), of scaled means (D + K); size (K,): the largest |u| length.
void refine_start(const Buffer& hi, const Buffer& lo, const Buffer& size, const Reals& mean_hi, const Reals& mean_lo,
                  const Reals& length, const Reals& u, bool intercept) {
    require(u.ndim() == 2, "u must be (K, D)");
    const index K = index(u.shape(0)), D = index(u.shape(1));
    require(index(hi.size()) == K * (1 + D) && index(lo.size()) == K * (1 + D), "theta must be (K, 1 + D)");
    require(index(mean_hi.size()) == D + K && index(mean_lo.size()) == D + K, "means must have D + K numbers");
    require(index(length.size()) == D && index(size.size()) == K, "length must have D numbers, size K");
    const nb::gil_scoped_release unlocked;
    std::vector<Twofold> terms(1 + D);
    for (index k = 0; k < K; ++k) {
        double* const h = hi.data() + k * (1 + D);
        double* const l = lo.data() + k * (1 + D);
        const double* const w = u.data() + k * D;
        std::copy(w, w + D, h + 1);
        std::fill(l, l + 1 + D, 0.0);
        h[0] = size.data()[k] = 0.0;
        for (index j = 0; j < D; ++j) size.data()[k] = larger(size.data()[k], std::abs(w[j] * length.data()[j]));
        if (!intercept) continue;
        terms[0] = {mean_hi.data()[D + k], mean_lo.data()[D + k]};
        for (index j = 0; j < D; ++j)
            terms[1 + j] = Twofold{mean_hi.data()[j], mean_lo.data()[j]} * Twofold{-w[j], 0.0};
        const Twofold constant = sum_in_pairs(terms);
        h[0] = constant.hi;
        l[0] = constant.lo;
    }
}

// The centred gradient of the data term (K, D), g1 - mean g0, and with the penalty, - P w.
void refine_gradient(const Reals& sums, const Reals& hi, const Reals& lo, const Reals& mean_hi, const Reals& mean_lo,
                     const Reals& pull, const Buffer& data, const Buffer& centred) {
    require(sums.ndim() == 3, "sums must be (K, D + 2, 2)");
    const index D = index(pull.size()), K = index(sums.shape(0));
    require(index(sums.size()) == K * (D + 2) * 2 && index(data.size()) == K * D && centred.size() == data.size(),
            "sums must be (K, D + 2, 2), gradients (K, D)");
    require(index(hi.size()) == K * (1 + D) && index(lo.size()) == K * (1 + D), "theta must be (K, 1 + D)");
    require(index(mean_hi.size()) == D + K && index(mean_lo.size()) == D + K, "means must have D + K numbers");
    const nb::gil_scoped_release unlocked;
    for (index k = 0; k < K; ++k) {
        const double* const g = sums.data() + 2 * k * (D + 2);
        for (index j = 0; j < D; ++j) {
            const Twofold mean{mean_hi.data()[j], mean_lo.data()[j]};
            const Twofold slope = Twofold{g[2 * (1 + j)], g[2 * (1 + j) + 1]} + mean * Twofold{-g[0], -g[1]};
            const index at = k * (1 + D) + 1 + j;
            const Twofold pulled = Twofold{-pull.data()[j], 0.0} * Twofold{hi.data()[at], lo.data()[at]};
            data.data()[k * D + j] = slope.hi;
            centred.data()[k * D + j] = pull.data()[j] == 0 ? slope.hi : (slope + pulled).hi;
        }
    }
}

// One step of refinement, taken into hi + lo (K, 1 + D), with bounds on the errors that are left, (K, 1 + D).
//
// progress is (4, K): the size of the step before, the sum of squares, and what is left of gradient and gap. Returns
// whether another step is of use.
bool refine_step(const Buffer& hi, const Buffer& lo, const Reals& step, const Reals& sums, const Reals& data,
                 const Reals& centred, const Reals& mean, const Reals& pull, const Reals& length, const Reals& down,
                 const Reals& reach, const Buffer& progress, const Buffer& error, double weight, bool intercept,
                 double contraction, double condition) {
    const index D = index(length.size()), K = index(progress.size()) / 4;
    require(index(hi.size()) == K * (1 + D) && hi.size() == lo.size() && hi.size() == error.size(),
            "theta and error must be (K, 1 + D)");
    require(index(step.size()) == K * D && step.size() == data.size() && step.size() == centred.size(),
            "step and gradients must be (K, D)");
    require(index(sums.size()) == K * (D + 2) * 2 && index(mean.size()) == D + K, "sums or means have the wrong size");
    require(index(pull.size()) == D && index(down.size()) == D && index(reach.size()) == D,
            "pull, down and reach must have D numbers");
    const nb::gil_scoped_release unlocked;
    const double root = std::sqrt(weight), width = double(D);
    const double *const L = length.data(), *const m = mean.data();
    double farthest = 0, lever = 0;
    std::vector<double> raw(D);  // lengths of the columns about zero
    for (index j = 0; j < D; ++j) {
        farthest = larger(farthest, reach.data()[j]);
        lever += std::abs(m[j]) / L[j];
        raw[j] = std::hypot(root * std::abs(m[j]), L[j]);
    }
    bool more = false;
    for (index k = 0; k < K; ++k) {
        const double *const g = sums.data() + 2 * k * (D + 2), *const s = step.data() + k * D;
        const double *const a = data.data() + k * D, *const b = centred.data() + k * D;
        double *const h = hi.data() + k * (1 + D), *const l = lo.data() + k * (1 + D);
        double *const out = progress.data() + k, *const e = error.data() + k * (1 + D);
        const double before = out[0];
        double size = 0, slope = 0;
        for (index j = 0; j < D; ++j) {
            size = larger(size, std::abs(s[j] * L[j]));
            slope = larger(slope, std::abs(b[j] / L[j]));
        }
        const double rho = larger(before > 0 ? size / before : 0, contraction);
        const bool good = rho < stalled;
        const double constant = (intercept ? g[0] / weight : 0) * good;
        double left = good ? rho * size : larger(size, before);
        // the means are known to rounding of the spread only, and S^-1 amplifies what is left of sum r through them
        left += 8 * rounding * condition * condition * std::abs(constant) * root;
        // the gradient was rounded to one number, and the triangles were solved in such: C^-1 amplifies that
        left += (2 * width + 4) * rounding * farthest * farthest * std::sqrt(width) * slope;
        double with_data = 0, with_centred = 0, with_pull = 0, along_mean = 0;
        for (index j = 0; j < D; ++j) {
            const double one = s[j] * good;
            with_data += one * a[j];
            with_centred += one * b[j];
            with_pull += one * one * pull.data()[j];
            along_mean += one * m[j];
            const Twofold sum = Twofold{h[1 + j], l[1 + j]} + Twofold{one, 0.0};
            h[1 + j] = sum.hi;
            l[1 + j] = sum.lo;
        }
        const double squares = larger(
            g[2 * (D + 1)] - 2 * with_data + with_centred - with_pull - weight * constant * constant, 0);
        const Twofold first = Twofold{h[0], l[0]} + Twofold{constant - along_mean, 0.0};
        h[0] = first.hi;
        l[0] = first.lo;

        double largest = 0, total = 0, terms = 0;
        for (index j = 0; j < D; ++j) {
            const double scaled = std::abs(h[1 + j]) * L[j];
            largest = larger(largest, scaled);
            total += scaled;
            terms += std::abs(h[1 + j]) * raw[j];
        }
        double smallest = HUGE_VAL;
        for (index j = 0; j < D; ++j) {
            const double scaled = std::abs(h[1 + j]) * L[j];
            if (scaled > negligible * largest) smallest = std::min(smallest, scaled);
        }
        const double left_of_mean = rho * std::abs(constant);
        const bool enough = left * lever + left_of_mean <= rounding / 4 * std::abs(h[0]) ||
                            std::abs(h[0]) * root <= negligible * largest;
        const bool done = (enough && left <= rounding / 4 * smallest) || !good;
        more = more || !done;

        const double mean_t = std::abs(m[D + k]);
        const double noise = farthest * std::sqrt(width * squares) + width * terms + root * (std::abs(h[0]) + mean_t);
        e[0] = left_of_mean;
        for (index j = 0; j < D; ++j) {
            e[1 + j] = (left + twofold_rounding * noise * reach.data()[j]) * down.data()[j];
            e[0] += e[1 + j] * std::abs(m[j]);
        }
        const double stored = rounding * total;
        out[0] = good ? size : before;
        out[K] = squares;
        out[2 * K] = slope * std::min(rho, 1.0);
        out[3 * K] = 0.5 * (left * left * width + stored * stored);
    }
    return more;
}

// Correct digits of the worst of K coefficient vectors, given bounds on their errors: see `fit.py`.
double correct_digits(const double* error, const double* theta, const double* length, index K, index width) {
    double worst = -1;
    for (index k = 0; k < K; ++k, error += width, theta += width) {
        double largest = 0;
        for (index j = 0; j < width; ++j) {
            if (!std::isfinite(error[j]) || !std::isfinite(theta[j])) return 0;
            largest = larger(largest, std::abs(theta[j]) * length[j]);
        }
        for (index j = 0; j < width; ++j) {
            const double size = std::abs(theta[j]);
            if (!(std::max(size, error[j]) * length[j] > negligible * largest)) continue;
            worst = std::max(worst, size > error[j] ? error[j] / size : 1.0);
        }
    }
    return worst < 0 ? -std::log10(rounding) : worst < 1 ? -std::log10(worst + rounding) : 0;
}

double digits(const Reals& error, const Reals& theta, const Reals& length) {
    const index width = index(length.size()), K = width ? index(theta.size()) / width : 0;
    require(error.size() == theta.size() && index(theta.size()) == K * width, "theta and error must be (K, 1 + D)");
    const nb::gil_scoped_release unlocked;
    return correct_digits(error.data(), theta.data(), length.data(), K, width);
}

// Scales the columns of moments to unit length: C (D, D), lengths (1 + D) after that of the constant, which columns
// vary, one over their lengths and relative noise, (D,), and scaled means (2, D + K). Returns how many vary, and the
// largest noise.
std::tuple<index, double> equilibrate(const Reals& state, index D, index K, bool intercept, const Reals& pull,
                                      const Buffer& lengths, const Flags& alive, const Buffer& down,
                                      const Buffer& relative, const Buffer& means, const Buffer& c) {
    const index q = D + K;
    require(D >= 0 && K >= 0 && index(state.size()) == 3 + (4 + q) * q, "state has the wrong size");
    require(index(pull.size()) == D && index(lengths.size()) == 1 + D && index(alive.size()) == D &&
                index(down.size()) == D && index(relative.size()) == D && index(c.size()) == D * D &&
                index(means.size()) == 2 * q,
            "pull, alive, down and relative must have D numbers, lengths 1 + D, means 2 (D + K), c D x D");
    const nb::gil_scoped_release unlocked;
    const double *const mean = state.data() + 3, *const exponent = mean + 2 * q, *const noise = exponent + q;
    const double* const second = noise + q;
    const double root = std::sqrt(state.data()[1]);
    double* const length = lengths.data() + 1;
    lengths.data()[0] = root;
    for (index part = 0; part < 2; ++part)
        for (index j = 0; j < q; ++j)
            means.data()[part * q + j] = intercept ? std::ldexp(mean[part * q + j], -int(exponent[j])) : 0;
    index varying = 0;
    double largest = 0;
    for (index j = 0; j < D; ++j) {
        const double squares = second[j * q + j], diagonal = squares + pull.data()[j];
        const double rounded = 8 * rounding * root * std::abs(means.data()[j]);
        const bool varies = diagonal > 4 * noise[j] && std::sqrt(larger(squares, 0)) > rounded;
        varying += varies;
        alive.data()[j] = varies;
        const double own = varies ? std::sqrt(diagonal) : 1;
        length[j] = own;
        down.data()[j] = varies ? 1 / own : 0;
        relative.data()[j] = (varies ? noise[j] / (own * own) : 0) + 2 * rounding;
        largest = larger(largest, relative.data()[j]);
    }
    for (index i = 0; i < D; ++i)
        for (index j = 0; j < D; ++j)
            c.data()[i * D + j] = i == j                               ? 1
                                  : alive.data()[i] && alive.data()[j] ? second[i * q + j] / (length[i] * length[j])
                                                                       : 0;
    return {varying, largest};
}

// left (K, D) = c - (S + P) u, in double-double, of the state of moments and slopes u (K, D).
void sums_residual(const Buffer& left, const Reals& state, const Reals& pull, const Reals& u) {
    const index D = index(pull.size()), K = D ? index(u.size()) / D : 0, q = D + K;
    require(index(u.size()) == K * D && left.size() == u.size(), "u and left must be (K, D)");
    require(index(state.size()) == 3 + (4 + q) * q, "state has the wrong size");
    const nb::gil_scoped_release unlocked;
    const double* const second = state.data() + 3 + 4 * q;
    for (index k = 0; k < K; ++k) {
        const double* const w = u.data() + k * D;
        for (index i = 0; i < D; ++i) {
            Twofold sum{second[(D + k) * q + i], 0.0};
            for (index j = 0; j < D; ++j) sum = sum + Twofold{-w[j], 0.0} * Twofold{second[j * q + i], 0.0};
            left.data()[k * D + i] = (sum + Twofold{-w[i], 0.0} * Twofold{pull.data()[i], 0.0}).hi;
        }
    }
}

// The norms of the rows of a matrix (D, D) in column-major order.
void row_lengths(const Buffer& out, const ColumnMajor& matrix) {
    const index D = index(out.size());
    require(index(matrix.size()) == D * D, "the matrix must be D x D");
    const nb::gil_scoped_release unlocked;
    std::fill(out.data(), out.data() + D, 0.0);
    for (index j = 0; j < D; ++j)
        for (index i = 0; i < D; ++i) out.data()[i] += matrix.data()[j * D + i] * matrix.data()[j * D + i];
    for (index i = 0; i < D; ++i) out.data()[i] = std::sqrt(out.data()[i]);
}

// Writes theta in raw units (K, 1 + D), the units of the targets (K,), and their sums of squares in these units, from
// the state of moments. Returns the correct digits, objective, gradient and gap in raw units.
std::tuple<double, double, double, double> raw_solution(const Buffer& raw, const Buffer& unit, const Buffer& total,
                                                        const Reals& state, const Reals& theta, const Reals& error, 
                                                        const Reals& exponent, const Reals& length, const Reals& pull,
                                                        const Reals& squares, const Reals& gradient, const Reals& gap,
                                                        double weight) {
    const index D = index(pull.size()), K = index(unit.size()), width = 1 + D, q = D + K;
    require(index(theta.size()) == K * width && theta.size() == raw.size() && theta.size() == error.size(),
            "theta and error must be (K, 1 + D)");
    require(index(exponent.size()) == D + K && index(length.size()) == width, "exponent or length has the wrong size");
    require(index(squares.size()) == K && index(gradient.size()) == K && index(gap.size()) == K &&
                index(total.size()) == K,
            "squares, gradient, gap and total must have K numbers");
    require(index(state.size()) == 3 + (4 + q) * q, "state has the wrong size");
    const nb::gil_scoped_release unlocked;
    const double *const e = exponent.data(), *const own_exponent = state.data() + 3 + 2 * q + D;
    const double* const second = state.data() + 3 + 4 * q;
    double objective = 0, steepest = 0, below = 0;
    for (index k = 0; k < K; ++k) {
        const int own = int(e[D + k]);
        const double one = std::ldexp(1.0, own), *const t = theta.data() + k * width;
        double* const out = raw.data() + k * width;
        double penalties = 0;
        out[0] = std::ldexp(t[0], own);
        for (index j = 0; j < D; ++j) {
            penalties += t[1 + j] * t[1 + j] * pull.data()[j];
            out[1 + j] = std::ldexp(t[1 + j], own - int(e[j]));
        }
        unit.data()[k] = one;
        total.data()[k] = std::ldexp(second[(D + k) * (q + 1)], 2 * (int(own_exponent[k]) - own));
        objective += 0.5 * (squares.data()[k] + penalties) * one * one;
        steepest = larger(steepest, gradient.data()[k] * one);
        below += gap.data()[k] * one * one;
    }
    return {correct_digits(error.data(), theta.data(), length.data(), K, width), objective,
            steepest * std::sqrt(weight), below};
}

}  // namespace

void bind_refinement(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("refine_start", &refine_start, array("hi"), array("lo"), array("size"), array("mean_hi"), array("mean_lo"),
          array("length"), array("u"), "intercept"_a);
    m.def("refine_gradient", &refine_gradient, array("sums"), array("hi"), array("lo"), array("mean_hi"),
          array("mean_lo"), array("pull"), array("data"), array("centred"));
    m.def("refine_step", &refine_step, array("hi"), array("lo"), array("step"), array("sums"), array("data"),
          array("centred"), array("mean"), array("pull"), array("length"), array("down"), array("reach"),
          array("progress"), array("error"), "weight"_a, "intercept"_a, "contraction"_a, "condition"_a);
    m.def("equilibrate", &equilibrate, array("state"), "D"_a, "K"_a, "intercept"_a, array("pull"), array("lengths"),
          array("alive"), array("down"), array("relative"), array("means"), array("c"));
    m.def("sums_residual", &sums_residual, array("left"), array("state"), array("pull"), array("u"));
    m.def("row_lengths", &row_lengths, array("out"), array("matrix"));
    m.def("raw_solution", &raw_solution, array("raw"), array("unit"), array("total"), array("state"),
          array("theta"), array("error"), array("exponent"), array("length"), array("pull"), array("squares"), array("gradient"), array("gap"),
          "weight"_a);
    m.def("digits", &digits, array("error"), array("theta"), array("length"));
}

}  // namespace adaline
