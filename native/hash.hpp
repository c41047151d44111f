// XXH64 of Y. Collet, a published 64-bit hash of bytes that does not change. The reference is in coding/texts.py.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace adaline {

using Word = std::uint64_t;

constexpr Word prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
               prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

inline Word rotated(Word x, int bits) { return x << bits | x >> (64 - bits); }

// Little-endian numbers, on every machine.
inline Word number_at(const std::uint8_t* p, int bytes) {
    Word out = 0;
    for (int k = bytes; k-- > 0;) out = out << 8 | p[k];
    return out;
}

inline Word word_at(const std::uint8_t* p) {
    if constexpr (std::endian::native == std::endian::little) {
        Word out;
        std::memcpy(&out, p, 8);
        return out;
    }
    return number_at(p, 8);
}

inline Word mixed_round(Word lane, Word input) { return rotated(lane + input * prime2, 31) * prime1; }

inline Word hash_of(const std::uint8_t* p, std::int64_t size, Word seed) {
    const std::uint8_t* const end = p + size;
    Word h = seed + prime5;
    if (size >= 32) {
        Word lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
        for (; end - p >= 32; p += 32)
            for (int k = 0; k < 4; ++k) lanes[k] = mixed_round(lanes[k], word_at(p + 8 * k));
        h = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18);
        for (const Word lane : lanes) h = (h ^ mixed_round(0, lane)) * prime1 + prime4;
    }
    h += Word(size);
    for (; end - p >= 8; p += 8) h = rotated(h ^ mixed_round(0, word_at(p)), 27) * prime1 + prime4;
    if (end - p >= 4) {
        h = rotated(h ^ number_at(p, 4) * prime1, 23) * prime2 + prime3;
        p += 4;
    }
    for (; p < end; ++p) h = rotated(h ^ *p * prime5, 11) * prime1;
    h = (h ^ h >> 33) * prime2;
    h = (h ^ h >> 29) * prime3;
    return h ^ h >> 32;
}

}  // namespace adaline
