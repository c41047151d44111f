// adaline._native, continued: scans.

#include <algorithm>
#include <cmath>

#include "one_row.hpp"

using namespace nanobind::literals;

namespace adaline {
namespace {

// The stable ABI has functions for what the full one reads in place.
#if defined(Py_LIMITED_API)
#define PyTuple_GET_SIZE PyTuple_Size
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyDict_GET_SIZE PyDict_Size
#endif

// The values of a dict in the order of the names; false where it has others, or values that are no plain numbers.
bool in_order(nb::handle x, nb::handle names, std::vector<double>& out) {
    const Py_ssize_t n = PyTuple_GET_SIZE(names.ptr());
    if (PyDict_GET_SIZE(x.ptr()) != n) return false;
    Py_ssize_t place = 0;
    PyObject *key, *value;
    for (Py_ssize_t k = 0; k < n; ++k) {
        PyObject* const name = PyTuple_GET_ITEM(names.ptr(), k);
        if (!PyDict_Next(x.ptr(), &place, &key, &value) || !same(key, name)) value = PyDict_GetItemWithError(x.ptr(), name);
        if (!value) PyErr_Clear();
        if (!value || !as_double(value, out[k])) return false;
    }
    return true;
}

// Whether the one target is the number of a class.
bool takes_classes(Rule rule) {
    return rule == Rule::kesler || rule == Rule::softmax || rule == Rule::adaptive_softmax || rule == Rule::wide_softmax;
}

// Whether the rule has two thetas, the one it steps with in the place of the lag.
bool bends(Rule rule) { return rule >= Rule::adaptive_tanh; }

// A scan that holds on to the arrays of its state, so that a row costs one look at x.
class BoundScan {
    Buffer theta, good, tally, lag, root;
    Scanner s;
    Reading reading;
    std::vector<double> row, outputs;

    bool runs() const { return s.tally->status == double(ScanState::running); }

    Targets checked(const Reals& t, const Maybe& weight, const Maybe& rates, index rows, const Visits& v) const {
        const Targets y = targets(t, weight, rows);
        require(y.K == s.T, "t must have a column for each target");
        require(s.schedule != Schedule::given || (rates && index(rates->size()) >= v.count),
                "there must be a rate for each row");
        return y;
    }

  public:
    BoundScan(Rule rule, Buffer theta, Buffer good, Buffer tally, Buffer lag, Buffer root, const Reals& parameters,
              bool intercept, index average, index period, Schedule schedule, double rate, double tau,
              double power)
        : theta(theta), good(good), tally(tally), lag(lag), root(root) {
        require(theta.ndim() == 2 && theta.shape(1) >= 1 && good.size() == theta.size(), "theta must be (K, 1 + D)");
        require(tally.size() == tallies && parameters.size() == 4 && period > 0, "tallies and parameters do not fit");
        require(average < 0 ? !bends(rule) : lag.size() == theta.size(), "lag must be like theta");
        const index K = index(theta.shape(0)), D = index(theta.shape(1)) - 1, n = 1 + D;
        const bool diagonal = rule >= Rule::wide_identity;
        require(root.ndim() == 3 && (rule < Rule::rls || root.shape(0) >= 1) &&
                    (root.size() == 0 || (index(root.shape(1)) == (diagonal ? 1 : n) && index(root.shape(2)) == (n + 7) / 8 * 8)),
                "root must be (roots, 1 + D, padded 1 + D), or one row where it is diagonal");
        s = {rule, takes_classes(rule), bends(rule), D, K, takes_classes(rule) ? 1 : K, intercept ? 1.0 : 0.0, theta.data(), good.data(), lag.data(), root.data(),
             reinterpret_cast<Tally*>(tally.data()), index(root.shape(0)), diagonal, {}, average, period, schedule, rate,
             tau, power};
        for (int i = 0; i < 4; ++i) s.parameter[i] = parameters.data()[i];
        row.resize(D);
        outputs.resize(K);
    }

    void run_dense(nb::handle x, const Reals& t, const Maybe& weight, const Chosen& chosen, const Chosen& order,
                   const Maybe& rates, const Outputs& outputs) const {
        Rows held(x, chosen);
        Dense& rows = held.dense;
        const Visits v = visits(chosen, order, rates, outputs, rows.rows, s.K);
        const Targets y = checked(t, weight, rates, rows.rows, v);
        require(rows.columns == s.D, "x must have D columns");
        if (order) rows.chosen = order->data();
        rows.rows = v.count;
        const nb::gil_scoped_release unlocked;
        active->scan_dense(s, rows, y, v);
    }

    void run_csr(const Vector& data, const Vector& indices, const Vector& indptr, const Reals& t, const Maybe& weight,
                 const Chosen& chosen, const Chosen& order, const Maybe& rates, const Outputs& outputs) const {
        const Sparse x = sparse(data, indices, indptr, s.D, false);
        const index count = count_chosen(chosen, x.rows);
        const Visits v = visits(chosen, order, rates, outputs, count, s.K);
        const Targets y = checked(t, weight, rates, count, v);
        {
            const nb::gil_scoped_release unlocked;
            active->scan_csr(s, x, chosen ? chosen->data() : v.order, y, v);
        }
        if (s.tally->status == double(ScanState::stray_index)) {
            s.tally->status = double(ScanState::not_finite);
            throw nb::value_error("an index lies outside of the columns");
        }
    }

    double learn(const Row& x, double t) {
        require(s.T == 1, "there are several targets");
        require(index(x.size()) == s.D && s.schedule != Schedule::given, "x must have D numbers");
        return one(x.data(), &t);
    }

    double learn_several(const Row& x, const Row& t) {
        require(index(t.size()) == s.T, "there must be a number for each target");
        require(index(x.size()) == s.D && s.schedule != Schedule::given, "x must have D numbers");
        return one(x.data(), t.data());
    }

    void read_rows_by(nb::object names, nb::object targets) { reading.set(std::move(names), std::move(targets)); }

    // Whether one row was taken as it is: an array, or a dict by the names of columns, all of it finite, with a target
    // or label. If not, nothing was done, or the row has ended the scan.
    bool take(nb::handle x, nb::handle y) {
        const nb::object t = reading.target(y);
        return t.is_valid() && take_target(x, t);
    }

    bool take_target(nb::handle x, nb::handle t) {
        if (s.schedule == Schedule::given || !runs()) return false;
        double target;
        if (s.T > 1) {
            const Numbers several(t);
            const double* const targets = several.of(s.T);
            return targets && take_row(x, targets);
        }
        return as_double(t.ptr(), target) && take_row(x, &target);
    }

    bool take_row(nb::handle x, const double* t) {
        const nb::object names = reading.names();
        if (PyDict_CheckExact(x.ptr()) && PyTuple_CheckExact(names.ptr()))
            return PyTuple_GET_SIZE(names.ptr()) == s.D && in_order(x, names, row) && finish(row.data(), t);
        const Numbers numbers(x);
        const double* const p = numbers.of(s.D);
        return p && finish(p, t);
    }

    // Takes a row that is finite; false also where it ended the scan.
    bool finish(const double* x, const double* t) {
        double square = 0, far = 0;
        for (index j = 0; j < s.D; ++j) square += x[j] * x[j];
        for (index k = 0; k < s.T; ++k) far += t[k] * 0;
        if (!(square < HUGE_VAL) || far != 0) return false;
        one(x, t);
        return runs();
    }

    double one(const double* x, const double* t) {
        const Dense rows{x, false, 1, s.D, s.D, 1};
        active->scan_dense(s, rows, {t, s.T, nullptr}, {1, nullptr, nullptr, outputs.data()});
        return runs() ? outputs[0] : 0;  // a scan that has ended writes no outputs
    }

    // Takes a row as above, and keeps the pocket: of each machine the rows in a row that it got right (K,), the most of
    // them so far (K,), and its weights at that time, (K, 1 + D).
    bool take_into(nb::handle x, nb::handle y, const Buffer& best, const Buffer& record, const Buffer& streak) {
        const index width = 1 + s.D;
        require(index(best.size()) == s.K * width && index(record.size()) == s.K && index(streak.size()) == s.K &&
                    s.T == s.K,
                "the pocket must have the shape of the weights");
        const nb::object t = reading.target(y);
        if (!t.is_valid() || !take_target(x, t)) return false;
        const auto keep = [&](const double* y) {
            for (index k = 0; k < s.K; ++k) {
                double& run = streak.data()[k];
                run = outputs[k] * y[k] <= 0 ? 0 : run + 1;
                if (!(run > record.data()[k])) continue;
                record.data()[k] = run;
                std::copy_n(theta.data() + k * width, width, best.data() + k * width);
            }
        };
        double target = 0;
        if (s.T > 1)
            keep(Numbers(t).of(s.T));
        else if (as_double(t.ptr(), target))
            keep(&target);
        return true;
    }

    // w.x of the last row that was learned by itself, before its step.
    const std::vector<double>& last() const { return outputs; }
};

}  // namespace

void bind_scans(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    nb::class_<BoundScan>(m, "Scan")
        .def(nb::init<Rule, Buffer, Buffer, Buffer, Buffer, Buffer, const Reals&, bool, index, index, Schedule, double,
                      double, double>(),
             "rule"_a, array("theta"), array("good"), array("tally"), array("lag"), array("root"), array("parameters"),
             "intercept"_a, "average"_a, "period"_a, "schedule"_a, "rate"_a, "tau"_a, "power"_a)
        .def("run_dense", &BoundScan::run_dense, "x"_a, array("t"), optional("weight"), optional("chosen"),
             optional("order"), optional("rates"), optional("outputs"))
        .def("run_csr", &BoundScan::run_csr, array("data"), array("indices"), array("indptr"), array("t"),
             optional("weight"), optional("chosen"), optional("order"), optional("rates"), optional("outputs"))
        .def("learn", &BoundScan::learn, array("x"), "t"_a)
        .def("learn", &BoundScan::learn_several, array("x"), array("t"))
        .def("read_rows_by", &BoundScan::read_rows_by, "names"_a.none(), "targets"_a.none())
        .def("take", &BoundScan::take, "x"_a.none(), "y"_a.none())
        .def("take_into", &BoundScan::take_into, "x"_a.none(), "y"_a.none(), array("best"), array("record"),
             array("streak"))
        .def("last", &BoundScan::last);
}

}  // namespace adaline
