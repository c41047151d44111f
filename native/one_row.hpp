// One row from Python, for scans: what can be read without a conversion.
#pragma once

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
    if (!PyFloat_Check(value) && !PyLong_Check(value)) return false;
    out = PyFloat_AsDouble(value);
    if (out != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

}  // namespace adaline
