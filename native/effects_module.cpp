// Effects of the levels of categories: sums by level, and the product of conjugate gradients on their equations.
//
// codes is (Q, N): row n has the levels codes[0][n], ..., codes[Q - 1][n], numbered through all effects, so that one
// vector holds something of every level. Every sum runs over the rows in their order: the same bits whoever calls it.

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace effects {

using Integers = Array<std::int32_t, nb::c_contig>;
using Codes = Array<const std::int32_t, nb::ndim<2>, nb::c_contig>;
using Longs = Array<std::int64_t, nb::ndim<1>, nb::c_contig>;
using Pointers = Array<const std::int64_t, nb::ndim<1>, nb::c_contig>;
using Shorts = Array<const std::int32_t, nb::ndim<1>, nb::c_contig>;
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
// out = sum over rows of weight (r - m), added to the entries that the row has. v and out are K columns, side by side,
// each of which has the bits that it has alone.
template <int K, bool single>
ADALINE_FAST void product(double* out, const double* v, const std::int64_t* starts, index G, const Code* cells, index Q,
                          index N, const double* weight, const double* inverse) {
    std::vector<double> kept;
    for (index g = 0; g < G; ++g) {
        const index begin = starts[g], size = starts[g + 1] - begin;
        if (index(kept.size()) < K * size) kept.resize(size_t(K * size));
        double* const r = kept.data();
        const Code* const c = cells + begin;
        const double* const w = weight ? weight + begin : nullptr;
        double mean[K] = {};
        for (index k = 0; k < size; ++k) {
            const double* const own = v + K * index(c[k]);
            double sum[K];
            for (int j = 0; j < K; ++j) sum[j] = own[j];
            if (!single)
                for (index q = 1; q < Q; ++q)
                    for (int j = 0; j < K; ++j) sum[j] += v[K * index(c[q * N + k]) + j];
            for (int j = 0; j < K; ++j) r[K * k + j] = sum[j];
            for (int j = 0; j < K; ++j) mean[j] += w ? w[k] * sum[j] : sum[j];
        }
        for (int j = 0; j < K; ++j) mean[j] *= inverse[g];
        for (index k = 0; k < size; ++k) {
            double part[K];
            for (int j = 0; j < K; ++j) part[j] = w ? w[k] * (r[K * k + j] - mean[j]) : r[K * k + j] - mean[j];
            double* const own = out + K * index(c[k]);
            for (int j = 0; j < K; ++j) own[j] += part[j];
            if (!single)
                for (index q = 1; q < Q; ++q)
                    for (int j = 0; j < K; ++j) out[K * index(c[q * N + k]) + j] += part[j];
        }
    }
}

// L D L', about the Laplacian of the graph whose nodes are levels and whose edges are rows, in the order in which nodes
// were eliminated: node order[i] leaves with 1 / D = pivots[i] and the column shares[k] of L, at targets[k], k from
// starts[i] to starts[i + 1]. To eliminate a node of edges w_1 <= ... <= w_m, d = their sum, would join all its
// neighbours by w_k w_j / d; of those of a neighbour k with later ones one is drawn, j with chance w_j / rest, for all
// of them, w_k rest / d with rest = w_(k+1) + ... + w_m: the same on average, and exact for m = 2.
struct Factor {
    std::vector<Code> order, targets;
    std::vector<std::int64_t> starts{0};
    std::vector<double> shares, pivots;
};

class Elimination {
    struct Half {
        Code to;
        double weight;
        std::int64_t next;
    };
    struct Edge {
        double weight;
        Code to, count;
        bool operator<(const Edge& other) const {
            return weight < other.weight || (weight == other.weight && to < other.to);
        }
    };
    using Entry = std::pair<std::int64_t, Code>;

    std::vector<Half> halves;
    std::vector<std::int64_t> head, degree;
    std::vector<Code> slot;
    std::vector<char> gone;
    std::vector<Edge> edges;
    std::vector<double> rest;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
    std::uint64_t state = 0;

    void join(Code a, Code b, double weight) {
        halves.push_back({b, weight, head[size_t(a)]});
        head[size_t(a)] = std::int64_t(halves.size()) - 1;
        halves.push_back({a, weight, head[size_t(b)]});
        head[size_t(b)] = std::int64_t(halves.size()) - 1;
        ++degree[size_t(a)], ++degree[size_t(b)];
    }

    double draw() {  // splitmix64
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

    void gather(Code node) {
        edges.clear();
        for (std::int64_t h = head[size_t(node)]; h >= 0; h = halves[size_t(h)].next) {
            const Half& half = halves[size_t(h)];
            if (gone[size_t(half.to)]) continue;
            Code& own = slot[size_t(half.to)];
            if (own < 0) {
                own = Code(edges.size());
                edges.push_back({0.0, half.to, 0});
            }
            edges[size_t(own)].weight += half.weight;
            ++edges[size_t(own)].count;
        }
        for (const Edge& edge : edges) slot[size_t(edge.to)] = -1;
        std::sort(edges.begin(), edges.end());
    }

  public:
    Factor out;

    Elimination(const Code* codes, index N, index levels, const double* weight)
        : head(size_t(levels), -1), degree(size_t(levels)), slot(size_t(levels), -1), gone(size_t(levels)) {
        halves.reserve(size_t(4 * N));
        for (index n = 0; n < N; ++n)
            if (!weight || weight[n] > 0.0) join(codes[n], codes[N + n], weight ? weight[n] : 1.0);
        for (index l = 0; l < levels; ++l) next.push({degree[size_t(l)], Code(l)});
        while (!next.empty()) {
            const auto [known, node] = next.top();
            next.pop();
            if (gone[size_t(node)]) continue;
            if (degree[size_t(node)] > known)
                next.push({degree[size_t(node)], node});
            else
                eliminate(node);
        }
    }

    void eliminate(Code node) {
        gather(node);
        gone[size_t(node)] = 1;
        const index m = index(edges.size());
        rest.assign(size_t(m) + 1, 0.0);
        for (index k = m; k-- > 0;) rest[size_t(k)] = rest[size_t(k) + 1] + edges[size_t(k)].weight;
        const double total = rest[0];
        out.order.push_back(node);
        out.pivots.push_back(total > 0.0 ? 1.0 / total : 0.0);
        for (const Edge& edge : edges) {
            out.targets.push_back(edge.to);
            out.shares.push_back(edge.weight / total);
            degree[size_t(edge.to)] -= edge.count;
        }
        out.starts.push_back(std::int64_t(out.targets.size()));
        for (index k = 0; k + 1 < m; ++k) {
            // the last j for which what is left from j on is more than what was drawn
            const double left = draw() * rest[size_t(k) + 1];
            index low = k + 1, high = m - 1;
            while (low < high) {
                const index middle = (low + high + 1) / 2;
                if (rest[size_t(middle)] > left)
                    low = middle;
                else
                    high = middle - 1;
            }
            join(edges[size_t(k)].to, edges[size_t(low)].to, edges[size_t(k)].weight * (rest[size_t(k) + 1] / total));
        }
        for (const Edge& edge : edges)
            if (degree[size_t(edge.to)] <= 2) next.push({degree[size_t(edge.to)], edge.to});
    }
};

template <class T>
auto owned(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
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

// Returns rows sorted by a level g with those of g that share their other level merged: where each g begins, the other
// levels, and the sums of weights; None where fewer than a quarter of the rows would go.
nb::object level_pairs(const Pointers& starts, const Codes& cells, const Maybe& weight, index levels) {
    const index G = index(starts.size()) - 1, N = index(cells.shape(1));
    require(cells.shape(0) == 1 && G >= 0 && (!weight || index(weight->size()) == N), "cells must be (1, N)");
    std::vector<std::int64_t> begins(size_t(G) + 1);
    std::vector<Code> pairs;
    std::vector<double> sums;
    bool few;
    {
        const nb::gil_scoped_release unlocked;
        require(starts.data()[0] == 0 && starts.data()[G] == N && ascending<std::int64_t>(starts.data(), G + 1),
                "starts must ascend to the rows");
        check(cells, levels);
        const Code* const c = cells.data();
        std::vector<std::int64_t> last(size_t(levels), -1);  // of each other level the pair that it was last in
        for (index g = 0; g < G; ++g) {
            index count = begins[size_t(g)];
            for (index n = starts.data()[g]; n < starts.data()[g + 1]; ++n) {
                std::int64_t& own = last[size_t(c[n])];
                if (own < begins[size_t(g)]) own = count++;
            }
            begins[size_t(g) + 1] = count;
        }
        few = begins[size_t(G)] <= N - N / 4 && N;
        if (few) {
            pairs.resize(size_t(begins[size_t(G)]));
            sums.resize(pairs.size());
            last.assign(size_t(levels), -1);
            index count = 0;
            for (index g = 0; g < G; ++g)
                for (index n = starts.data()[g]; n < starts.data()[g + 1]; ++n) {
                    std::int64_t& own = last[size_t(c[n])];
                    if (own < begins[size_t(g)]) pairs[size_t(own = count++)] = c[n];
                    sums[size_t(own)] += weight ? weight->data()[n] : 1.0;
                }
        }
    }
    if (!few) return nb::none();
    return nb::make_tuple(owned(std::move(begins)), owned(std::move(pairs)), owned(std::move(sums)));
}

void level_product(const Buffer& out, const Reals& v, const Pointers& starts, const Codes& cells, const Maybe& weight,
                   const Reals& inverse) {
    const index G = index(starts.size()) - 1, Q = index(cells.shape(0)), N = index(cells.shape(1));
    const index K = v.ndim() == 2 ? index(v.shape(1)) : 1;
    require(G >= 0 && index(inverse.size()) == G && (!weight || index(weight->size()) == N) && v.size() == out.size(),
            "starts, inverse, weight and v do not fit");
    require(K == 1 || K == 2, "v must be one or two columns");
    const nb::gil_scoped_release unlocked;
    require(starts.data()[0] == 0 && starts.data()[G] == N && ascending<std::int64_t>(starts.data(), G + 1),
            "starts must ascend to the rows");
    check(cells, index(v.size()) / K);
    std::memset(out.data(), 0, out.size() * sizeof(double));
    const auto run = K == 1 ? (Q == 1 ? product<1, true> : product<1, false>)
                            : (Q == 1 ? product<2, true> : product<2, false>);
    run(out.data(), v.data(), starts.data(), G, cells.data(), Q, N, weight ? weight->data() : nullptr, inverse.data());
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

// Returns order, starts, targets, shares and pivots of an approximate factor; see Factor.
nb::tuple level_factor(const Codes& codes, index levels, const Maybe& weight) {
    require(codes.shape(0) == 2, "codes must be (2, N)");
    const index N = index(codes.shape(1));
    require(!weight || index(weight->size()) == N, "weight must have N numbers");
    Factor found;
    {
        const nb::gil_scoped_release unlocked;
        check(codes, levels);
        found = std::move(Elimination(codes.data(), N, levels, weight ? weight->data() : nullptr).out);
    }
    return nb::make_tuple(owned(std::move(found.order)), owned(std::move(found.starts)), owned(std::move(found.targets)),
                          owned(std::move(found.shares)), owned(std::move(found.pivots)));
}

// Solves L D L' x = b in place of b, x = 0 where D is zero.
void level_precondition(const Buffer& x, const Shorts& order, const Pointers& starts, const Shorts& targets,
                        const Row& shares, const Row& pivots) {
    const index size = index(x.size()), E = index(targets.size());
    require(index(order.size()) == size && index(starts.size()) == size + 1 && index(pivots.size()) == size &&
                index(shares.size()) == E,
            "the factor does not fit");
    const nb::gil_scoped_release unlocked;
    require(starts.data()[0] == 0 && starts.data()[size] == E && ascending<std::int64_t>(starts.data(), size + 1) &&
                all_within(order.data(), size, size) && all_within(targets.data(), E, size),
            "the factor does not fit");
    double* const out = x.data();
    for (index i = 0; i < size; ++i) {
        double& own = out[order.data()[i]];
        for (index k = starts.data()[i]; k < starts.data()[i + 1]; ++k) out[targets.data()[k]] += shares.data()[k] * own;
        own *= pivots.data()[i];
    }
    for (index i = size; i-- > 0;) {
        double sum = 0.0;
        for (index k = starts.data()[i]; k < starts.data()[i + 1]; ++k) sum += shares.data()[k] * out[targets.data()[k]];
        out[order.data()[i]] += sum;
    }
}

}  // namespace effects

void bind_effects(nb::module_& m) {
    using namespace effects;
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    m.def("level_sums", &level_sums, array("out"), array("codes"), optional("x"), optional("weight"));
    m.def("level_subtract", &level_subtract, array("x"), array("codes"), array("effects"));
    m.def("level_order", &level_order, array("order"), array("starts"), array("codes"));
    m.def("level_pairs", &level_pairs, array("starts"), array("cells"), optional("weight"), "levels"_a);
    m.def("level_product", &level_product, array("out"), array("v"), array("starts"), array("cells"),
          optional("weight"), array("inverse"));
    m.def("level_components", &level_components, array("codes"), "levels"_a);
    m.def("level_factor", &level_factor, array("codes"), "levels"_a, optional("weight"));
    m.def("level_precondition", &level_precondition, array("x"), array("order"), array("starts"), array("targets"),
          array("shares"), array("pivots"));
}

}  // namespace adaline
