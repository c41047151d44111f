// Effects of the levels of categories: sums by level, and the product of conjugate gradients on their equations.
//
// codes is (Q, N): row n has the levels codes[0][n], ..., codes[Q - 1][n], numbered through all effects, so that one
// vector holds something of every level. Every sum runs over the rows in their order: the same bits whoever calls it.

#include <algorithm>
#include <cstring>
#include <vector>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace effects {

using Integers = nb::ndarray<std::int32_t, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Pointers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Code = std::int32_t;

#if defined(__GNUC__) && !defined(__clang__)
#define ADALINE_FAST __attribute__((optimize("O3")))
#else
#define ADALINE_FAST
#endif

ADALINE_FAST bool all_within(const Code* codes, index size, index levels) {
    bool all = true;
    for (index k = 0; k < size; ++k) all &= std::uint32_t(codes[k]) < std::uint32_t(levels);
    return all;
}

void check(const Codes& codes, index levels) {
    require(levels < index(1) << 31 && all_within(codes.data(), index(codes.size()), levels),
            "a code lies outside of the levels");
}

// out[l] = sum of weight x over the rows of level l.
ADALINE_FAST void sums(double* out, const Code* codes, index Q, index N, const double* x, const double* weight) {
    for (index q = 0; q < Q; ++q) {
        const Code* const c = codes + q * N;
        if (weight && x)
            for (index n = 0; n < N; ++n) out[c[n]] += weight[n] * x[n];
        else if (weight || x)
            for (index n = 0; n < N; ++n) out[c[n]] += (x ? x : weight)[n];
        else
            for (index n = 0; n < N; ++n) out[c[n]] += 1.0;
    }
}

// x[n] -= sum of the effects of the levels of row n.
ADALINE_FAST void subtract(double* x, const Code* codes, index Q, index N, const double* effects) {
    if (Q == 2) {
        for (index n = 0; n < N; ++n) x[n] -= effects[codes[n]] + effects[codes[N + n]];
        return;
    }
    for (index q = 0; q < Q; ++q)
        for (index n = 0; n < N; ++n) x[n] -= effects[codes[q * N + n]];
}

// Rows are sorted by their level g of one column, those of g are starts[g] .. starts[g + 1]; cells are their other levels.
// With r = the sum of the entries of v that a row has, m = the mean of r over the rows of a level g:
// out = sum over rows of weight (r - m), added to the entries that the row has.
template <bool single>
ADALINE_FAST void product(double* out, const double* v, const std::int64_t* starts, index G, const Code* cells, index Q,
                          index N, const double* weight, const double* inverse) {
    std::vector<double> kept;
    for (index g = 0; g < G; ++g) {
        const index begin = starts[g], size = starts[g + 1] - begin;
        if (index(kept.size()) < size) kept.resize(size_t(size));
        double* const r = kept.data();
        const Code* const c = cells + begin;
        const double* const w = weight ? weight + begin : nullptr;
        double total = 0.0;
        for (index k = 0; k < size; ++k) {
            double sum = v[c[k]];
            if (!single)
                for (index q = 1; q < Q; ++q) sum += v[c[q * N + k]];
            r[k] = sum;
            total += w ? w[k] * sum : sum;
        }
        const double mean = total * inverse[g];
        for (index k = 0; k < size; ++k) {
            const double part = w ? w[k] * (r[k] - mean) : r[k] - mean;
            out[c[k]] += part;
            if (!single)
                for (index q = 1; q < Q; ++q) out[c[q * N + k]] += part;
        }
    }
}

void level_sums(const Buffer& out, const Codes& codes, const Maybe& x, const Maybe& weight) {
    const index Q = index(codes.shape(0)), N = index(codes.shape(1));
    require((!x || index(x->size()) == N) && (!weight || index(weight->size()) == N), "x and weight must have N numbers");
    const nb::gil_scoped_release unlocked;
    check(codes, index(out.size()));
    sums(out.data(), codes.data(), Q, N, x ? x->data() : nullptr, weight ? weight->data() : nullptr);
}

void level_subtract(const Buffer& x, const Codes& codes, const Reals& effects) {
    const index Q = index(codes.shape(0)), N = index(codes.shape(1));
    require(index(x.size()) == N, "x must have N numbers");
    const nb::gil_scoped_release unlocked;
    check(codes, index(effects.size()));
    subtract(x.data(), codes.data(), Q, N, effects.data());
}

// Sets order to the rows sorted by their level, those of a level in their order, and starts to where each level begins.
void level_order(const Integers& order, const Longs& starts, const Codes& codes) {
    const index N = index(codes.shape(1)), G = index(starts.size()) - 1;
    require(codes.shape(0) == 1 && index(order.size()) == N && G >= 0, "order must have N numbers, starts G + 1");
    const nb::gil_scoped_release unlocked;
    check(codes, G);
    std::int64_t* const s = starts.data();
    std::vector<Code> place(size_t(G) + 1);
    for (index n = 0; n < N; ++n) ++place[size_t(codes.data()[n]) + 1];
    for (index g = 0; g < G; ++g) place[size_t(g) + 1] += place[size_t(g)];
    std::copy(place.begin(), place.end(), s);
    for (index n = 0; n < N; ++n) order.data()[place[size_t(codes.data()[n])]++] = Code(n);
}

void level_product(const Buffer& out, const Reals& v, const Pointers& starts, const Codes& cells, const Maybe& weight,
                   const Reals& inverse) {
    const index G = index(starts.size()) - 1, Q = index(cells.shape(0)), N = index(cells.shape(1));
    require(G >= 0 && index(inverse.size()) == G && (!weight || index(weight->size()) == N) && v.size() == out.size(),
            "starts, inverse, weight and v do not fit");
    const nb::gil_scoped_release unlocked;
    require(starts.data()[0] == 0 && starts.data()[G] == N && ascending<std::int64_t>(starts.data(), G + 1),
            "starts must ascend to the rows");
    check(cells, index(v.size()));
    std::memset(out.data(), 0, out.size() * sizeof(double));
    (Q == 1 ? product<true> : product<false>)(out.data(), v.data(), starts.data(), G, cells.data(), Q, N,
                                              weight ? weight->data() : nullptr, inverse.data());
}

// Returns the number of connected components of the graph whose nodes are levels and whose edges are rows.
index level_components(const Codes& codes, index levels) {
    require(codes.shape(0) == 2, "codes must be (2, N)");
    const index N = index(codes.shape(1));
    const nb::gil_scoped_release unlocked;
    check(codes, levels);
    std::vector<Code> parent(size_t(levels), -1);  // -1: met by no row
    const auto root = [&parent](Code l) {
        if (parent[size_t(l)] < 0) parent[size_t(l)] = l;
        while (parent[size_t(l)] != l) l = parent[size_t(l)] = parent[size_t(parent[size_t(l)])];
        return l;
    };
    for (index n = 0; n < N; ++n) {
        const Code a = root(codes.data()[n]), b = root(codes.data()[N + n]);
        parent[size_t(a < b ? b : a)] = a < b ? a : b;
    }
    index count = 0;
    for (index l = 0; l < levels; ++l) count += parent[size_t(l)] == l;
    return count;
}

}  // namespace effects

void bind_effects(nb::module_& m) {
    using namespace effects;
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    m.def("level_sums", &level_sums, array("out"), array("codes"), optional("x"), optional("weight"));
    m.def("level_subtract", &level_subtract, array("x"), array("codes"), array("effects"));
    m.def("level_order", &level_order, array("order"), array("starts"), array("codes"));
    m.def("level_product", &level_product, array("out"), array("v"), array("starts"), array("cells"),
          optional("weight"), array("inverse"));
    m.def("level_components", &level_components, array("codes"), "levels"_a);
}

}  // namespace adaline
