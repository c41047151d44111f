// adaline._native, continued: scans with a step size for every coordinate.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "coordinates.hpp"
#include "one_row.hpp"

using namespace nanobind::literals;

namespace adaline {
namespace {

// A scan that holds on to the arrays of its state; its methods are those of Scan.
class CoordinateScan {
    Buffer state, tally;
    Coordinates c;
    Reading reading;
    std::vector<double> row, outputs;
    std::vector<index> columns;
    std::vector<std::pair<index, double>> pairs;

    bool runs() const { return c.tally->status == double(ScanState::running); }

    Targets checked(const Reals& t, const Maybe& weight, index rows) const {
        const Targets y = targets(t, weight, rows);
        require(y.K == c.T, "t must have a column for each target");
        return y;
    }

    // One row of n entries; its outputs are kept. It may end the scan, which then writes none.
    double one(index n, const double* t) {
        scan_pairs(c, columns.data(), row.data(), n, t, outputs.data());
        return runs() ? outputs[0] : 0;
    }

    // The entries of an array of D numbers that are not zero; how many.
    index entries_of(const double* x) {
        index n = 0;
        for (index j = 0; j < c.D; ++j)
            if (x[j] != 0) put(n++, j, x[j]);
        return n;
    }

    void put(index k, index column, double value) {
        if (k == index(row.size())) {
            row.resize(2 * k + 8);
            columns.resize(2 * k + 8);
        }
        row[k] = value;
        columns[k] = column;
    }

    // Puts n entries into the order of their columns, as an array has them.
    void sort(index n) {
        pairs.clear();
        for (index k = 0; k < n; ++k) pairs.emplace_back(columns[k], row[k]);
        std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (index k = 0; k < n; ++k) std::tie(columns[k], row[k]) = pairs[k];
    }

    bool finish(index n, const double* t) {
        double square = 0, far = 0;
        for (index k = 0; k < n; ++k) square += row[k] * row[k];
        for (index k = 0; k < c.T; ++k) far += t[k] * 0;
        if (!(square < HUGE_VAL) || far != 0) return false;
        one(n, t);
        return runs();
    }

    bool take_row(nb::handle x, const double* t) {
        if (!PyDict_CheckExact(x.ptr())) {
            const Numbers numbers(x);
            const double* const p = numbers.of(c.D);
            return p && finish(entries_of(p), t);
        }
        const nb::object names = reading.names();
        if (!PyDict_CheckExact(names.ptr())) return false;
        Py_ssize_t place = 0;
        PyObject *key, *value;
        index n = 0;
        double number;
        bool ordered = true;
        for (; PyDict_Next(x.ptr(), &place, &key, &value); ++n) {
            PyObject* const column = PyDict_GetItemWithError(names.ptr(), key);
            if (!column) PyErr_Clear();
            if (!column || !as_double(value, number)) return false;
            const index j = index(PyLong_AsLongLong(column));
            if (j < 0 || j >= c.D) return false;
            put(n, j, number);
            ordered &= n == 0 || columns[n - 1] < j;
        }
        if (!ordered) sort(n);
        return finish(n, t);
    }

  public:
    CoordinateScan(Loss loss, Buffer state, Buffer tally, index D, index K, bool held, bool averaged, bool intercept,
                   double penalty, double l1)
        : state(state), tally(tally) {
        const bool known = loss == Loss::squared || loss == Loss::logistic || loss == Loss::softmax ||
                           loss == Loss::sigmoid_squared || loss == Loss::tanh_squared;
        require(known && D >= 0 && K >= 1 && tally.size() == tallies, "the loss or the tallies do not fit");
        require(state.ndim() == 3, "the state must be (1, 1 + D, width)");
        c = {loss, D, K, loss == Loss::softmax ? 1 : K, index(state.shape(2)), held, averaged, intercept ? 1.0 : 0.0,
             penalty, l1, state.data(), reinterpret_cast<Tally*>(tally.data())};
        require(state.shape(0) == 1 && index(state.shape(1)) >= 1 + D && c.width >= c.last() + averaged,
                "the state must be (1, 1 + D, width)");
        outputs.resize(K);
    }

    void run_dense(nb::handle x, const Reals& t, const Maybe& weight, const Chosen& chosen, const Chosen& order,
                   const Maybe&, const Outputs& outputs) const {
        Rows held(x, chosen);
        Dense& rows = held.dense;
        const Visits v = visits(chosen, order, {}, outputs, rows.rows, c.K);
        const Targets y = checked(t, weight, rows.rows);
        require(rows.columns == c.D, "x must have D columns");
        if (order) rows.chosen = order->data();
        const nb::gil_scoped_release unlocked;
        scan_coordinates(c, rows, y, v);
    }

    void run_csr(const Vector& data, const Vector& indices, const Vector& indptr, const Reals& t, const Maybe& weight,
                 const Chosen& chosen, const Chosen& order, const Maybe&, const Outputs& outputs) const {
        const Sparse x = sparse(data, indices, indptr, c.D, false);
        const index count = count_chosen(chosen, x.rows);
        const Visits v = visits(chosen, order, {}, outputs, count, c.K);
        const Targets y = checked(t, weight, count);
        {
            std::optional<nb::gil_scoped_release> unlocked;
            if (v.count > 1) unlocked.emplace();  // one row is taken while no other thread can take one
            scan_coordinates(c, x, chosen ? chosen->data() : v.order, y, v);
        }
        if (c.tally->status == double(ScanState::stray_index)) {
            c.tally->status = double(ScanState::not_finite);
            throw nb::value_error("an index lies outside of the columns");
        }
    }

    double learn(const Row& x, double t) {
        require(c.T == 1 && index(x.size()) == c.D, "x must have D numbers, and there must be one target");
        return one(entries_of(x.data()), &t);
    }

    double learn_several(const Row& x, const Row& t) {
        require(index(t.size()) == c.T && index(x.size()) == c.D, "x must have D numbers, and t one for each target");
        return one(entries_of(x.data()), t.data());
    }

    void read_rows_by(nb::object names, nb::object targets) { reading.set(std::move(names), std::move(targets)); }

    // Whether one row was taken as it is: an array, or a dict whose keys `names`, a dict, has columns for.
    bool take(nb::handle x, nb::handle y) {
        const nb::object t = reading.target(y);
        if (!t.is_valid() || !runs()) return false;
        double target;
        if (c.T > 1) {
            const Numbers several(t);
            const double* const targets = several.of(c.T);
            return targets && take_row(x, targets);
        }
        return as_double(t.ptr(), target) && take_row(x, &target);
    }

    const std::vector<double>& last() const { return outputs; }
};

}  // namespace

void bind_coordinates(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    nb::class_<CoordinateScan>(m, "CoordinateScan")
        .def(nb::init<Loss, Buffer, Buffer, index, index, bool, bool, bool, double, double>(), "loss"_a, array("state"),
             array("tally"), "D"_a, "K"_a, "held"_a, "averaged"_a, "intercept"_a, "penalty"_a, "l1"_a)
        .def("run_dense", &CoordinateScan::run_dense, "x"_a, array("t"), optional("weight"), optional("chosen"),
             optional("order"), optional("rates"), optional("outputs"))
        .def("run_csr", &CoordinateScan::run_csr, array("data"), array("indices"), array("indptr"), array("t"),
             optional("weight"), optional("chosen"), optional("order"), optional("rates"), optional("outputs"))
        .def("learn", &CoordinateScan::learn, array("x"), "t"_a)
        .def("learn", &CoordinateScan::learn_several, array("x"), array("t"))
        .def("read_rows_by", &CoordinateScan::read_rows_by, "names"_a.none(), "targets"_a.none())
        .def("take", &CoordinateScan::take, "x"_a.none(), "y"_a.none())
        .def("last", &CoordinateScan::last);
}

}  // namespace adaline
