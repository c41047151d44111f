// Dense rows of any strides, or separate columns, float32 or float64, read as doubles; and their prefetching.
#pragma once

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

template <class T>
struct Matrix {
    const T* x;
    index rows, columns, down, across;
    const index* chosen;
    const void* const* heads;

    const T* at(index i, index j) const {
        const index row = chosen ? chosen[i] : i;
        return heads ? static_cast<const T*>(heads[j]) + row : x + row * down + j * across;
    }
    double operator()(index i, index j) const { return *at(i, j); }

    bool by_rows() const { return !heads && (across == 1 || columns == 1); }
    bool by_columns() const { return down == 1 && !chosen; }
    bool some_by_columns() const { return down == 1 && chosen && !by_rows(); }
};

// Calls f with a Matrix of the type that x has.
template <class F>
inline auto typed(const Dense& x, F f) {
    const auto matrix = [&]<class T>(const T* data) {
        return f(Matrix<T>{data, x.rows, x.columns, x.down, x.across, x.chosen, x.heads});
    };
    return x.single ? matrix(static_cast<const float*>(x.x)) : matrix(static_cast<const double*>(x.x));
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

    template <class T>
    Ahead(const Matrix<T>& x, index first, index height) {
        constexpr index size = sizeof(T);
        if (first >= x.rows || x.chosen) return;
        if (height > x.rows - first) height = x.rows - first;
        if (x.by_rows()) {
            const bool touching = x.down == x.columns;
            span = size * x.columns * (touching ? height : 1);
            pitch = size * x.down;
            left = touching ? 1 : height;
        } else if (x.by_columns()) {
            span = size * height;
            pitch = size * x.across;
            left = x.columns;
            head = x.heads;
            offset = size * first + line - 1;
        } else {
            return;
        }
        next = reinterpret_cast<const char*>(x.at(first, 0)) + line - 1;
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
