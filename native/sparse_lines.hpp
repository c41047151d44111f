// Text of sparse rows as CSR arrays: lines "label index:value ..." (LIBSVM) and "label |space name:value ..." (VW).
//
// The first line that is not of its format ends the parse; the references (sources/tables/sparse_lines.py) explain it.
#pragma once

#include <cstdint>
#include <tuple>

namespace adaline {

// The arrays that rows are written to. Entries of a row have raw indices; labels are (n, 3): label, weight and base,
// NaN where a row has none.
struct SparseLines {
    double* data;
    std::int32_t* indices;
    std::int64_t* starts;
    double* labels;
    std::int64_t most_entries, most_rows;
    std::int64_t rows = 0, entries = 0;
};

// The numbers of rows and entries, and where the first line that is malformed begins, -1 where there is none.
using ParsedLines = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

// Both read from `begin` to before `end`, where a byte must follow that is no part of a line, as the NUL after bytes.
ParsedLines parse_libsvm(const char* begin, const char* end, std::int64_t highest, SparseLines out);
ParsedLines parse_vw(const char* begin, const char* end, std::uint64_t width, SparseLines out);

}  // namespace adaline
