// The sums of a block of rows as one flat buffer, so that Python stores, sends and merges it.
//
// For the q = D + K columns z = [x t]:
//
//   rows, W = sum of weights, mode (a MomentMode), then
//   first_hi[q], first_lo[q]   centred: the mean, in raw units;  raw: sum w z 2^-e;  as hi + lo
//   exponent[q]                e
//   noise[q]                   a bound on the rounding error of S_jj, in scaled units
//   S[q][q]                    sum w (z - mean)(z - mean)' or sum w z z', times 2^-(e_i + e_j)
#pragma once

#include "vector.hpp"

namespace adaline::ADALINE_ISA {

template <class Real>
struct State {
    Real &rows, &W, &mode;
    Real *hi, *lo, *exponent, *noise, *S;
    index q;

    State(Real* buffer, index q)
        : rows(buffer[0]), W(buffer[1]), mode(buffer[2]), hi(buffer + 3), lo(hi + q),
          exponent(lo + q), noise(exponent + q), S(noise + q), q(q) {}

    static index size(index q) { return 3 + (4 + q) * q; }

    bool finite() const {
        bool all = __builtin_isfinite(W);
        for (index j = 0; j < q; ++j)
            all &= __builtin_isfinite(S[j * q + j]) && __builtin_isfinite(hi[j]);
        return all;
    }
};

inline constexpr double roundoff = 0x1p-53;

}  // namespace adaline::ADALINE_ISA
