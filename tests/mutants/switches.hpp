// What the kernels with mutants are compiled with: the mutant that is active, which were reached, and the changes.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace mutants {

extern "C" __attribute__((visibility("default"))) inline int adaline_mutant = -1;
extern "C" __attribute__((visibility("default"))) inline char adaline_reached[1 << 16] = {};

inline bool active(int number) {
    adaline_reached[number] = 1;
    return adaline_mutant == number;
}

template <class T> T negated(int number, T term) { return active(number) ? T(-term) : term; }

// The bound of a comparison, so that it holds for one number more or less.
template <class T> T moved(int number, int step, T bound) {
    static_assert(std::is_arithmetic_v<T>);
    if (!active(number)) return bound;
    if constexpr (std::is_floating_point_v<T>) return std::nextafter(bound, step * std::numeric_limits<T>::infinity());
    return T(bound + step);
}

template <class T> T other(int number, T value) {
    if (!active(number)) return value;
    return std::is_floating_point_v<T> && value != 0 ? 2 * value : value + 1;
}

inline bool negated_if(int number, bool condition) { return active(number) != condition; }

template <class T> T fmin(int number, T a, T b) { return active(number) ? std::fmax(a, b) : std::fmin(a, b); }
template <class T> T fmax(int number, T a, T b) { return active(number) ? std::fmin(a, b) : std::fmax(a, b); }

}  // namespace mutants
