// Arrays from Python for the kernels: checked, not copied. A wrong type, memory order or length is an error.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "kernels.hpp"

namespace adaline {

namespace nb = nanobind;

// An array of the host. nanobind would spell its type out in the signature of every function, which the compiler puts
// together letter by letter: it took a fifth of its time. Under this name an array is an array.
template <class... Args>
struct Array : nb::ndarray<Args..., nb::device::cpu> {
    using nb::ndarray<Args..., nb::device::cpu>::ndarray;
};

}  // namespace adaline

template <class... Args>
struct nanobind::detail::type_caster<adaline::Array<Args...>> {
    NB_TYPE_CASTER(adaline::Array<Args...>, const_name("array"))

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        using Plain = ndarray<Args..., device::cpu>;
        type_caster<Plain> plain;
        if (!plain.from_python(source, flags, cleanup)) return false;
        static_cast<Plain&>(value) = std::move(plain.value);
        return true;
    }
};

namespace adaline {

using Buffer = Array<double, nb::c_contig>;
using Reals = Array<const double, nb::c_contig>;
using Rectangle = Array<nb::ro, nb::ndim<2>>;
using Line = Array<nb::ro, nb::ndim<1>, nb::c_contig>;
using Vector = Array<nb::ro, nb::ndim<1>, nb::c_contig>;
using Maybe = std::optional<Reals>;
// Not an Array, whose move would be 3 % of a call for one row.
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

inline bool is_single(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<float>()) return true;
    if (type == nb::dtype<double>()) return false;
    throw nb::type_error("data must be float32 or float64");
}

inline bool is_short(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<std::int32_t>()) return true;
    if (type == nb::dtype<std::int64_t>()) return false;
    throw nb::type_error("indices must be int32 or int64");
}

using Shorts = std::optional<Array<const std::int32_t, nb::ndim<1>, nb::c_contig>>;
using Chosen = std::optional<Array<const index, nb::ndim<1>, nb::c_contig>>;
using Outputs = std::optional<Array<double, nb::ndim<2>, nb::c_contig>>;

template <class Integer>
bool within(const void* numbers, index from, index to, index low, index high) {
    const auto* const p = static_cast<const Integer*>(numbers);
    bool all = true;
    for (index k = from; k < to; ++k) all &= p[k] >= low && p[k] < high;
    return all;
}

// How many rows of x there are where some are chosen, which must exist.
inline index count_chosen(const Chosen& chosen, index rows) {
    if (!chosen) return rows;
    require(within<index>(chosen->data(), 0, index(chosen->size()), 0, rows), "chosen rows must exist");
    return index(chosen->size());
}

// Rows of x: a matrix, or a list of columns of one type and length.
class Rows {
    std::vector<Line> lines;
    std::vector<const void*> heads;

  public:
    Dense dense;

    explicit Rows(nb::handle x, const Chosen& chosen) : Rows(x) {
        dense.rows = count_chosen(chosen, dense.rows);
        if (chosen) dense.chosen = chosen->data();
    }

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
inline Sparse sparse(const Vector& data, const Vector& indices, const Vector& indptr, index D, bool check = true) {
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

// The same rows with units beside their numbers, of which one output alone knows.
inline Sparse with_units(Sparse x, const Shorts& units, const Shorts& starts, index K) {
    if (!units) return x;
    require(K == 1, "units apart from the numbers must be of one output");
    require(starts && index(starts->size()) == x.rows + 1, "there must be starts of units for each row");
    x.units = units->data();
    x.starts = starts->data();
    const nb::gil_scoped_release unlocked;
    const index begin = x.starts[0], end = x.starts[x.rows];
    require(begin >= 0 && end <= index(units->size()) && ascending<std::int32_t>(x.starts, x.rows + 1),
            "starts must ascend within units");
    require(within<std::int32_t>(x.units, begin, end, -x.columns, x.columns), "an index lies outside of the columns");
    return x;
}

inline Targets targets(const Reals& t, const Maybe& weight, index rows) {
    require(t.ndim() == 2 && index(t.shape(0)) == rows, "t must have one row for each row of x");
    require(!weight || index(weight->size()) == rows, "weight must have one number for each row of x");
    return {t.data(), index(t.shape(1)), weight ? weight->data() : nullptr};
}

// The visits of a scan of K outputs to rows: in their order, or in one that is given, which excludes chosen rows.
inline Visits visits(const Chosen& chosen, const Chosen& order, const Maybe& rates, const Outputs& outputs, index rows, index K) {
    require(!order || within<index>(order->data(), 0, index(order->size()), 0, rows), "rows of an order must exist");
    require(!(order && chosen), "an order and chosen rows exclude each other");
    const index count = order ? index(order->size()) : rows;
    require(!outputs || (index(outputs->shape(0)) == count && index(outputs->shape(1)) == K), "outputs must be (rows, K)");
    return {count, order ? order->data() : nullptr, rates ? rates->data() : nullptr, outputs ? outputs->data() : nullptr};
}

// The kernels of the instruction set in use.
extern const Kernels* active;

// Adds the scans to the module.
void bind_scans(nb::module_& m);

// Adds the scans with a step size for every coordinate.
void bind_coordinates(nb::module_& m);

// Adds the kernels of likelihoods to the module.
void bind_objectives(nb::module_& m);

// Adds what iterative refinement does between its passes to the module.
void bind_refinement(nb::module_& m);

// Adds sums and products over the levels of effects to the module.
void bind_effects(nb::module_& m);

// Adds the fits of groups of rows to the module.
void bind_groups(nb::module_& m);

// Adds the columns of curves, and the sums of the rows of each key, to the module.
void bind_smooths(nb::module_& m);

// Adds what makes sparse rows from texts to the module.
void bind_texts(nb::module_& m);

// Adds the parsers of text of sparse rows to the module.
void bind_sparse_lines(nb::module_& m);

}  // namespace adaline
