// Bindings of what makes sparse rows from texts and numbers: hashes, different texts, indices among known ones, words, CSR.

#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "texts.hpp"

namespace adaline {

namespace {

using namespace nb::literals;

using Bytes = Array<const std::uint8_t, nb::ndim<1>, nb::c_contig>;
using Hashes = Array<const Word, nb::ndim<1>, nb::c_contig>;
using HashesOut = Array<Word, nb::ndim<1>, nb::c_contig>;
using Codes = Array<const std::int32_t, nb::ndim<1>, nb::c_contig>;
using CodesOut = Array<std::int32_t, nb::ndim<1>, nb::c_contig>;
using Starts = Array<const std::int64_t, nb::ndim<1>, nb::c_contig>;
using Table = Hashes;
using TableOut = HashesOut;
using StartsOut = Array<std::int64_t, nb::ndim<1>, nb::c_contig>;

// Texts; `whole` checks that each lies within the bytes.
Texts texts_of(const Bytes& data, const Vector& offsets, bool whole = true) {
    require(offsets.size() >= 1, "offsets must have one number more than there are texts");
    const Texts out{data.data(), index(data.size()), offsets.data(), is_short(offsets.dtype()), index(offsets.size()) - 1};
    require(out.n < index(1) << 31, "there must be fewer than 2^31 texts");
    require(!whole || (out.at(0) >= 0 && out.at(out.n) <= out.bytes &&
                       (out.narrow ? ascending<std::int32_t> : ascending<std::int64_t>)(out.offsets, out.n + 1)),
            "offsets must ascend within the bytes");
    return out;
}

NumberKeys numbers_of(const Row& values) {
    require(values.size() < std::size_t(1) << 31, "there must be fewer than 2^31 numbers");
    return {values.data(), index(values.size())};
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T>&& values) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = held->data();
    const std::size_t size = held->size();
    const nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner);
}

void hash_all(const HashesOut& out, const Bytes& data, const Vector& offsets, Word seed) {
    const Texts texts = texts_of(data, offsets);
    require(index(out.size()) == texts.n, "there must be room for a hash of each text");
    const nb::gil_scoped_release unlocked;
    hash_texts(out.data(), texts, seed);
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

bool is_table(std::size_t size, index known) { return !(size & (size - 1)) && index(size) > known; }

template <class Keys>
void fill_table(const TableOut& table, const Keys& known) {
    require(is_table(table.size(), known.n), "the table must be a power of two larger than the number of keys");
    const nb::gil_scoped_release unlocked;
    index_keys(table.data(), table.size(), known);
}

template <class Keys>
void find_in(const CodesOut& codes, const Keys& keys, const Keys& known, const Table& table) {
    require(index(codes.size()) == keys.n, "there must be room for a code of each key");
    require(is_table(table.size(), known.n), "the table does not fit the keys");
    const nb::gil_scoped_release unlocked;
    find_keys(codes.data(), keys, known, table.data(), table.size());
}

void index_texts(const TableOut& table, const Bytes& data, const Vector& offsets) {
    fill_table(table, texts_of(data, offsets));
}

void index_numbers(const TableOut& table, const Row& known) { fill_table(table, numbers_of(known)); }

// The texts were checked when the table was filled, and are looked at again only where they are compared.
void find_texts(const CodesOut& codes, const Bytes& data, const Vector& offsets, const Bytes& known_data,
                const Vector& known_offsets, const Table& table) {
    find_in(codes, texts_of(data, offsets), texts_of(known_data, known_offsets, false), table);
}

void find_numbers(const CodesOut& codes, const Row& values, const Row& known, const Table& table) {
    find_in(codes, numbers_of(values), numbers_of(known), table);
}

auto distinct(const CodesOut& codes, const Bytes& data, const Vector& offsets, const std::optional<Starts>& weights) {
    const Texts texts = texts_of(data, offsets);
    require(index(codes.size()) == texts.n, "there must be room for a code of each text");
    require(!weights || weights->size() == codes.size(), "weights must be as many as texts");
    Distinct out;
    {
        const nb::gil_scoped_release unlocked;
        out = distinct_texts(codes.data(), texts, weights ? weights->data() : nullptr);
    }
    return std::make_tuple(owned(std::move(out.firsts)), owned(std::move(out.counts)));
}

void sort_order(const StartsOut& order, const Bytes& data, const Vector& offsets) {
    const Texts texts = texts_of(data, offsets);
    require(index(order.size()) == texts.n, "there must be room for an index of each text");
    const nb::gil_scoped_release unlocked;
    order_texts(order.data(), texts);
}

auto take(const Bytes& data, const Vector& offsets, const Starts& which) {
    const Texts texts = texts_of(data, offsets);
    require(within<std::int64_t>(which.data(), 0, index(which.size()), 0, texts.n), "there is no such text");
    TextBuffer out;
    {
        const nb::gil_scoped_release unlocked;
        out = take_texts(texts, which.data(), index(which.size()));
    }
    return std::make_tuple(owned(std::move(out.bytes)), owned(std::move(out.ends)));
}

// The texts as Python has them: lone surrogates are kept, what is no UTF-8 is replaced.
nb::list list_texts(const Bytes& data, const Vector& offsets) {
    const Texts texts = texts_of(data, offsets);
    nb::list out = nb::steal<nb::list>(PyList_New(texts.n));
    for (index i = 0; i < texts.n; ++i) {
        const char* const begin = reinterpret_cast<const char*>(texts.begin(i));
        PyObject* one = PyUnicode_DecodeUTF8(begin, texts.size(i), "surrogatepass");
        if (!one) {
            PyErr_Clear();
            one = PyUnicode_DecodeUTF8(begin, texts.size(i), "replace");
        }
        if (!one) throw nb::python_error();
        PyList_SetItem(out.ptr(), i, one);
    }
    return out;
}

auto words(const Bytes& data, const Vector& offsets, index longest) {
    const Texts texts = texts_of(data, offsets);
    require(longest >= 1 && longest <= 8, "longest must be from 1 to 8");
    TextBuffer out;
    std::vector<index> starts;
    {
        const nb::gil_scoped_release unlocked;
        out = words_of(starts, texts, longest);
    }
    return std::make_tuple(owned(std::move(out.bytes)), owned(std::move(out.ends)), owned(std::move(starts)));
}

void count(const StartsOut& counts, const Codes& codes, const Starts& starts) {
    const index n = index(starts.size()) - 1, size = index(codes.size());
    require(n >= 0 && starts.data()[0] == 0 && starts.data()[n] == size && ascending<std::int64_t>(starts.data(), n + 1),
            "starts must ascend to the number of codes");
    require(within<std::int32_t>(codes.data(), 0, size, 0, index(counts.size())), "a code has no count");
    const nb::gil_scoped_release unlocked;
    count_rows(counts.data(), index(counts.size()), codes.data(), starts.data(), n);
}

index entries(const StartsOut& starts, const CodesOut& codes, const Buffer& values) {
    require(starts.size() >= 1 && codes.size() == values.size(), "starts, codes and values do not fit");
    require(codes.size() < std::size_t(1) << 32, "there must be fewer than 2^32 entries");
    const index n = index(starts.size()) - 1;
    std::int64_t* const s = starts.data();
    require(s[0] == 0 && s[n] == index(codes.size()) && ascending<std::int64_t>(s, n + 1), "starts must ascend");
    const nb::gil_scoped_release unlocked;
    return join_entries(s, n, codes.data(), values.data());
}

using MaybeStarts = std::vector<std::optional<Starts>>;
using MaybeCodes = std::vector<std::optional<Codes>>;

std::vector<Part> parts_of(index n, const MaybeStarts& starts, const MaybeCodes& which, const std::vector<Codes>& codes,
                           const std::vector<std::optional<Reals>>& values, const std::vector<index>& bases, index D) {
    const std::size_t count = codes.size();
    require(starts.size() == count && which.size() == count && values.size() == count && bases.size() == count,
            "every part must have starts, indices, codes, values and a base");
    std::vector<Part> out;
    for (std::size_t p = 0; p < count; ++p) {
        const index size = index(codes[p].size());
        require(!values[p] || index(values[p]->size()) == size, "values must be as many as codes");
        require(!starts[p] || (!which[p] && index(starts[p]->size()) == n + 1 && starts[p]->data()[0] == 0 &&
                               starts[p]->data()[n] == size && ascending<std::int64_t>(starts[p]->data(), n + 1)),
                "codes must be as many as starts say");
        require(starts[p] || (which[p] ? index(which[p]->size()) == n && (size || !n) : size == n),
                "codes, or their indices, must be as many as rows");
        require(bases[p] >= 0 && bases[p] <= D && D < index(1) << 31, "a part lies outside of the columns");
        out.push_back({starts[p] ? starts[p]->data() : nullptr, which[p] ? which[p]->data() : nullptr, codes[p].data(),
                       values[p] ? values[p]->data() : nullptr, size, bases[p], D - bases[p]});
    }
    return out;
}

// Indices and data are of the length that all codes take.
index parts(const CodesOut& indptr, const CodesOut& indices, const Buffer& data, const MaybeStarts& starts,
            const MaybeCodes& which, const std::vector<Codes>& codes, const std::vector<std::optional<Reals>>& values,
            const std::vector<index>& bases, index D) {
    require(indptr.size() >= 1 && indices.size() == data.size() && indices.size() < std::size_t(1) << 31,
            "indptr, indices and data do not fit");
    const index n = index(indptr.size()) - 1;
    std::size_t most = 0;
    for (std::size_t p = 0; p < codes.size(); ++p)
        most += p < which.size() && which[p] ? which[p]->size() : codes[p].size();
    require(most <= indices.size(), "there must be room for all entries");
    index used;
    {
        const nb::gil_scoped_release unlocked;
        const std::vector<Part> all = parts_of(n, starts, which, codes, values, bases, D);
        used = join_parts(indptr.data(), n, indices.data(), data.data(), all);
    }
    require(used >= 0, "a code lies outside of the columns, or an index outside of the codes");
    return used;
}

}  // namespace

void bind_texts(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("hash_texts", &hash_all, array("out"), array("data"), array("offsets"), "seed"_a);
    m.def("hash_pairs", &hash_pairs, array("out"), array("first"), array("second"));
    m.def("buckets", &buckets, array("codes"), array("signs"), array("hashes"), "width"_a);
    m.def("index_texts", &index_texts, array("table"), array("data"), array("offsets"));
    m.def("find_texts", &find_texts, array("codes"), array("data"), array("offsets"), array("known_data"),
          array("known_offsets"), array("table"));
    m.def("index_numbers", &index_numbers, array("table"), array("known"));
    m.def("find_numbers", &find_numbers, array("codes"), array("values"), array("known"), array("table"));
    m.def("distinct_texts", &distinct, array("codes"), array("data"), array("offsets"), array("weights").none());
    m.def("order_texts", &sort_order, array("order"), array("data"), array("offsets"));
    m.def("take_texts", &take, array("data"), array("offsets"), array("which"));
    m.def("list_texts", &list_texts, array("data"), array("offsets"));
    m.def("words", &words, array("data"), array("offsets"), "longest"_a);
    m.def("count_rows", &count, array("counts"), array("codes"), array("starts"));
    m.def("join_entries", &entries, array("starts"), array("codes"), array("values"));
    m.def("join_parts", &parts, array("indptr"), array("indices"), array("data"), array("starts"), array("which"),
          array("codes"), array("values"), "bases"_a, "D"_a);
}

}  // namespace adaline
