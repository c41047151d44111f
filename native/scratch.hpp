// Scratch memory for the panels and sums of one call, reused by the next call of the thread.
//
// A call first reserves the most it needs, then takes arrays in turn; each starts on a cache
// line. Checked builds (Debug, sanitizers) refuse to give more than was reserved; under the
// address sanitizer each array is followed by a poisoned line.
#pragma once

#include <cstdlib>
#include <new>

#include "kernels.hpp"

#if defined(ADALINE_CHECKED)
#include <stdexcept>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ADALINE_GUARDED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADALINE_GUARDED
#endif
#endif
#if defined(ADALINE_GUARDED)
#include <sanitizer/asan_interface.h>
#endif

namespace adaline::ADALINE_ISA {

class Scratch {
    double* room = nullptr;
    index size = 0, used = 0;

    static constexpr index line = 8;  // doubles
#if defined(ADALINE_GUARDED)
    static constexpr index guard = line;
#else
    static constexpr index guard = 0;
#endif

  public:
    ~Scratch() { std::free(room); }

    void reserve(index doubles, index arrays) {
        const index n = (doubles / line + 1 + arrays) * line + arrays * guard;
        used = 0;
        if (n > size) {
            std::free(room);
            size = 0;
            room = static_cast<double*>(std::aligned_alloc(64, sizeof(double) * n));
            if (!room) throw std::bad_alloc{};
            size = n;
        }
#if defined(ADALINE_CHECKED)
        reserved = n;
#endif
#if defined(ADALINE_GUARDED)
        ASAN_POISON_MEMORY_REGION(room, sizeof(double) * size);
#endif
    }

    double* array(index n) {
        const index whole = (n + line - 1) / line * line;
#if defined(ADALINE_CHECKED)
        if (n < 0 || used + whole + guard > reserved) throw std::logic_error("a kernel takes more scratch than it reserved");
#endif
        double* const a = room + used;
        used += whole + guard;
#if defined(ADALINE_GUARDED)
        ASAN_UNPOISON_MEMORY_REGION(a, sizeof(double) * whole);
#endif
        return a;
    }

    double* zeros(index n) {
        double* const a = array(n);
        __builtin_memset(a, 0, sizeof(double) * n);
        return a;
    }

#if defined(ADALINE_CHECKED)
  private:
    index reserved = 0;
#endif
};

inline thread_local Scratch scratch;

}  // namespace adaline::ADALINE_ISA
