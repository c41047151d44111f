// Fits of groups of rows for Python; see groups.hpp.

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace {

using Marks = Array<std::int32_t, nb::ndim<1>, nb::c_contig>;
using Order = std::optional<Array<const std::int32_t, nb::ndim<1>, nb::c_contig>>;
using Starts = Array<const std::int64_t, nb::ndim<1>, nb::c_contig>;

// theta, error and statistic (G, 1 + D), facts (2, G): degrees of freedom and digits; state and column (G,). Of rows in
// columns x (a list of vectors), groups first .. last, of which each has rows begins .. ends (G,) of the order.
void group_regressions(const Buffer& theta, const Buffer& error, const Buffer& statistic, const Buffer& facts,
                       const Marks& state, const Marks& column, const std::vector<Row>& x, const Row& t,
                       const Maybe& weight, const Order& order, const Starts& begins, const Starts& ends, const Maybe& pull,
                       bool intercept, Loss loss, index first, index last) {
    const index D = index(x.size()), N = index(t.size()), G = index(begins.size());
    require(D > 0 && ends.size() == begins.size() && 0 <= first && first <= last && last <= G,
            "groups must have a begin and an end");
    require(index(theta.size()) == G * (1 + D) && theta.size() == error.size() && theta.size() == statistic.size() &&
                index(facts.size()) == 2 * G && index(state.size()) == G && index(column.size()) == G,
            "what is found must be of all groups");
    require((!weight || index(weight->size()) == N) && (!pull || index(pull->size()) == D) &&
                (!order || index(order->size()) == N),
            "weight and order must be of all rows, pull of all columns");
    require(loss == Loss::squared || loss == Loss::logistic || loss == Loss::poisson, "no kernel fits groups by this loss");
    std::vector<const double*> heads;
    for (const Row& one : x) {
        require(index(one.size()) == N, "columns must be alike");
        heads.push_back(one.data());
    }
    const nb::gil_scoped_release unlocked;
    const std::int64_t *const b = begins.data(), *const e = ends.data();
    index lowest = N, highest = 0;
    for (index g = first; g < last; ++g) {
        require(0 <= b[g] && b[g] <= e[g] && e[g] <= N, "groups must lie among the rows");
        lowest = std::min<index>(lowest, b[g]), highest = std::max<index>(highest, e[g]);
    }
    require(!order || lowest >= highest || within<std::int32_t>(order->data(), lowest, highest, 0, N),
            "rows of the order must exist");
    const GroupRows rows{heads.data(), t.data(), weight ? weight->data() : nullptr, order ? order->data() : nullptr,
                         pull ? pull->data() : nullptr, intercept, loss};
    const index at = first * (1 + D);
    active->group_regressions(rows, D, b + first, e + first, last - first,
                              {theta.data() + at, error.data() + at, statistic.data() + at, facts.data() + first,
                               facts.data() + G + first, state.data() + first, column.data() + first});
}

}  // namespace

void bind_groups(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    m.def("group_regressions", &group_regressions, array("theta"), array("error"), array("statistic"), array("facts"),
          array("state"), array("column"), array("x"), array("t"), optional("weight"), optional("order"),
          array("begins"), array("ends"), optional("pull"), "intercept"_a, "loss"_a, "first"_a, "last"_a);
}

}  // namespace adaline
