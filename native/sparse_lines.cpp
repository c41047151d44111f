#include "sparse_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

#include "hash.hpp"

#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#include <string>
#endif

namespace adaline {

namespace {

using index = std::int64_t;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Every line ends before a byte that is none of these, so that reading them needs no end.
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_digit(char c) { return unsigned(c - '0') < 10; }

void skip_blanks(const char*& at) {
    while (is_blank(*at)) ++at;
}

const char* find(const char* at, const char* end, char c) {
    const void* const found = std::memchr(at, c, std::size_t(end - at));
    return found ? static_cast<const char*>(found) : end;
}

// The number that the digits from `at` to `end`, times 10^power, are nearest to; false where it overflows.
bool round_digits(const char* at, const char* end, int power, double& out) {
#if defined(__cpp_lib_to_chars)
    if (std::from_chars(at, end, out).ec != std::errc::result_out_of_range) return true;
#else  // a library without it
    std::istringstream stream(std::string(at, end));
    stream.imbue(std::locale::classic());
    stream >> out;
    if (stream) return true;
#endif
    int before = power;  // digits before the point
    while (*at == '0') ++at;
    for (; is_digit(*at); ++at) ++before;
    if (before == power && *at == '.')
        for (++at; *at == '0'; ++at) --before;
    out = 0;
    return before <= 0;
}

// Reads a finite number: digits with a sign, a point and an exponent where they are there; false for anything else.
bool read_number(const char*& at, double& out) {
    if (is_digit(at[0]) && at[1] <= ' ') {  // most often a one
        out = *at++ - '0';
        return true;
    }
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    const char* const first = at;
    Word w = 0;
    for (; is_digit(*at); ++at) w = 10 * w + Word(*at - '0');
    index digits = at - first;
    int exponent = 0, power = 0;
    if (*at == '.') {
        const char* const point = ++at;
        for (; is_digit(*at); ++at) w = 10 * w + Word(*at - '0');
        exponent = -int(std::min<index>(at - point, 1000));
        digits += at - point;
    }
    if (digits == 0) return false;
    if (*at == 'e' || *at == 'E') {
        ++at;
        const bool below = *at == '-';
        if (below || *at == '+') ++at;
        if (!is_digit(*at)) return false;
        for (; is_digit(*at); ++at)
            if (power < 100000000) power = 10 * power + (*at - '0');
        if (below) power = -power;
        exponent += power;
    }
    // Both factors are exact, so that their product or quotient is the number nearest to the digits.
    if (digits <= 19 && w <= (Word(1) << 53) && exponent >= -22 && exponent <= 22)
        out = exponent < 0 ? double(w) / powers[-exponent] : double(w) * powers[exponent];
    else if (!round_digits(first, at, power, out))
        return false;
    if (negative) out = -out;
    return true;
}

bool add(SparseLines& out, index column, double value) {
    if (out.entries == out.most_entries) return false;
    out.indices[out.entries] = std::int32_t(column);
    out.data[out.entries++] = value;
    return true;
}

bool end_row(SparseLines& out, const double (&label)[3]) {
    if (out.rows == out.most_rows) return false;
    std::copy(label, label + 3, out.labels + 3 * out.rows);
    out.starts[++out.rows] = out.entries;
    return true;
}

bool ends_word(const char* at, const char* end) { return at == end || is_blank(*at); }

bool libsvm_line(const char* at, const char* end, index highest, SparseLines& out) {
    end = find(at, end, '#');
    skip_blanks(at);
    if (at == end) return true;
    double label[3] = {0, absent, absent};
    if (!read_number(at, label[0]) || !ends_word(at, end)) return false;
    skip_blanks(at);
    if (end - at >= 4 && std::memcmp(at, "qid:", 4) == 0)
        while (!ends_word(at, end)) ++at;
    for (index previous = -1;;) {
        skip_blanks(at);
        if (at == end) return end_row(out, label);
        const char* const first = at;
        index column = 0;
        for (; is_digit(*at) && column <= highest; ++at) column = 10 * column + (*at - '0');
        double value;
        if (at == first || *at++ != ':' || column > highest || column <= previous || !read_number(at, value) ||
            !ends_word(at, end) || !add(out, column, value))
            return false;
        previous = column;
    }
}

Word hash_bytes(const char* at, const char* end, Word seed) {
    return hash_of(reinterpret_cast<const std::uint8_t*>(at), end - at, seed);
}

// A row of VW: its entries in the order of their columns, those of one column added up in the order of the line.
struct HashedRow {
    std::vector<Word> order;  // column and index of an entry
    std::vector<double> values;

    void add(Word column, double value) {
        order.push_back(column << 32 | values.size());
        values.push_back(value);
    }

    bool write(SparseLines& out) {
        std::sort(order.begin(), order.end());
        const index first = out.entries;
        for (const Word one : order) {
            const index column = index(one >> 32);
            const double value = values[one & 0xFFFFFFFFu];
            if (out.entries > first && out.indices[out.entries - 1] == column)
                out.data[out.entries - 1] += value;
            else if (!adaline::add(out, column, value))
                return false;
        }
        order.clear();
        values.clear();
        return true;
    }
};

const char* name_end(const char* at, const char* end) {
    while (at < end && !is_blank(*at) && *at != '|' && *at != ':') ++at;
    return at;
}

// Reads the value after a name, 1 where there is none.
bool read_value(const char*& at, const char* end, double& out) {
    out = 1;
    if (at == end || *at != ':') return true;
    ++at;
    return read_number(at, out) && (ends_word(at, end) || *at == '|');
}

bool vw_line(const char* at, const char* end, Word width, HashedRow& row, SparseLines& out) {
    skip_blanks(at);
    if (at == end) return true;
    const char* const bar = find(at, end, '|');
    if (bar == end) return false;
    double label[3] = {absent, absent, absent};
    for (int words = 0; at < bar; ++words) {
        const char* word = at;
        while (!ends_word(at, bar)) ++at;
        const bool tag = *word == '\'' || at == bar;  // a word that touches the bar is a tag
        const char* const last = at;
        skip_blanks(at);
        if (tag && at < bar) return false;
        if (!tag && (words == 3 || !read_number(word, label[words]) || word != last)) return false;
    }
    while (at < end) {
        const char* name = ++at;
        at = name_end(at, end);
        const Word seed = hash_bytes(name, at, 0);
        double scale, value;
        if (!read_value(at, end, scale)) return false;
        for (skip_blanks(at); at < end && *at != '|'; skip_blanks(at)) {
            name = at;
            at = name_end(at, end);
            const Word hash = hash_bytes(name, at, seed);
            if (name == at || !read_value(at, end, value)) return false;
            value *= scale;
            if (!(value - value == 0)) return false;
            row.add(hash & (width - 1), hash >> 63 ? -value : value);
        }
    }
    return row.write(out) && end_row(out, label);
}

template <class ReadLine>
ParsedLines parse(const char* begin, const char* end, SparseLines& out, ReadLine read_line) {
    out.starts[0] = 0;
    for (const char* at = begin; at < end;) {
        const char* const stop = find(at, end, '\n');
        if (!read_line(at, stop)) return {out.rows, out.starts[out.rows], at - begin};
        at = stop + 1;
    }
    return {out.rows, out.entries, -1};
}

}  // namespace

ParsedLines parse_libsvm(const char* begin, const char* end, index highest, SparseLines out) {
    return parse(begin, end, out, [&](const char* at, const char* stop) { return libsvm_line(at, stop, highest, out); });
}

ParsedLines parse_vw(const char* begin, const char* end, Word width, SparseLines out) {
    HashedRow row;
    return parse(begin, end, out, [&](const char* at, const char* stop) { return vw_line(at, stop, width, row, out); });
}

}  // namespace adaline
