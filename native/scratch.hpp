// Room for one call's panels and sums, kept by the thread for its next call.
//
// A call first says how much it needs at most, then cuts arrays off in turn; each starts on
// a cache line.
#pragma once

#include <cstdlib>
#include <new>

#include "kernels.hpp"

namespace adaline::ADALINE_ISA {

class Scratch {
    double* room = nullptr;
    index size = 0, used = 0;

    static constexpr index line = 8;  // doubles

  public:
    ~Scratch() { std::free(room); }

    void reserve(index doubles, index arrays) {
        const index n = (doubles / line + 1 + arrays) * line;
        used = 0;
        if (n <= size) return;
        std::free(room);
        size = 0;
        room = static_cast<double*>(std::aligned_alloc(64, sizeof(double) * n));
        if (!room) throw std::bad_alloc{};
        size = n;
    }

    double* array(index n) {
        double* const a = room + used;
        used += (n + line - 1) / line * line;
        return a;
    }

    double* zeros(index n) {
        double* const a = array(n);
        __builtin_memset(a, 0, sizeof(double) * n);
        return a;
    }
};

inline thread_local Scratch scratch;

}  // namespace adaline::ADALINE_ISA
