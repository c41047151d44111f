// adaline._native: checks shapes and types, then runs a kernel without the interpreter lock.
//
// Arrays are never copied: a wrong type, a wrong order or a wrong length is an error.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {
namespace {

using Buffer = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Rectangle = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Line = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Maybe = std::optional<Reals>;
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> sets{&baseline::kernels};
#if defined(ADALINE_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&avx2::kernels);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        sets.push_back(&avx512::kernels);
#endif
    return sets;
}

const Kernels* find(const std::string& name) {
    for (const Kernels* set : usable())
        if (name == set->isa) return set;
    throw nb::value_error(("instruction set '" + name + "' is not usable on this machine").c_str());
}

const Kernels* preferred() {
    const char* const name = std::getenv("ADALINE_ISA");
    return name && *name ? find(name) : usable().back();
}

const Kernels* active = nullptr;

void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

bool is_single(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<float>()) return true;
    if (type == nb::dtype<double>()) return false;
    throw nb::type_error("data must be float32 or float64");
}

bool is_short(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<std::int32_t>()) return true;
    if (type == nb::dtype<std::int64_t>()) return false;
    throw nb::type_error("indices must be int32 or int64");
}

index state_size(index q) { return 3 + (4 + q) * q; }

using Chosen = std::optional<nb::ndarray<const index, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

// Rows of x: a matrix, or a list of columns of one type and length.
class Rows {
    std::vector<Line> lines;
    std::vector<const void*> heads;

  public:
    Dense dense;

    explicit Rows(nb::handle x) {
        if (!nb::isinstance<nb::list>(x)) {
            Rectangle m;
            if (!nb::try_cast(x, m, false)) throw nb::type_error("x must be a matrix, or a list of columns");
            dense = {m.data(), is_single(m.dtype()), index(m.shape(0)), index(m.shape(1)), m.stride(0), m.stride(1)};
            return;
        }
        if (!nb::try_cast(x, lines, false)) throw nb::type_error("columns must be vectors");
        require(!lines.empty(), "there must be a column");
        const Line& first = lines.front();
        for (const Line& one : lines) {
            require(one.dtype() == first.dtype() && one.size() == first.size(), "columns must be alike");
            heads.push_back(one.data());
        }
        dense = {first.data(), is_single(first.dtype()), index(first.size()), index(lines.size()), 1, 0};
        dense.heads = heads.data();
    }

    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
};

template <class Integer>
bool within(const void* numbers, index from, index to, index low, index high) {
    const auto* const p = static_cast<const Integer*>(numbers);
    bool all = true;
    for (index k = from; k < to; ++k) all &= p[k] >= low && p[k] < high;
    return all;
}

template <class Integer>
bool ascending(const void* numbers, index size) {
    const auto* const p = static_cast<const Integer*>(numbers);
    bool all = true;
    for (index k = 1; k < size; ++k) all &= p[k - 1] <= p[k];
    return all;
}

template <class Integer>
index number(const void* numbers, index k) {
    return static_cast<const Integer*>(numbers)[k];
}

// The one check that looks at the entries: a stray index would write anywhere.
Sparse sparse(const Vector& data, const Vector& indices, const Vector& indptr, index D, bool check = true) {
    require(data.size() == indices.size() && indptr.size() >= 1, "data, indices and indptr do not fit");
    const index n = index(indptr.size()) - 1;
    const Sparse x{data.data(), indices.data(), indptr.data(), is_single(data.dtype()),
                   is_short(indices.dtype()), is_short(indptr.dtype()), n, D};
    using Short = std::int32_t;
    using Long = std::int64_t;
    const nb::gil_scoped_release unlocked;
    const index begin = (x.short_indptr ? number<Short> : number<Long>)(x.indptr, 0);
    const index end = (x.short_indptr ? number<Short> : number<Long>)(x.indptr, n);
    require(begin >= 0 && end <= index(data.size()) &&
                (x.short_indptr ? ascending<Short> : ascending<Long>)(x.indptr, n + 1),
            "indptr must ascend within data");
    require(!check || (x.short_indices ? within<Short> : within<Long>)(x.indices, begin, end, 0, D),
            "an index lies outside of the columns");
    return x;
}

Targets targets(const Reals& t, const Maybe& weight, index rows) {
    require(t.ndim() == 2 && index(t.shape(0)) == rows, "t must have one row for each row of x");
    require(!weight || index(weight->size()) == rows, "weight must have one number for each row of x");
    return {t.data(), index(t.shape(1)), weight ? weight->data() : nullptr};
}

Model model(const Buffer& g, const Reals& hi, const Reals& lo, const Reals& exponent, index D, index K) {
    require(index(hi.size()) == K * (1 + D) && index(lo.size()) == K * (1 + D), "theta must be (K, 1 + D)");
    require(index(exponent.size()) == D + K, "exponent must have D + K numbers");
    require(index(g.size()) == K * (D + 2) * 2, "g must be (K, D + 2, 2)");
    return {hi.data(), lo.data(), exponent.data()};
}

void check_state(const Buffer& state, index q) {
    require(index(state.size()) == state_size(q), "state has the wrong size");
}

bool moments_dense(const Buffer& state, index D, index K, nb::handle x, const Reals& t, const Maybe& weight,
                   bool centred, const Maybe& exponent, const Chosen& chosen) {
    Rows held(x);
    Dense& rows = held.dense;
    if (chosen) {
        require(within<index>(chosen->data(), 0, index(chosen->size()), 0, rows.rows), "chosen rows must exist");
        rows.chosen = chosen->data();
        rows.rows = index(chosen->size());
    }
    const Targets y = targets(t, weight, rows.rows);
    require(rows.columns == D && y.K == K, "x must have D columns and t K columns");
    require(!exponent || index(exponent->size()) == D + K, "exponent must have D + K numbers");
    check_state(state, D + K);
    const nb::gil_scoped_release unlocked;
    return active->moments_dense(state.data(), rows, y, centred, exponent ? exponent->data() : nullptr);
}

bool moments_csr(const Buffer& state, index D, index K, const Vector& data, const Vector& indices,
                 const Vector& indptr, const Reals& t, const Maybe& weight, const Reals& exponent) {
    const Sparse rows = sparse(data, indices, indptr, D);
    const Targets y = targets(t, weight, rows.rows);
    require(y.K == K, "t must have K columns");
    require(index(exponent.size()) == D + K, "exponent must have D + K numbers");
    check_state(state, D + K);
    const nb::gil_scoped_release unlocked;
    return active->moments_csr(state.data(), rows, y, exponent.data());
}

void moments_merge(const Buffer& a, const Reals& b, index D, index K) {
    check_state(a, D + K);
    require(a.size() == b.size(), "states differ in size");
    const nb::gil_scoped_release unlocked;
    active->moments_merge(a.data(), b.data(), D + K);
}

void moments_subtract(const Buffer& a, const Reals& b, index D, index K) {
    check_state(a, D + K);
    require(a.size() == b.size(), "states differ in size");
    const nb::gil_scoped_release unlocked;
    active->moments_subtract(a.data(), b.data(), D + K);
}

void residual_dense(const Buffer& g, nb::handle x, const Reals& t, const Maybe& weight, const Reals& hi,
                    const Reals& lo, const Reals& exponent) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Targets y = targets(t, weight, rows.rows);
    const Model theta = model(g, hi, lo, exponent, rows.columns, y.K);
    const nb::gil_scoped_release unlocked;
    active->residual_dense(g.data(), rows, y, theta);
}

void residual_csr(const Buffer& g, const Vector& data, const Vector& indices, const Vector& indptr,
                  const Reals& t, const Maybe& weight, const Reals& hi, const Reals& lo,
                  const Reals& exponent) {
    require(t.ndim() == 2, "t must be (n, K)");
    const index K = index(t.shape(1)), D = index(exponent.size()) - K;
    const Sparse rows = sparse(data, indices, indptr, D);
    const Targets y = targets(t, weight, rows.rows);
    const Model theta = model(g, hi, lo, exponent, D, K);
    const nb::gil_scoped_release unlocked;
    active->residual_csr(g.data(), rows, y, theta);
}

double descend(const Reals& H, const Buffer& g, const Buffer& w, const Reals& l1, index sweeps, double enough) {
    const index M = index(g.size());
    require(index(H.size()) == M * M && index(w.size()) == M && index(l1.size()) == M, "H must be (M, M), all else (M,)");
    const nb::gil_scoped_release unlocked;
    return active->descend(H.data(), M, g.data(), w.data(), l1.data(), sweeps, enough);
}

// A scan that holds on to the arrays of its state, so that a row costs one look at x.
class BoundScan {
    Buffer theta, good, tally, lag, root;
    Scanner s;
    bool of_classes;

    using Outputs = std::optional<nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

    Targets checked(const Reals& t, const Maybe& weight, const Chosen& chosen, const Chosen& order, const Maybe& rates,
                    const Outputs& outputs, index rows, Visits& v) const {
        const Targets y = targets(t, weight, rows);
        require(y.K == s.T, "t must have a column for each target");
        if (order)
            require(within<index>(order->data(), 0, index(order->size()), 0, rows), "rows of an order must exist");
        require(!(order && chosen), "an order and chosen rows exclude each other");
        v = {order ? index(order->size()) : rows, order ? order->data() : nullptr, rates ? rates->data() : nullptr,
             outputs ? outputs->data() : nullptr};
        require(s.schedule != 3 || (rates && index(rates->size()) >= v.count), "there must be a rate for each row");
        require(!outputs || (index(outputs->shape(0)) == v.count && index(outputs->shape(1)) == s.K),
                "outputs must be (rows, K)");
        return y;
    }

  public:
    BoundScan(int rule, Buffer theta, Buffer good, Buffer tally, Buffer lag, Buffer root, const Reals& parameters,
              bool intercept, bool of_classes, index average, index period, int schedule, double rate, double tau,
              double power)
        : theta(theta), good(good), tally(tally), lag(lag), root(root), of_classes(of_classes) {
        require(theta.ndim() == 2 && theta.shape(1) >= 1 && good.size() == theta.size(), "theta must be (K, 1 + D)");
        require(tally.size() == 16 && parameters.size() == 4 && period > 0, "tallies and parameters do not fit");
        require(average < 0 || lag.size() == theta.size(), "lag must be like theta");
        const index K = index(theta.shape(0)), D = index(theta.shape(1)) - 1, n = 1 + D;
        require(root.ndim() == 3 && (rule < 11 || root.shape(0) >= 1) &&
                    (root.size() == 0 || (index(root.shape(1)) == (rule < 16 ? n : 1) && index(root.shape(2)) == (n + 7) / 8 * 8)),
                "root must be (roots, 1 + D, padded 1 + D), or one row where it is diagonal");
        s = {rule, D, K, of_classes ? 1 : K, intercept ? 1.0 : 0.0, theta.data(), good.data(), tally.data(), lag.data(),
             root.data(), index(root.shape(0)), {}, average, period, schedule, rate, tau, power};
        for (int i = 0; i < 4; ++i) s.parameter[i] = parameters.data()[i];
    }

    void run_dense(nb::handle x, const Reals& t, const Maybe& weight, const Chosen& chosen, const Chosen& order,
                   const Maybe& rates, const Outputs& outputs) const {
        Rows held(x);
        Dense& rows = held.dense;
        if (chosen) {
            require(within<index>(chosen->data(), 0, index(chosen->size()), 0, rows.rows), "chosen rows must exist");
            rows.chosen = chosen->data();
            rows.rows = index(chosen->size());
        }
        Visits v;
        const Targets y = checked(t, weight, chosen, order, rates, outputs, rows.rows, v);
        require(rows.columns == s.D, "x must have D columns");
        if (order) rows.chosen = order->data();
        rows.rows = v.count;
        const nb::gil_scoped_release unlocked;
        active->scan_dense(s, rows, y, v);
    }

    void run_csr(const Vector& data, const Vector& indices, const Vector& indptr, const Reals& t, const Maybe& weight,
                 const Chosen& chosen, const Chosen& order, const Maybe& rates, const Outputs& outputs) const {
        const Sparse x = sparse(data, indices, indptr, s.D, false);
        if (chosen)
            require(within<index>(chosen->data(), 0, index(chosen->size()), 0, x.rows), "chosen rows must exist");
        Visits v;
        const Targets y =
            checked(t, weight, chosen, order, rates, outputs, chosen ? index(chosen->size()) : x.rows, v);
        {
            const nb::gil_scoped_release unlocked;
            active->scan_csr(s, x, chosen ? chosen->data() : v.order, y, v);
        }
        if (tally.data()[11] == 3) {
            tally.data()[11] = 2;
            throw nb::value_error("an index lies outside of the columns");
        }
    }

    double learn(const Row& x, double t) const {
        require(s.T == 1, "there are several targets");
        return one(x, &t);
    }

    double learn_several(const Row& x, const Row& t) const {
        require(index(t.size()) == s.T, "there must be a number for each target");
        return one(x, t.data());
    }

    double one(const Row& x, const double* t) const {
        require(index(x.size()) == s.D && s.schedule != 3, "x must have D numbers");
        double z[64];
        const bool few = s.K <= 64;
        const Dense row{x.data(), false, 1, s.D, s.D, 1};
        active->scan_dense(s, row, {t, s.T, nullptr}, {1, nullptr, nullptr, few ? z : nullptr});
        return few ? z[0] : 0;
    }
};

}  // namespace
}  // namespace adaline

NB_MODULE(_native, m) {
    using namespace adaline;
    active = preferred();

    m.def("isa", [] { return std::string(active->isa); });
    m.def("isas", [] {
        std::vector<std::string> names;
        for (const Kernels* set : usable()) names.emplace_back(set->isa);
        return names;
    });
    m.def("use_isa", [](const std::string& name) { active = find(name); }, "name"_a);

    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    m.def("moments_dense", &moments_dense, array("state"), "D"_a, "K"_a, "x"_a, array("t"),
          optional("weight"), "centred"_a, optional("exponent"), optional("chosen") = nb::none());
    m.def("moments_csr", &moments_csr, array("state"), "D"_a, "K"_a, array("data"), array("indices"),
          array("indptr"), array("t"), optional("weight"), array("exponent"));
    m.def("moments_merge", &moments_merge, array("a"), array("b"), "D"_a, "K"_a);
    m.def("moments_subtract", &moments_subtract, array("a"), array("b"), "D"_a, "K"_a);
    m.def("residual_dense", &residual_dense, array("g"), "x"_a, array("t"), optional("weight"),
          array("theta_hi"), array("theta_lo"), array("exponent"));
    m.def("residual_csr", &residual_csr, array("g"), array("data"), array("indices"), array("indptr"),
          array("t"), optional("weight"), array("theta_hi"), array("theta_lo"), array("exponent"));

    m.def("descend", &descend, array("H"), array("g"), array("w"), array("l1"), "sweeps"_a, "enough"_a);

    nb::class_<BoundScan>(m, "Scan")
        .def(nb::init<int, Buffer, Buffer, Buffer, Buffer, Buffer, const Reals&, bool, bool, adaline::index,
                      adaline::index, int, double, double, double>(),
             "rule"_a, array("theta"), array("good"), array("tally"), array("lag"), array("root"), array("parameters"),
             "intercept"_a, "of_classes"_a, "average"_a, "period"_a, "schedule"_a, "rate"_a, "tau"_a, "power"_a)
        .def("run_dense", &BoundScan::run_dense, "x"_a, array("t"), optional("weight"), optional("chosen"),
             optional("order"), optional("rates"), optional("outputs"))
        .def("run_csr", &BoundScan::run_csr, array("data"), array("indices"), array("indptr"), array("t"),
             optional("weight"), optional("chosen"), optional("order"), optional("rates"), optional("outputs"))
        .def("learn", &BoundScan::learn, array("x"), "t"_a)
        .def("learn", &BoundScan::learn_several, array("x"), array("t"));
}
