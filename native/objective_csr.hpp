// The objective of linear machines over sparse rows: only stored entries are visited.
//
//   u = x scale,   z_k = (theta_k0 + theta_k'offset) + theta_k'u,   gradient_k = sum s_k (1, u + offset)
//   A_k = sum c_k (1, u)(1, u)',   hessian_k = A + o a' + a o' + A_00 o o',   o = (0, offset),  a = row 0 of A
//
// Theta and gradient are kept column by column with the K outputs side by side, so that an entry of a row is one
// multiply-add of vectors; one output alone needs no transposition. Rows are taken in batches, whose losses run on vectors.
// Of one output, rows may have units, 1 or -1, beside their numbers, stored by their columns alone: a third of the memory
// to read.
#pragma once

#include <bit>

#include "csr.hpp"
#include "objective.hpp"

namespace adaline::ADALINE_ISA {

inline constexpr index lot_rows = Panel::height;

// The column of a unit, and a number with its sign: without a branch, as signs are random.
inline index column_of(std::int32_t unit) { return unit ^ (unit >> 31); }

inline double signed_by(std::int32_t unit, double a) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) ^ (std::uint64_t(unit < 0) << 63));
}

// A square of numbers in rows of `pitch`, at most `wide` of each and `high` rows; zeros elsewhere.
inline void load_square(vec (&a)[lanes], const double* from, index pitch, index high, index wide) {
#pragma GCC unroll 8
    for (int l = 0; l < lanes; ++l)
        a[l] = l >= high ? vec{} : wide >= lanes ? load(from + l * pitch) : head(from + l * pitch, wide);
}

// out (columns, pitch) = in (rows, columns) turned, zeros beyond the rows; f(column, vector) has the last word.
template <class F>
void turn_squares(double* out, index pitch, const double* in, index in_pitch, index rows, index columns, F f) {
    for (index j = 0; j < columns; j += lanes)
        for (index k = 0; k < rows; k += lanes) {
            vec a[lanes];
            load_square(a, in + k * in_pitch + j, in_pitch, rows - k, columns - j);
            transpose(a);
            for (int l = 0; l < lanes && j + l < columns; ++l) store(out + (j + l) * pitch + k, f(j + l, a[l]));
        }
}

inline vec as_it_is(index, vec a) { return a; }

// z += the outputs of rows from `first` on, P vectors of outputs; theta and z have `wide` numbers in a row.
template <int P, class R>
void row_outputs(const R& x, index first, index rows, const double* theta, index wide, double* z) {
    for (index i = 0, m = x.indptr[first]; i < rows; ++i) {
        vec sum[P] = {};
        for (const index end = x.indptr[first + i + 1]; m < end; ++m) {
            const vec a = broadcast(double(x.data[m]));
            const double* const w = theta + index(x.indices[m]) * wide;
#pragma GCC unroll 4
            for (int p = 0; p < P; ++p) sum[p] = multiply_add(a, load(w + p * lanes), sum[p]);
        }
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) store(z + i * wide + p * lanes, sum[p]);
    }
}

// g += slopes of rows times their entries, total += the slopes.
template <int P, class R>
void row_gather(const R& x, index first, index rows, const double* slope, index wide, double* g, double* total) {
    vec sum[P], s[P];
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) sum[p] = load(total + p * lanes);
    for (index i = 0, m = x.indptr[first]; i < rows; ++i) {
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) {
            s[p] = load(slope + i * wide + p * lanes);
            sum[p] += s[p];
        }
        for (const index end = x.indptr[first + i + 1]; m < end; ++m) {
            const vec a = broadcast(double(x.data[m]));
            double* const at = g + index(x.indices[m]) * wide;
#pragma GCC unroll 4
            for (int p = 0; p < P; ++p) store(at + p * lanes, multiply_add(a, s[p], load(at + p * lanes)));
        }
    }
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) store(total + p * lanes, sum[p]);
}

// The arrays of one call over sparse rows; `wide` is K in whole vectors, or 1.
struct SparseDesk {
    const Machines& m;
    index D, K, wide;
    Second second;
    double *g, *lines, *z, *slope, *curvature, *t, *weight, *value, *total, *A;
    Entries row;

    SparseDesk(index D, const Machines& m, index outputs, index T, Second second)
        : m(m), D(D), K(m.K), wide(K == 1 ? 1 : (K + lanes - 1) / lanes * lanes), second(second) {
        const index H = lot_rows, side = 1 + D, rated = rates(second, K), squares = rated ? matrices(second, K) + 1 : 0;
        const index theta = (outputs / K) * (D * wide + K);
        scratch.reserve(theta + D * wide + (outputs + K + rated + T + 1 + wide) * H + K * lanes + wide +
                            squares * side * side + 2 * side, 16);
        g = scratch.zeros(D * wide);
        lines = scratch.zeros(wide * H);
        z = scratch.array(outputs * H);
        slope = scratch.array(K * H);
        curvature = rated ? scratch.array(rated * H) : nullptr;
        t = scratch.zeros(T * H);
        weight = scratch.zeros(H);
        value = scratch.zeros(K * lanes);
        total = scratch.zeros(wide);
        A = scratch.zeros(squares * side * side);
        row = {reinterpret_cast<index*>(scratch.array(side)), scratch.array(side)};
    }

    // Theta (K, 1 + D) as columns of K in the units of x, and what a row of zeros gives.
    struct Theta {
        double *columns, *constant;
    };

    Theta theta(const double* from) const {
        const Theta out{scratch.array(D * wide), scratch.array(K)};
        for (index k = 0; k < K; ++k) {
            const double* const w = from + k * (1 + D);
            out.constant[k] = w[0];
            for (index j = 0; j < D; ++j) out.constant[k] += w[1 + j] * m.offset[j];
        }
        if (K == 1)
            for (index j = 0; j < D; ++j) out.columns[j] = from[1 + j] * m.scale[j];
        else
            turn_squares(out.columns, wide, from + 1, 1 + D, K, D, [&](index j, vec a) { return a * m.scale[j]; });
        return out;
    }

    // f<P>(part) for every part of at most four vectors.
    template <class F>
    void parts_of_outputs(F f) const {
        for (index k = 0; k < wide; k += 4 * lanes) switch ((wide - k) / lanes) {
                case 1: f.template operator()<1>(k); break;
                case 2: f.template operator()<2>(k); break;
                case 3: f.template operator()<3>(k); break;
                default: f.template operator()<4>(k);
            }
    }

    [[gnu::noinline]] void outputs(const Sparse& x, index first, index rows, const Theta& theta, double* z) const {
        typed(x, [&](const auto& r) {
            if (K == 1) return one_output(r, first, rows, theta, z);
            parts_of_outputs([&]<int P>(index k) { row_outputs<P>(r, first, rows, theta.columns + k, wide, lines + k); });
        });
        if (x.units) add_units(x, first, rows, theta, z);
        if (K > 1) turn_squares(z, lot_rows, lines, wide, rows, K, [&](index k, vec a) { return a + theta.constant[k]; });
    }

    template <class R>
    static void one_output(const R& x, index first, index rows, const Theta& theta, double* z) {
        for (index i = 0, k = x.indptr[first]; i < rows; ++i) {
            double sum = theta.constant[0];
            for (const index end = x.indptr[first + i + 1]; k < end; ++k)
                sum = multiply_add(double(x.data[k]), theta.columns[x.indices[k]], sum);
            z[i] = sum;
        }
    }

    // z += what the units of rows give, one output.
    static void add_units(const Sparse& x, index first, index rows, const Theta& theta, double* z) {
        for (index i = 0, k = x.starts[first]; i < rows; ++i) {
            double sum = 0;
            for (const index end = x.starts[first + i + 1]; k < end; ++k) sum += signed_by(x.units[k], theta.columns[column_of(x.units[k])]);
            z[i] += sum;
        }
    }

    void gather(const Sparse& x, index first, index rows) const {
        if (K > 1) turn_squares(lines, wide, slope, lot_rows, K, rows, as_it_is);
        gather_lines(x, first, rows);
    }

    // Slopes (rows, K) as they are gathered: of one output in `slope`, of several in `lines`.
    void put_lines(const double* from, index rows) const {
        if (K == 1) return turn(slope, from, rows, 1);
        for (index i = 0; i < rows; ++i)
            for (index k = 0; k < wide; k += lanes) store(lines + i * wide + k, up_to(from + i * K + k, K - k));
    }

    [[gnu::noinline]] void gather_lines(const Sparse& x, index first, index rows) const {
        typed(x, [&](const auto& r) {
            if (K == 1) return gather_one(r, first, rows);
            parts_of_outputs([&]<int P>(index k) { row_gather<P>(r, first, rows, lines + k, wide, g + k, total + k); });
        });
        if (!x.units) return;
        for (index i = 0, k = x.starts[first]; i < rows; ++i)
            for (const index end = x.starts[first + i + 1]; k < end; ++k) g[column_of(x.units[k])] += signed_by(x.units[k], slope[i]);
    }

    template <class R>
    void gather_one(const R& x, index first, index rows) const {
        double all = total[0];
        for (index i = 0, k = x.indptr[first]; i < rows; ++i) {
            const double s = slope[i];
            all += s;
            for (const index end = x.indptr[first + i + 1]; k < end; ++k) {
                double& sum = g[x.indices[k]];
                sum = multiply_add(double(x.data[k]), s, sum);
            }
        }
        total[0] = all;
    }

    void add_hessian(const Sparse& x, index first, index rows) {
        for (Weighing by{second, K, rows, weight, curvature}; by.next();)
            typed(x, [&](const auto& r) {
                for (index i = 0; i < rows; ++i) {
                    row.size = 0;
                    row.add(0, 1);
                    row.add_row(r, first + i, 1, [&](index j, double a) { return a * m.scale[j]; });
                    add_squares(by, i);
                }
            });
    }

    // A += c row row' for row i and some matrices. Out of line, as rows of every type come here.
    [[gnu::noinline]] void add_squares(const Weighing& by, index i) const {
        const index side = 1 + D, size = row.size;
        const index* const column = row.column;
        const double* const v = row.v;
        for (index h = 0; h < by.count; ++h)
            for (index a = 0; a < size; ++a) {
                const double ca = by.c[h * lot_rows + i] * v[a];
                double* const into = A + ((by.first + h) * side + column[a]) * side;
                for (index b = a; b < size; ++b) into[column[b]] += ca * v[b];
            }
    }

    void add_gradient_to(double* sums) const {
        for (index k = 0; k < K; ++k) sums[k * (1 + D)] += total[k];
        for (index j = 0; j < D; j += lanes)
            for (index k = 0; k < wide; k += lanes) {
                vec a[lanes];
                load_square(a, g + j * wide + k, wide, D - j, wide - k);
                transpose(a);
                const index left = D - j;
                const auto some = [&](const double* p) { return left < lanes ? head(p, left) : load(p); };
                const vec scale = some(m.scale + j), offset = some(m.offset + j);
                for (int l = 0; l < lanes && k + l < K; ++l) {
                    double* const out = sums + (k + l) * (1 + D) + 1 + j;
                    store_head(out, some(out) + (a[l] * scale + offset * total[k + l]), left);
                }
            }
    }

    void add_hessian_to(double* sums) const {
        const index side = 1 + D;
        double* const square = A + matrices(second, K) * side * side;
        const auto o = [&](index a) { return a ? m.offset[a - 1] : 0; };
        add_matrices(sums, K, side, second, square, [&](index h, index, index) {
            const double* const of = A + h * side * side;
            for (index a = 0; a < side; ++a)
                for (index b = a; b < side; ++b)
                    square[a * side + b] = square[b * side + a] =
                        of[a * side + b] + o(a) * of[b] + o(b) * of[a] + o(a) * o(b) * of[0];
        });
    }
};

// f(first, rows) for every lot of rows.
template <class F>
void each_lot(index n, F f) {
    for (index first = 0; first < n; first += lot_rows) f(first, n - first < lot_rows ? n - first : lot_rows);
}

inline void objective_csr(double* sums, const Sparse& x, const Likelihood& loss, const Machines& m, Second second) {
    const index D = x.columns, K = m.K, values = loss.loss == Loss::softmax ? 1 : K;
    SparseDesk desk(x.columns, m, K, loss.y.K, second);
    Ahead none;
    const auto theta = desk.theta(m.theta);
    each_lot(x.rows, [&](index first, index rows) {
        take(loss.y, first, rows, desk.t, desk.weight);
        desk.outputs(x, first, rows, theta, desk.z);
        rates_of(loss.loss).cost({lot_rows, rows, K, loss.parameter, desk.weight, desk.t, desk.z, nullptr, desk.slope,
                          desk.curvature, second == Second::all, desk.value, none});
        desk.gather(x, first, rows);
        if (desk.curvature) desk.add_hessian(x, first, rows);
    });
    add_values_to(sums, desk.value, values);
    desk.add_gradient_to(sums + values);
    if (desk.curvature) desk.add_hessian_to(sums + values + K * (1 + D));
}

inline void product_csr(double* sums, const Sparse& x, const Likelihood& loss, const Machines& m, const double* direction) {
    const index K = m.K;
    const SparseDesk desk(x.columns, m, 2 * K, loss.y.K, Second::none);
    Ahead none;
    const auto theta = desk.theta(m.theta), along = desk.theta(direction);
    each_lot(x.rows, [&](index first, index rows) {
        double* const q = desk.z + K * lot_rows;
        take(loss.y, first, rows, desk.t, desk.weight);
        desk.outputs(x, first, rows, theta, desk.z);
        desk.outputs(x, first, rows, along, q);
        rates_of(loss.loss).bend({lot_rows, rows, K, loss.parameter, desk.weight, desk.t, desk.z, q, desk.slope,
                          nullptr, false, nullptr, none});
        desk.gather(x, first, rows);
    });
    desk.add_gradient_to(sums);
}

inline void margins_csr(double* z, const Sparse& x, const Machines& m) {
    const index K = m.K;
    const SparseDesk desk(x.columns, m, K, 0, Second::none);
    const auto theta = desk.theta(m.theta);
    each_lot(x.rows, [&](index first, index rows) {
        desk.outputs(x, first, rows, theta, desk.z);
        for (index i = 0; i < rows; ++i)
            for (index k = 0; k < K; ++k) z[(first + i) * K + k] = desk.z[k * lot_rows + i];
    });
}

inline void gather_csr(double* sums, const Sparse& x, const Machines& m, const double* slope, const double* curvature) {
    const index K = m.K;
    SparseDesk desk(x.columns, m, K, 0, curvature ? Second::alone : Second::none);
    each_lot(x.rows, [&](index first, index rows) {
        desk.put_lines(slope + first * K, rows);
        desk.gather_lines(x, first, rows);
        if (!curvature) return;
        turn(desk.curvature, curvature + first * K, rows, K);
        desk.add_hessian(x, first, rows);
    });
    desk.add_gradient_to(sums);
    if (curvature) desk.add_hessian_to(sums + K * (1 + x.columns));
}

}  // namespace adaline::ADALINE_ISA
