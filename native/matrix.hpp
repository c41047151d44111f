// Dense rows of any strides, or separate columns, float32 or float64, read as doubles; and their prefetching.
#pragma once

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

inline bool by_rows(const Dense& x) { return !x.heads && (x.across == 1 || x.columns == 1); }
inline bool by_columns(const Dense& x) { return x.down == 1 && !x.chosen; }
inline bool some_by_columns(const Dense& x) { return x.down == 1 && x.chosen && !by_rows(x); }

// Rows whose numbers are known to be of type T.
template <class T>
struct Matrix : Dense {
    const T* at(index i, index j) const {
        const index row = chosen ? chosen[i] : i;
        return heads ? static_cast<const T*>(heads[j]) + row : static_cast<const T*>(x) + row * down + j * across;
    }
    double operator()(index i, index j) const { return *at(i, j); }
};

// Calls f with a Matrix of the type that x has.
template <class F>
inline auto typed(const Dense& x, F f) {
    return x.single ? f(Matrix<float>{x}) : f(Matrix<double>{x});
}

// The cache lines of the panel that comes next, asked for one at a time between
// multiplications, so that reading memory and computing overlap. The panel is `left`
// segments of `span` bytes, `pitch` bytes apart: one for rows that touch, otherwise one
// for each row or, in column order, each column, which may also lie apart. A line that a segment begins inside of has
// come with the segment before it, so each step asks for the line that ends the next 64 bytes.
class Ahead {
    static constexpr index line = 64;
    const char *next = nullptr, *end = nullptr;
    index span = 0, pitch = 0, left = 0, offset = 0;
    const void* const* head = nullptr;

  public:
    Ahead() = default;

    Ahead(const Dense& x, index first, index height) {
        const index size = x.single ? sizeof(float) : sizeof(double);
        if (first >= x.rows || x.chosen) return;
        if (height > x.rows - first) height = x.rows - first;
        if (by_rows(x)) {
            const bool touching = x.down == x.columns;
            span = size * x.columns * (touching ? height : 1);
            pitch = size * x.down;
            left = touching ? 1 : height;
        } else if (by_columns(x)) {
            span = size * height;
            pitch = size * x.across;
            left = x.columns;
            head = x.heads;
            offset = size * first + line - 1;
        } else {
            return;
        }
        const char* const begin = static_cast<const char*>(x.heads ? *x.heads : x.x);
        next = begin + size * first * x.down + line - 1;
        end = next + span;
    }

    void step() {
        if (!left) return;
        __builtin_prefetch(next, 0, 2);
        next += line;
        if (next >= end) {
            --left;
            end = head && left ? static_cast<const char*>(*++head) + offset + span : end + pitch;
            next = end - span;
        }
    }
};

}  // namespace adaline::ADALINE_ISA
