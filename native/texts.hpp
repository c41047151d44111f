// Texts and numbers as keys of tables, words of texts, and rows of sparse columns made from them.
//
// A table finds known keys: a power of two of entries, each zero, or the first half of a key's XXH64 and, in the last 32
// bits, its index + 1; a key is at the last bits of its hash, or at the next free entry. The XXH64 of a number is that of
// its eight bytes, the least first; -0 is 0. The references are in coding/texts.py.
#pragma once

#include <cstdint>
#include <vector>

#include "hash.hpp"

namespace adaline {

using index = std::int64_t;

// Texts as Arrow has them: bytes (UTF-8), and n + 1 offsets of 32 or 64 bits.
struct Texts {
    const std::uint8_t* data;
    index bytes;
    const void* offsets;
    bool narrow;
    index n;

    index at(index i) const {
        return narrow ? index(static_cast<const std::int32_t*>(offsets)[i]) : static_cast<const index*>(offsets)[i];
    }
    const std::uint8_t* begin(index i) const { return data + at(i); }
    index size(index i) const { return at(i + 1) - at(i); }
};

struct NumberKeys {
    const double* values;
    index n;
};

void hash_texts(Word* out, const Texts& texts, Word seed);

// Fill the table of known keys; the first of equal ones is kept. There must be more entries than keys.
void index_keys(Word* table, std::size_t size, const Texts& known);
void index_keys(Word* table, std::size_t size, const NumberKeys& known);

// The index of each key among known ones, -2 for others, and -1 for a number that is NaN. Whatever the table and the
// offsets of known texts hold, nothing else is read.
void find_keys(std::int32_t* codes, const Texts& texts, const Texts& known, const Word* table, std::size_t size);
void find_keys(std::int32_t* codes, const NumberKeys& numbers, const NumberKeys& known, const Word* table, std::size_t size);

// Different texts, in the order in which they come: where each is first, and how often it is there, or the sum of its
// weights, whole numbers. `codes` is of each text its number among them.
struct Distinct {
    std::vector<index> firsts, counts;
};
Distinct distinct_texts(std::int32_t* codes, const Texts& texts, const index* weights);

// The indices that sort texts by their bytes, which is by their code points; equal ones stay in their order.
void order_texts(index* order, const Texts& texts);

struct TextBuffer {
    std::vector<std::uint8_t> bytes;
    std::vector<index> ends{0};
};
TextBuffer take_texts(const Texts& texts, const index* which, index count);

// The words of texts, in lower case, and where those of each text begin, (n + 1,): runs of two or more letters, digits
// and underscores, where every byte of another alphabet is a letter; then pairs, triples, ... of neighbours, up to
// `longest`, joined by a blank.
TextBuffer words_of(std::vector<index>& starts, const Texts& texts, index longest);

// In how many of n rows each code occurs, added to `counts`.
void count_rows(index* counts, index size, const std::int32_t* codes, const index* starts, index n);

// Sorts the entries of each row by their codes, adds the values of equal ones in their order, and leaves out codes below
// zero. Returns the number of entries; `starts` is changed with them.
index join_entries(index* starts, index n, std::int32_t* codes, double* values);

// One of the parts that rows are made of, side by side: of row i the code i, or which[i], of `size` codes, or
// codes[starts[i]:starts[i + 1]]; below zero for no entry. Codes count columns from `base`, and have to be below `limit`;
// values are ones where there are none.
struct Part {
    const index* starts;
    const std::int32_t *which, *codes;
    const double* values;
    index size, base, limit;
};

// Rows in CSR, from parts: indptr (n + 1,), indices and data. Returns the number of entries, -1 where a code or an index
// of one is too large.
index join_parts(std::int32_t* indptr, index n, std::int32_t* indices, double* data, const std::vector<Part>& parts);

}  // namespace adaline
