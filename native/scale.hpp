// Columns in coordinates of order one:  v = (z - shift) 2^-e, exactly scaled.
//
// 2^-e itself leaves the range of a double near |e| = 1022, so v = (z unit - offset) scale with
// unit scale = 2^-e and offset = shift unit; unit is 1 for all but extreme columns.
//
// The shift and e come from a pilot of P rows spread evenly over the block: the shift is
// their weighted mean and 2^e bounds the distance to it. They affect rounding errors only, and
// a power of two as a factor of a column changes no bit of its sums.
#pragma once

#include <cmath>

#include "matrix.hpp"

namespace adaline::ADALINE_ISA {

struct Scaling {
    double *unit, *offset, *scale;
    bool extreme = false;

    void set(index j, double shift, double exponent) {
        const bool wide = std::fabs(exponent) > 1000;
        const int e = whole(exponent), half = wide ? e / 2 : 0;
        extreme |= wide;
        unit[j] = std::ldexp(1, -half);
        offset[j] = shift * unit[j];
        scale[j] = std::ldexp(1, half - e);
    }

    template <class Real>
    Real apply(index j, Real z) const {
        return (z * unit[j] - offset[j]) * scale[j];
    }
};

inline double magnitude_exponent(double m) {
    int e = 0;
    if (m > 0 && __builtin_isfinite(m)) std::frexp(m, &e);
    return e;
}

class Pilot {
    static constexpr index P = 32;
    index n, size = 0, row[P];
    double W = 0, share[P];

    void add(index i, double w) {
        if (!(w > 0)) return;
        row[size] = i;
        share[size++] = w;
        W += w;
    }

  public:
    // Rows of weight zero do not count; where only such are met, the first that counts will do.
    Pilot(index n, const double* weight) : n(n) {
        for (index k = 0; k < P && k < n; ++k) {
            const index i = n < P ? k : k * n / P;
            add(i, weight ? weight[i] : 1);
        }
        for (index i = 0; !size && i < n; ++i) add(i, weight[i]);
        if (!size) add(0, 1);
        for (index k = 0; k < size; ++k) share[k] /= W;
    }

    // The mean is taken as a shift from the first row: exact where the column is constant.
    template <class Column>
    double mean(Column z) const {
        const double z0 = z(row[0]);
        double m = 0;
        for (index k = 0; k < size; ++k) m += share[k] * z(row[k]) - share[k] * z0;
        return z0 + m;
    }

    // A column that is zero in the pilot is followed to its first other number.
    template <class Column>
    double exponent(Column z, double shift) const {
        double spread = 0, most = 0;
        for (index k = 0; k < size; ++k) {
            const double distance = std::fabs(z(row[k]) - shift), m = std::fabs(z(row[k]));
            spread = distance > spread ? distance : spread;
            most = m > most ? m : most;
        }
        for (index i = 0; most == 0 && i < n; ++i) most = std::fabs(z(i));
        const bool spreads = spread > 0 && __builtin_isfinite(spread);
        return magnitude_exponent(spreads ? spread : most);
    }
};

}  // namespace adaline::ADALINE_ISA
