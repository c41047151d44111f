#include "texts.hpp"

#include <algorithm>
#include <array>

namespace adaline {

namespace {

constexpr index fetched_ahead = 16;  // keys that are hashed before the first one is looked for, while the table is fetched
constexpr index joined_at_once = 256;  // rows of which one part after the other is written, while they are in the cache
constexpr Word low = 0xFFFFFFFF;

Word hash_at(const Texts& texts, index i) { return hash_of(texts.begin(i), texts.size(i), 0); }

Word hash_at(const NumberKeys& numbers, index i) {
    const Word bits = std::bit_cast<Word>(numbers.values[i] + 0.0);
    std::uint8_t bytes[8];
    for (int k = 0; k < 8; ++k) bytes[k] = std::uint8_t(bits >> 8 * k);
    return hash_of(bytes, 8, 0);
}

// Known texts were checked to lie within their bytes when the table was filled; what came since is not trusted.
bool same(const Texts& texts, index i, const Texts& known, index k) {
    const index begin = known.at(k), end = known.at(k + 1), size = texts.size(i);
    return end - begin == size && begin >= 0 && end <= known.bytes &&
           std::equal(known.data + begin, known.data + end, texts.begin(i));
}

bool same(const NumberKeys& numbers, index i, const NumberKeys& known, index k) {
    return numbers.values[i] == known.values[k];
}

void fetch(const Texts& known, index k) {
    const index begin = known.at(k);
    if (begin >= 0 && begin < known.bytes) __builtin_prefetch(known.data + begin);
}

void fetch(const NumberKeys& known, index k) { __builtin_prefetch(known.values + k); }

bool is_absent(const Texts&, index) { return false; }

bool is_absent(const NumberKeys& numbers, index i) { return numbers.values[i] != numbers.values[i]; }

// The entry of a key, or the empty one where it belongs; `size` where the table has neither.
template <class Keys>
std::size_t place_of(const Keys& keys, index i, Word hash, const Keys& known, const Word* table, std::size_t size) {
    std::size_t at = hash & (size - 1);
    for (std::size_t steps = 0; steps < size; ++steps, at = (at + 1) & (size - 1)) {
        const Word entry = table[at];
        if (!entry) return at;
        const index k = index(entry & low) - 1;
        if ((entry ^ hash) <= low && k >= 0 && k < known.n && same(keys, i, known, k)) return at;
    }
    return size;
}

template <class Keys>
void fill(Word* table, std::size_t size, const Keys& known) {
    std::fill_n(table, size, Word(0));
    for (index i = 0; i < known.n; ++i) {
        const Word hash = hash_at(known, i);
        Word& entry = table[place_of(known, i, hash, known, table, size)];
        if (!entry) entry = (hash & ~low) | Word(i + 1);
    }
}

template <class Keys>
void find(std::int32_t* codes, const Keys& keys, const Keys& known, const Word* table, std::size_t size) {
    Word hashes[fetched_ahead];
    for (index from = 0; from < keys.n; from += fetched_ahead) {
        const index to = std::min(from + fetched_ahead, keys.n);
        for (index i = from; i < to; ++i) {
            hashes[i - from] = hash_at(keys, i);
            __builtin_prefetch(table + (hashes[i - from] & (size - 1)));
        }
        for (index i = from; i < to; ++i) {
            const index k = index(table[hashes[i - from] & (size - 1)] & low) - 1;
            if (k >= 0 && k < known.n) fetch(known, k);
        }
        for (index i = from; i < to; ++i) {
            const std::size_t at = place_of(keys, i, hashes[i - from], known, table, size);
            codes[i] = at < size && table[at] ? std::int32_t((table[at] & low) - 1) : is_absent(keys, i) ? -1 : -2;
        }
    }
}

// Bytes of words in lower case; zero for all others.
constexpr std::array<std::uint8_t, 256> lowered = [] {
    std::array<std::uint8_t, 256> out{};
    for (int c = 0; c < 256; ++c) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool word = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_';
        out[std::size_t(c)] = std::uint8_t(upper ? c + 32 : word ? c : 0);
    }
    return out;
}();

// What a text is sorted by among others that share their first bytes: its next eight bytes, zeros after its end, and how
// many of these it has.
struct SortKey {
    Word head;
    std::int32_t has, at;

    bool operator<(const SortKey& other) const {
        return head != other.head ? head < other.head : has != other.has ? has < other.has : at < other.at;
    }
};

struct Stretch {
    index begin, end, shared;
};

SortKey key_of(const Texts& texts, index i, index shared) {
    const std::uint8_t* const p = texts.begin(i) + shared;
    const index has = std::min<index>(texts.size(i) - shared, 8);
    Word head = 0;
    for (index k = 0; k < has; ++k) head |= Word(p[k]) << (56 - 8 * k);
    return {head, std::int32_t(has), std::int32_t(i)};
}

// How many first bytes all texts of a stretch share.
index shared_bytes(const Texts& texts, const std::vector<SortKey>& keys, const Stretch& stretch) {
    const index first = keys[std::size_t(stretch.begin)].at;
    index out = texts.size(first);
    for (index k = stretch.begin + 1; k < stretch.end && out > stretch.shared; ++k) {
        const index i = keys[std::size_t(k)].at;
        const std::uint8_t *const a = texts.begin(first), *const b = texts.begin(i);
        const index most = std::min(out, texts.size(i));
        out = std::mismatch(a + stretch.shared, a + most, b + stretch.shared).first - a;
    }
    return std::max(out, stretch.shared);
}

}  // namespace

void hash_texts(Word* out, const Texts& texts, Word seed) {
    for (index i = 0; i < texts.n; ++i) out[i] = hash_of(texts.begin(i), texts.size(i), seed);
}

void index_keys(Word* table, std::size_t size, const Texts& known) { fill(table, size, known); }
void index_keys(Word* table, std::size_t size, const NumberKeys& known) { fill(table, size, known); }

void find_keys(std::int32_t* codes, const Texts& texts, const Texts& known, const Word* table, std::size_t size) {
    find(codes, texts, known, table, size);
}
void find_keys(std::int32_t* codes, const NumberKeys& numbers, const NumberKeys& known, const Word* table, std::size_t size) {
    find(codes, numbers, known, table, size);
}

Distinct distinct_texts(std::int32_t* codes, const Texts& texts, const index* weights) {
    Distinct out;
    const index likely = weights ? 2 * texts.n : 0;  // parts of a sum differ mostly
    std::vector<Word> hashes, table(std::bit_ceil(std::size_t(std::max<index>(likely, 1024))));
    Word waiting[fetched_ahead];
    for (index from = 0; from < texts.n; from += fetched_ahead) {
        const index to = std::min(from + fetched_ahead, texts.n);
        for (index i = from; i < to; ++i) {
            waiting[i - from] = hash_at(texts, i);
            __builtin_prefetch(table.data() + (waiting[i - from] & (table.size() - 1)), 1);
        }
        for (index i = from; i < to; ++i)
            if (const Word entry = table[waiting[i - from] & (table.size() - 1)]) fetch(texts, out.firsts[(entry & low) - 1]);
        for (index i = from; i < to; ++i) {
            const Word hash = waiting[i - from];
            std::size_t at = hash & (table.size() - 1);
            for (;; at = (at + 1) & (table.size() - 1)) {
                const Word entry = table[at];
                if (!entry || ((entry ^ hash) <= low && same(texts, i, texts, out.firsts[(entry & low) - 1]))) break;
            }
            if (!table[at]) {
                out.firsts.push_back(i);
                out.counts.push_back(0);
                hashes.push_back(hash);
                table[at] = (hash & ~low) | Word(hashes.size());
            }
            const std::size_t k = (table[at] & low) - 1;
            codes[i] = std::int32_t(k);
            out.counts[k] += weights ? weights[i] : 1;
            if (2 * hashes.size() <= table.size()) continue;
            table.assign(4 * table.size(), 0);
            for (std::size_t j = 0; j < hashes.size(); ++j) {
                std::size_t free = hashes[j] & (table.size() - 1);
                while (table[free]) free = (free + 1) & (table.size() - 1);
                table[free] = (hashes[j] & ~low) | Word(j + 1);
            }
        }
    }
    return out;
}

void order_texts(index* order, const Texts& texts) {
    std::vector<SortKey> keys(static_cast<std::size_t>(texts.n));
    for (index i = 0; i < texts.n; ++i) keys[std::size_t(i)].at = std::int32_t(i);
    std::vector<Stretch> waiting{{0, texts.n, 0}};
    while (!waiting.empty()) {
        Stretch here = waiting.back();
        waiting.pop_back();
        if (here.end - here.begin < 2) continue;
        here.shared = shared_bytes(texts, keys, here);
        for (index k = here.begin; k < here.end; ++k)
            keys[std::size_t(k)] = key_of(texts, keys[std::size_t(k)].at, here.shared);
        std::sort(keys.begin() + here.begin, keys.begin() + here.end);
        for (index k = here.begin; k < here.end;) {
            const SortKey& first = keys[std::size_t(k)];
            index end = k + 1;
            while (end < here.end && keys[std::size_t(end)].head == first.head && keys[std::size_t(end)].has == first.has)
                ++end;
            if (first.has == 8 && end - k > 1) waiting.push_back({k, end, here.shared + 8});
            k = end;
        }
    }
    for (index k = 0; k < texts.n; ++k) order[k] = keys[std::size_t(k)].at;
}

TextBuffer take_texts(const Texts& texts, const index* which, index count) {
    TextBuffer out;
    out.ends.resize(std::size_t(count) + 1);
    for (index k = 0; k < count; ++k) out.ends[std::size_t(k) + 1] = out.ends[std::size_t(k)] + texts.size(which[k]);
    out.bytes.resize(std::size_t(out.ends.back()));
    for (index k = 0; k < count; ++k) {
        if (k + fetched_ahead < count) __builtin_prefetch(texts.begin(which[k + fetched_ahead]));
        std::copy_n(texts.begin(which[k]), texts.size(which[k]), out.bytes.begin() + out.ends[std::size_t(k)]);
    }
    return out;
}

TextBuffer words_of(std::vector<index>& starts, const Texts& texts, index longest) {
    TextBuffer out;
    std::vector<std::uint8_t>& bytes = out.bytes;
    std::vector<index>& ends = out.ends;
    starts.assign(1, 0);
    for (index i = 0; i < texts.n; ++i) {
        const std::size_t first = ends.size() - 1, before = bytes.size();
        const std::uint8_t *p = texts.begin(i), *const end = p + texts.size(i);
        bytes.resize(before + std::size_t(end - p));
        std::uint8_t* to = bytes.data() + before;
        while (p < end) {
            std::uint8_t* const begin = to;
            index letters = 0;
            std::uint8_t c = 0;
            for (; p < end && (c = lowered[*p]) != 0; ++p, *to++ = c) letters += (c & 0xC0) != 0x80;
            p += p < end;  // past what is no letter
            if (letters > 1)
                ends.push_back(to - bytes.data());
            else
                to = begin;
        }
        bytes.resize(std::size_t(ends.back()));
        const std::size_t last = ends.size() - 1;
        for (std::size_t length = 2; length <= std::size_t(longest); ++length)
            for (std::size_t k = first; k + length <= last; ++k) {  // whose words lie side by side
                std::size_t at = bytes.size();
                bytes.resize(at + std::size_t(ends[k + length] - ends[k]) + length - 1);
                for (std::size_t j = k; j < k + length; ++j) {
                    if (j > k) bytes[at++] = ' ';
                    std::copy(bytes.begin() + ends[j], bytes.begin() + ends[j + 1], bytes.begin() + index(at));
                    at += std::size_t(ends[j + 1] - ends[j]);
                }
                ends.push_back(index(at));
            }
        starts.push_back(index(ends.size()) - 1);
    }
    return out;
}

void count_rows(index* counts, index size, const std::int32_t* codes, const index* starts, index n) {
    std::vector<index> last(std::size_t(size), -1);  // row that had a code before
    for (index i = 0; i < n; ++i)
        for (index k = starts[i]; k < starts[i + 1]; ++k) {
            index& row = last[std::size_t(codes[k])];
            counts[codes[k]] += row != i;
            row = i;
        }
}

index join_entries(index* starts, index n, std::int32_t* codes, double* values) {
    std::vector<Word> row;  // codes, and in the last 32 bits their order
    std::vector<double> own;
    index out = 0, begin = 0;
    for (index i = 0; i < n; ++i) {
        const index end = starts[i + 1];
        row.clear();
        own.assign(values + begin, values + end);
        for (index k = begin; k < end; ++k)
            if (codes[k] >= 0) row.push_back(Word(codes[k]) << 32 | Word(k - begin));
        begin = end;
        std::sort(row.begin(), row.end());
        const index first = out;
        for (const Word one : row) {
            const std::int32_t code = std::int32_t(one >> 32);
            const double value = own[one & low];
            if (out > first && codes[out - 1] == code) {
                values[out - 1] += value;
            } else {
                codes[out] = code;
                values[out++] = value;
            }
        }
        starts[i + 1] = out;
    }
    return out;
}

index join_parts(std::int32_t* indptr, index n, std::int32_t* indices, double* data, const std::vector<Part>& parts) {
    const index step = index(parts.size());
    bool one_each = true, inside = true;
    for (const Part& part : parts) one_each &= !part.starts;
    const auto place = [&inside](const Part& part, index i) -> index {
        if (!part.which) return i;
        const index k = part.which[i];
        const bool known = k >= 0 && k < part.size;
        inside &= known;
        return known ? k : 0;
    };
    index out = 0;
    indptr[0] = 0;
    for (index first = 0; first < n; first += joined_at_once) {
        const index last = std::min(first + joined_at_once, n);
        if (one_each) {  // as if all rows had an entry in each part: part after part
            std::int32_t seen = 0;
            for (index p = 0; p < step; ++p) {
                const Part part = parts[std::size_t(p)];
                index at = out + p;
                for (index i = first; i < last; ++i, at += step) {
                    const index k = place(part, i);
                    const std::int32_t code = part.codes[k];
                    seen |= code;
                    inside &= code < part.limit;
                    indices[at] = std::int32_t(part.base) + code;
                    data[at] = part.values ? part.values[k] : 1.0;
                }
            }
            if (seen >= 0) {
                for (index i = first; i < last; ++i) indptr[i + 1] = std::int32_t(out += step);
                continue;
            }
        }
        for (index i = first; i < last; ++i) {
            for (const Part& part : parts) {
                const index begin = part.starts ? part.starts[i] : place(part, i);
                const index end = part.starts ? part.starts[i + 1] : begin + 1;
                for (index k = begin; k < end; ++k) {
                    if (part.codes[k] < 0) continue;
                    inside &= part.codes[k] < part.limit;
                    indices[out] = std::int32_t(part.base) + part.codes[k];
                    data[out++] = part.values ? part.values[k] : 1.0;
                }
            }
            indptr[i + 1] = std::int32_t(out);
        }
    }
    return inside ? out : -1;
}

}  // namespace adaline
