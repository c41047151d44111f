// Texts by their bytes, and rows of sparse columns made from them: hashes, indices among known texts, words, and CSR.
//
// Texts are bytes (UTF-8) and n + 1 offsets, as Arrow has them. The references are in coding/texts.py.

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "hash.hpp"

namespace adaline {

namespace {

using namespace nb::literals;

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Hashes = nb::ndarray<const Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using HashesOut = nb::ndarray<Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CodesOut = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StartsOut = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Texts, each text checked to lie within the bytes.
struct Texts {
    const std::uint8_t* data;
    const void* offsets;
    bool narrow;
    index n;

    Texts(const Bytes& bytes, const Vector& ends) : data(bytes.data()), offsets(ends.data()) {
        narrow = is_short(ends.dtype());
        require(ends.size() >= 1, "offsets must have one number more than there are texts");
        n = index(ends.size()) - 1;
        require(at(0) >= 0 && at(n) <= index(bytes.size()) &&
                    (narrow ? ascending<std::int32_t> : ascending<std::int64_t>)(offsets, n + 1),
                "offsets must ascend within the bytes");
    }

    index at(index i) const {
        return narrow ? index(static_cast<const std::int32_t*>(offsets)[i]) : static_cast<const std::int64_t*>(offsets)[i];
    }
    const std::uint8_t* begin(index i) const { return data + at(i); }
    index size(index i) const { return at(i + 1) - at(i); }
    bool same(index i, const Texts& other, index k) const {
        return size(i) == other.size(k) && std::equal(begin(i), begin(i) + size(i), other.begin(k));
    }
};

void hash_texts(const HashesOut& out, const Bytes& data, const Vector& offsets, Word seed) {
    const Texts texts(data, offsets);
    require(index(out.size()) == texts.n, "there must be room for a hash of each text");
    const nb::gil_scoped_release unlocked;
    for (index i = 0; i < texts.n; ++i) out.data()[i] = hash_of(texts.begin(i), texts.size(i), seed);
}

// XXH64 of the 16 bytes of two hashes.
void hash_pairs(const HashesOut& out, const Hashes& first, const Hashes& second) {
    require(out.size() == first.size() && out.size() == second.size(), "hashes must be alike");
    const nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint8_t bytes[16];
        for (int k = 0; k < 16; ++k) bytes[k] = std::uint8_t((k < 8 ? first : second).data()[i] >> 8 * (k % 8));
        out.data()[i] = hash_of(bytes, 16, 0);
    }
}

// The bucket of a hash, its last bits, and its sign, the first bit.
void buckets(const CodesOut& codes, const Buffer& signs, const Hashes& hashes, index width) {
    require(codes.size() == hashes.size() && signs.size() == hashes.size(), "codes, signs and hashes must be alike");
    require(width > 0 && width <= index(1) << 30 && !(width & (width - 1)), "width must be a power of two, to 2^30");
    const nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        codes.data()[i] = std::int32_t(hashes.data()[i] & Word(width - 1));
        signs.data()[i] = hashes.data()[i] >> 63 ? -1.0 : 1.0;
    }
}

// The place of a text in a table of the indices of known texts, a power of two of them, -1 where it is empty.
std::size_t place_of(const Texts& texts, index i, const Texts& known, const std::int32_t* table, std::size_t size) {
    std::size_t at = hash_of(texts.begin(i), texts.size(i), 0) & (size - 1);
    while (table[at] >= 0 && !texts.same(i, known, table[at])) at = (at + 1) & (size - 1);
    return at;
}

// Fills the table of known texts; the first of equal ones is kept.
void index_texts(const CodesOut& table, const Bytes& data, const Vector& offsets) {
    const Texts known(data, offsets);
    require(!(table.size() & (table.size() - 1)) && index(table.size()) > known.n && known.n < index(1) << 30,
            "the table must be a power of two larger than the number of texts");
    const nb::gil_scoped_release unlocked;
    std::fill_n(table.data(), table.size(), -1);
    for (index i = 0; i < known.n; ++i) {
        std::int32_t& at = table.data()[place_of(known, i, known, table.data(), table.size())];
        if (at < 0) at = std::int32_t(i);
    }
}

// The index of each text among known ones, -2 for others.
void find_texts(const CodesOut& codes, const Bytes& data, const Vector& offsets, const Bytes& known_data,
                const Vector& known_offsets, const Codes& table) {
    const Texts texts(data, offsets), known(known_data, known_offsets);
    require(index(codes.size()) == texts.n, "there must be room for a code of each text");
    require(!(table.size() & (table.size() - 1)) && index(table.size()) > known.n &&
                within<std::int32_t>(table.data(), 0, index(table.size()), -1, known.n) &&
                std::find(table.data(), table.data() + table.size(), -1) != table.data() + table.size(),
            "the table does not fit the texts");
    const nb::gil_scoped_release unlocked;
    for (index i = 0; i < texts.n; ++i) {
        const std::int32_t found = table.data()[place_of(texts, i, known, table.data(), table.size())];
        codes.data()[i] = found < 0 ? -2 : found;
    }
}

bool is_word(std::uint8_t c) {
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = held->data();
    const std::size_t size = held->size();
    const nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner);
}

// The words of texts, in lower case, as texts, and where those of each text begin, (n + 1,): runs of two or more
// letters, digits and underscores, where every byte of another alphabet is a letter; then pairs, triples, ... of
// neighbours, up to `longest`, joined by a blank.
auto words_of(const Bytes& data, const Vector& offsets, index longest) {
    const Texts texts(data, offsets);
    require(longest >= 1 && longest <= 8, "longest must be from 1 to 8");
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> ends{0}, starts{0};
    {
        const nb::gil_scoped_release unlocked;
        for (index i = 0; i < texts.n; ++i) {
            const std::size_t first = ends.size() - 1;
            const std::uint8_t *p = texts.begin(i), *const end = p + texts.size(i);
            while (p < end) {
                const std::uint8_t* const begin = p;
                index letters = 0;
                for (; p < end && is_word(*p); ++p) letters += (*p & 0xC0) != 0x80;
                if (letters > 1) {
                    for (const std::uint8_t* c = begin; c < p; ++c)
                        bytes.push_back(*c >= 'A' && *c <= 'Z' ? std::uint8_t(*c + 32) : *c);
                    ends.push_back(std::int64_t(bytes.size()));
                }
                p += p < end && !is_word(*p);
            }
            const std::size_t last = ends.size() - 1;
            for (std::size_t length = 2; length <= std::size_t(longest); ++length)
                for (std::size_t k = first; k + length <= last; ++k) {
                    for (std::size_t j = k; j < k + length; ++j) {
                        if (j > k) bytes.push_back(' ');
                        for (std::int64_t c = ends[j]; c < ends[j + 1]; ++c) bytes.push_back(bytes[std::size_t(c)]);
                    }
                    ends.push_back(std::int64_t(bytes.size()));
                }
            starts.push_back(std::int64_t(ends.size()) - 1);
        }
    }
    return std::make_tuple(owned(std::move(bytes)), owned(std::move(ends)), owned(std::move(starts)));
}

// Sorts the entries of each row by their codes, adds the values of equal ones, and leaves out codes below zero.
// Returns the number of entries; `starts` is changed with them.
index join_entries(const StartsOut& starts, const CodesOut& codes, const Buffer& values) {
    require(starts.size() >= 1 && codes.size() == values.size(), "starts, codes and values do not fit");
    const index n = index(starts.size()) - 1;
    std::int64_t* const s = starts.data();
    require(s[0] == 0 && s[n] == index(codes.size()) && ascending<std::int64_t>(s, n + 1), "starts must ascend");
    const nb::gil_scoped_release unlocked;
    std::vector<std::pair<std::int32_t, double>> row;
    index out = 0, begin = 0;
    for (index i = 0; i < n; ++i) {
        row.clear();
        for (index k = begin; k < s[i + 1]; ++k)
            if (codes.data()[k] >= 0) row.emplace_back(codes.data()[k], values.data()[k]);
        begin = s[i + 1];
        std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        const index first = out;
        for (const auto& [code, value] : row) {
            if (out > first && codes.data()[out - 1] == code) {
                values.data()[out - 1] += value;
            } else {
                codes.data()[out] = code;
                values.data()[out++] = value;
            }
        }
        s[i + 1] = out;
    }
    return out;
}

// One of the parts that rows are made of, side by side: a code for each row, or codes[starts[i]:starts[i + 1]]; below
// zero for no entry. Codes count columns from `base`, values are ones where there are none.
struct Part {
    const std::int64_t* starts;
    const std::int32_t* codes;
    const double* values;
    index base;
};

using MaybeStarts = std::vector<std::optional<Starts>>;

std::vector<Part> parts_of(index n, const MaybeStarts& starts, const std::vector<Codes>& codes,
                           const std::vector<std::optional<Reals>>& values, const std::vector<index>& bases, index D) {
    require(starts.size() == codes.size() && values.size() == codes.size() && bases.size() == codes.size(),
            "every part must have starts, codes, values and a base");
    std::vector<Part> out;
    for (std::size_t p = 0; p < codes.size(); ++p) {
        const index size = index(codes[p].size());
        require(!values[p] || index(values[p]->size()) == size, "values must be as many as codes");
        require(starts[p] ? index(starts[p]->size()) == n + 1 && starts[p]->data()[0] == 0 &&
                                starts[p]->data()[n] == size && ascending<std::int64_t>(starts[p]->data(), n + 1)
                          : size == n,
                "codes must be as many as rows, or as starts say");
        require(bases[p] >= 0 && bases[p] <= D && D < index(1) << 31 &&
                    within<std::int32_t>(codes[p].data(), 0, size, std::int64_t(-1) << 31, D - bases[p]),
                "a code lies outside of the columns");
        out.push_back({starts[p] ? starts[p]->data() : nullptr, codes[p].data(),
                       values[p] ? values[p]->data() : nullptr, bases[p]});
    }
    return out;
}

// Rows in CSR, from parts: indptr (n + 1,), indices and data, both of the length that all codes take. Returns the
// number of entries.
index join_parts(const CodesOut& indptr, const CodesOut& indices, const Buffer& data, const MaybeStarts& starts,
                 const std::vector<Codes>& codes, const std::vector<std::optional<Reals>>& values,
                 const std::vector<index>& bases, index D) {
    require(indptr.size() >= 1 && indices.size() == data.size() && indices.size() < std::size_t(1) << 31,
            "indptr, indices and data do not fit");
    const index n = index(indptr.size()) - 1;
    std::size_t most = 0;
    for (const Codes& one : codes) most += one.size();
    require(most <= indices.size(), "there must be room for all entries");
    const nb::gil_scoped_release unlocked;
    const std::vector<Part> parts = parts_of(n, starts, codes, values, bases, D);
    index out = 0;
    indptr.data()[0] = 0;
    for (index i = 0; i < n; ++i) {
        for (const Part& part : parts) {
            const index end = part.starts ? part.starts[i + 1] : i + 1;
            for (index k = part.starts ? part.starts[i] : i; k < end; ++k) {
                if (part.codes[k] < 0) continue;
                indices.data()[out] = std::int32_t(part.base + part.codes[k]);
                data.data()[out++] = part.values ? part.values[k] : 1.0;
            }
        }
        indptr.data()[i + 1] = std::int32_t(out);
    }
    return out;
}

}  // namespace

void bind_texts(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("hash_texts", &hash_texts, array("out"), array("data"), array("offsets"), "seed"_a);
    m.def("hash_pairs", &hash_pairs, array("out"), array("first"), array("second"));
    m.def("buckets", &buckets, array("codes"), array("signs"), array("hashes"), "width"_a);
    m.def("index_texts", &index_texts, array("table"), array("data"), array("offsets"));
    m.def("find_texts", &find_texts, array("codes"), array("data"), array("offsets"), array("known_data"),
          array("known_offsets"), array("table"));
    m.def("words", &words_of, array("data"), array("offsets"), "longest"_a);
    m.def("join_entries", &join_entries, array("starts"), array("codes"), array("values"));
    m.def("join_parts", &join_parts, array("indptr"), array("indices"), array("data"), array("starts"),
          array("codes"), array("values"), "bases"_a, "D"_a);
}

}  // namespace adaline
