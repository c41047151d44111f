// Columns of curves, and the distinct values that these are learned from, for Python; see pieces.hpp.

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace {

using Columns = Array<double, nb::ndim<2>>;

void cubic_pieces(const Columns& out, const Reals& x, int exponent, const Reals& knots, const Reals& values,
                  const Reals& curvature, bool periodic) {
    const index P = index(knots.size()), m = index(out.shape(1)), n = index(out.shape(0));
    require(P >= 2 && m >= 1, "there must be two knots and a column");
    require(index(values.size()) == P * m && index(curvature.size()) == P * m, "values and curvature must be (P, m)");
    require(index(x.size()) == n, "x must have a number for each row");
    require(m == 1 || out.stride(1) == 1, "the columns of a row must lie side by side");
    const Knots of{knots.data(), values.data(), curvature.data(), P, m, exponent, periodic};
    const nb::gil_scoped_release unlocked;
    active->pieces(out.data(), n > 1 ? out.stride(0) : 0, x.data(), n, of);
}

// The union of two ascending lists of distinct values and the sums of their weights; how many there are. A step takes the
// smaller of two values, or both where they are equal, without a branch. Of NaN, which no order has, it takes both.
index merge_values(const Buffer& values, const Buffer& weights, const Reals& a, const Reals& of_a, const Reals& b,
                   const Reals& of_b) {
    const index A = index(a.size()), B = index(b.size());
    require(index(of_a.size()) == A && index(of_b.size()) == B, "each value must have a weight");
    require(index(values.size()) == A + B && index(weights.size()) == A + B, "there must be room for all values");
    const nb::gil_scoped_release unlocked;
    const double *const p = a.data(), *const q = b.data(), *const v = of_a.data(), *const w = of_b.data();
    double *const out = values.data(), *const sums = weights.data();
    index i = 0, j = 0, k = 0;
    for (; i < A && j < B; ++k) {
        const bool left = !(q[j] < p[i]), right = !(p[i] < q[j]);
        const double mine[] = {0.0, v[i]}, theirs[] = {0.0, w[j]}, either[] = {q[j], p[i]};
        out[k] = either[left];
        sums[k] = mine[left] + theirs[right];
        i += left;
        j += right;
    }
    for (; i < A; ++i, ++k) out[k] = p[i], sums[k] = v[i];
    for (; j < B; ++j, ++k) out[k] = q[j], sums[k] = w[j];
    return k;
}

}  // namespace

void bind_smooths(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("cubic_pieces", &cubic_pieces, array("out"), array("x"), "exponent"_a, array("knots"), array("values"),
          array("curvature"), "periodic"_a);
    m.def("merge_values", &merge_values, array("values"), array("weights"), array("a"), array("of_a"), array("b"),
          array("of_b"));
}

}  // namespace adaline
