// One row from Python, for scans: what can be read without a conversion.
#pragma once

#include <cstring>
#include <utility>

#include "arrays.hpp"

namespace adaline {

// The numbers of one row if it is a contiguous array of doubles, else null.
class Numbers {
    Py_buffer view{};
    bool held;

  public:
    explicit Numbers(nb::handle x) : held(PyObject_GetBuffer(x.ptr(), &view, PyBUF_ND | PyBUF_FORMAT) == 0) {
        if (!held) PyErr_Clear();
    }
    ~Numbers() {
        if (held) PyBuffer_Release(&view);
    }
    Numbers(const Numbers&) = delete;

    const double* of(index n) const {
        const bool fits = held && view.ndim == 1 && view.shape[0] == n && view.format && view.format[0] == 'd' && !view.format[1];
        return fits ? static_cast<const double*>(view.buf) : nullptr;
    }
};

inline bool as_double(PyObject* value, double& out) {
#if !defined(Py_LIMITED_API)
    if (PyFloat_CheckExact(value)) {
        out = PyFloat_AS_DOUBLE(value);
        return true;
    }
#endif
    if (!PyFloat_Check(value) && !PyLong_Check(value)) return false;
    out = PyFloat_AsDouble(value);
    if (out != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

// Whether two keys are plainly the same: one object, or equal texts.
inline bool same(PyObject* a, PyObject* b) {
    if (a == b) return true;
    if (!PyUnicode_CheckExact(a) || !PyUnicode_CheckExact(b)) return false;
#if !defined(Py_LIMITED_API)
    if (PyUnicode_IS_COMPACT_ASCII(a) && PyUnicode_IS_COMPACT_ASCII(b)) {
        const Py_ssize_t n = PyUnicode_GET_LENGTH(a);
        return n == PyUnicode_GET_LENGTH(b) && std::memcmp(PyUnicode_1BYTE_DATA(a), PyUnicode_1BYTE_DATA(b), n) == 0;
    }
#endif
    return PyUnicode_Compare(a, b) == 0;
}

// How a scan reads rows from Python: columns by their names, targets by labels. Without it, it takes none. What is
// returned is owned: to compare keys may run code of the caller, which may set it anew.
class Reading {
    nb::object columns, labels;  // labels: a dict, or None where a target is given as it is
    bool known = false;

  public:
    void set(nb::object names, nb::object targets) {
        require(targets.is_none() || PyDict_CheckExact(targets.ptr()), "targets must be a dict, or None");
        columns = std::move(names);
        labels = std::move(targets);
        known = true;
    }

    nb::object names() const { return columns; }

    // The target, or targets, of y; not valid where there is none.
    nb::object target(nb::handle y) const {
        if (!known) return {};
        const nb::object in = labels;
        if (in.is_none()) return nb::borrow(y);
        PyObject* const found = PyDict_GetItemWithError(in.ptr(), y.ptr());
        if (!found) PyErr_Clear();
        return nb::borrow(found);
    }
};

}  // namespace adaline
