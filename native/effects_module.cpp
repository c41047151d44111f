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
using Pointers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Code = std::int32_t;

#if defined(__GNUC__) && !defined(__clang__)
#define ADALINE_FAST __attribute__((optimize("O3")))
#else
#define ADALINE_FAST
#endif

void check(const Codes& codes, index levels) {
    require(within<Code>(codes.data(), 0, index(codes.size()), 0, levels), "a code lies outside of the levels");
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

// Cells are the different rows of codes, sorted by their first level: those of level g are starts[g] .. starts[g + 1].
// With r = the sum of the entries of v that a cell has, m = the mean of r over the cells of a level g:
// out = sum over cells of mass (r - m), added to the entries that the cell has.
ADALINE_FAST void product(double* out, const double* v, const std::int64_t* starts, index G, const Code* cells, index Q,
                          index M, const double* mass, const double* inverse) {
    std::vector<double> kept;
    for (index g = 0; g < G; ++g) {
        const index begin = starts[g], size = starts[g + 1] - begin;
        if (index(kept.size()) < size) kept.resize(size_t(size));
        double* const r = kept.data();
        const double* const w = mass + begin;
        double total = 0.0;
        for (index k = 0; k < size; ++k) {
            double sum = v[cells[begin + k]];
            for (index q = 1; q < Q; ++q) sum += v[cells[q * M + begin + k]];
            r[k] = sum;
            total += w[k] * sum;
        }
        const double mean = total * inverse[g];
        for (index k = 0; k < size; ++k) {
            const double part = w[k] * (r[k] - mean);
            for (index q = 0; q < Q; ++q) out[cells[q * M + begin + k]] += part;
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

// Sorts rows by their codes, those of the first effect first; cell[n] is the number of the different one of row n, and
// first[m] the first row of cell m. Returns how many there are.
index level_cells(const Integers& cell, const Integers& first, const Codes& codes, index levels) {
    const index Q = index(codes.shape(0)), N = index(codes.shape(1));
    require(index(cell.size()) == N && index(first.size()) == N, "cell and first must have N numbers");
    const nb::gil_scoped_release unlocked;
    check(codes, levels);
    std::vector<Code> order(static_cast<size_t>(N)), other(static_cast<size_t>(N));
    for (index n = 0; n < N; ++n) order[size_t(n)] = Code(n);
    std::vector<index> place(size_t(levels) + 1);
    for (index q = Q - 1; q >= 0; --q) {  // a stable counting sort by each effect, the last first
        const Code* const c = codes.data() + q * N;
        std::fill(place.begin(), place.end(), 0);
        for (index n = 0; n < N; ++n) ++place[size_t(c[n]) + 1];
        for (index l = 0; l < levels; ++l) place[size_t(l) + 1] += place[size_t(l)];
        for (index n = 0; n < N; ++n) other[size_t(place[size_t(c[order[size_t(n)]])]++)] = order[size_t(n)];
        order.swap(other);
    }
    index count = 0;
    for (index n = 0; n < N; ++n) {
        const Code row = order[size_t(n)];
        bool same = n > 0;
        for (index q = 0; q < Q && same; ++q) {
            const Code* const c = codes.data() + q * N;
            same = c[row] == c[order[size_t(n) - 1]];
        }
        if (!same) first.data()[count++] = row;
        cell.data()[row] = Code(count - 1);
    }
    return count;
}

void level_product(const Buffer& out, const Reals& v, const Pointers& starts, const Codes& cells, const Reals& mass,
                   const Reals& inverse) {
    const index G = index(starts.size()) - 1, Q = index(cells.shape(0)), M = index(cells.shape(1));
    require(G >= 0 && index(inverse.size()) == G && index(mass.size()) == M && v.size() == out.size(),
            "starts, inverse, mass and v do not fit");
    const nb::gil_scoped_release unlocked;
    require(starts.data()[0] == 0 && starts.data()[G] == M && ascending<std::int64_t>(starts.data(), G + 1),
            "starts must ascend to the cells");
    check(cells, index(v.size()));
    std::memset(out.data(), 0, out.size() * sizeof(double));
    product(out.data(), v.data(), starts.data(), G, cells.data(), Q, M, mass.data(), inverse.data());
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
    m.def("level_cells", &level_cells, array("cell"), array("first"), array("codes"), "levels"_a);
    m.def("level_product", &level_product, array("out"), array("v"), array("starts"), array("cells"), array("mass"),
          array("inverse"));
    m.def("level_components", &level_components, array("codes"), "levels"_a);
}

}  // namespace adaline
