// Columns of curves, and sums of the rows of each key, for Python; see pieces.hpp and keyed.hpp.

#include <algorithm>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace smooths {

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

using Totals = Array<double, nb::ndim<2>, nb::c_contig>;
using Added = Array<const double, nb::ndim<2>, nb::c_contig>;
using Codes = Array<const index, nb::ndim<1>, nb::c_contig>;

// The union of two ascending lists of distinct keys and the sums of their rows (W numbers); how many there are. A step
// takes the smaller of two keys, or both where they are equal, without a branch. NaN stand last, each a key of its own.
template <class Key>
index merge(Key* out, double* sums, const Key* p, const double* v, index A, const Key* q, const double* w, index B, index W) {
    const std::vector<double> none(W, 0.0);
    const index ordered = A - index(std::count_if(p, p + A, [](Key key) { return key != key; }));
    const index theirs_ordered = B - index(std::count_if(q, q + B, [](Key key) { return key != key; }));
    index i = 0, j = 0, k = 0;
    for (; i < ordered && j < theirs_ordered; ++k) {
        const bool left = !(q[j] < p[i]), right = !(p[i] < q[j]);
        const double *const rows[] = {none.data(), v + i * W, w + j * W};
        const double *const mine = rows[left], *const theirs = rows[2 * right];
        const Key either[] = {q[j], p[i]};
        out[k] = either[left];
        for (index c = 0; c < W; ++c) sums[k * W + c] = mine[c] + theirs[c];
        i += left;
        j += right;
    }
    const auto append = [&](const Key* keys, const double* values, index begin, index end) {
        std::copy(keys + begin, keys + end, out + k);
        std::copy(values + begin * W, values + end * W, sums + k * W);
        k += end - begin;
    };
    append(p, v, i, ordered);
    append(q, w, j, theirs_ordered);
    append(p, v, ordered, A);
    append(q, w, theirs_ordered, B);
    return k;
}

template <class Key>
using Keys = Array<Key, nb::ndim<1>, nb::c_contig>;

template <class Key>
index merge_totals(const Keys<Key>& keys, const Totals& values, const Keys<const Key>& a, const Added& of_a,
                   const Keys<const Key>& b, const Added& of_b) {
    const index A = index(a.size()), B = index(b.size()), W = index(values.shape(1));
    require(index(of_a.shape(0)) == A && index(of_b.shape(0)) == B, "each key must have a row");
    require(index(of_a.shape(1)) == W && index(of_b.shape(1)) == W, "rows must be of one length");
    require(index(keys.size()) == A + B && index(values.shape(0)) == A + B, "there must be room for all keys");
    const nb::gil_scoped_release unlocked;
    return merge(keys.data(), values.data(), a.data(), of_a.data(), A, b.data(), of_b.data(), B, W);
}

void keyed_products(const Totals& out, const Codes& codes, const Reals& weight, const Added& z, const Added& y) {
    const index n = index(codes.size()), q = index(z.shape(1)), m = index(y.shape(1));
    require(index(weight.size()) == n && index(z.shape(0)) == n && index(y.shape(0)) == n, "all must have the same rows");
    require(index(out.shape(1)) == q * m, "out must have a number for each product");
    const nb::gil_scoped_release unlocked;
    require(within<index>(codes.data(), 0, n, -1, index(out.shape(0))), "a code lies outside of the keys");
    active->keyed_products(out.data(), codes.data(), weight.data(), z.data(), q, y.data(), m, n);
}

}  // namespace smooths

void bind_smooths(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("cubic_pieces", &smooths::cubic_pieces, array("out"), array("x"), "exponent"_a, array("knots"), array("values"),
          array("curvature"), "periodic"_a);
    m.def("merge_totals", &smooths::merge_totals<double>, array("keys"), array("values"), array("a"), array("of_a"), array("b"),
          array("of_b"));
    m.def("merge_totals", &smooths::merge_totals<std::int64_t>, array("keys"), array("values"), array("a"), array("of_a"),
          array("b"), array("of_b"));
    m.def("keyed_products", &smooths::keyed_products, array("out"), array("codes"), array("weight"), array("z"), array("y"));
}

}  // namespace adaline
