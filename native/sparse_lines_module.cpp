// Bindings of the parsers of sparse rows.

#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "sparse_lines.hpp"

namespace adaline {

namespace {

using namespace nb::literals;

using Shorts = Array<std::int32_t, nb::ndim<1>, nb::c_contig>;
using Longs = Array<index, nb::ndim<1>, nb::c_contig>;

SparseLines lines(const Buffer& data, const Shorts& indices, const Longs& starts, const Buffer& labels) {
    require(data.size() == indices.size(), "data and indices must have one length");
    require(starts.size() >= 1 && labels.size() == 3 * (starts.size() - 1), "labels must be (n, 3), starts (n + 1,)");
    return {data.data(), indices.data(), starts.data(), labels.data(), index(data.size()), index(starts.size()) - 1};
}

ParsedLines libsvm(const nb::bytes& text, index highest, const Buffer& data, const Shorts& indices, const Longs& starts,
                   const Buffer& labels) {
    require(highest >= 0 && highest < index(1) << 31, "highest must be an index of 31 bits");
    const SparseLines out = lines(data, indices, starts, labels);
    const char* const begin = text.c_str();
    const char* const end = begin + text.size();
    const nb::gil_scoped_release unlocked;
    return parse_libsvm(begin, end, highest, out);
}

ParsedLines vw(const nb::bytes& text, index width, const Buffer& data, const Shorts& indices, const Longs& starts,
               const Buffer& labels) {
    require(width >= 1 && width < index(1) << 31 && !(width & (width - 1)), "width must be a power of two");
    const SparseLines out = lines(data, indices, starts, labels);
    const char* const begin = text.c_str();
    const char* const end = begin + text.size();
    const nb::gil_scoped_release unlocked;
    return parse_vw(begin, end, std::uint64_t(width), out);
}

}  // namespace

void bind_sparse_lines(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("parse_libsvm", &libsvm, "text"_a, "highest"_a, array("data"), array("indices"), array("starts"),
          array("labels"));
    m.def("parse_vw", &vw, "text"_a, "width"_a, array("data"), array("indices"), array("starts"), array("labels"));
}

}  // namespace adaline
