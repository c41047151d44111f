// The objective of linear machines over dense rows, in one read of x.
//
//   v = x scale + offset,   z_k = theta_k0 + theta_k'v
//   value = sum weight loss(z, t),   gradient_k = sum weight slope_k (1, v)
//   hessian_k = sum weight curvature_k (1, v)(1, v)',   pair_kl = sum weight p_k p_l (1, v)(1, v)' for the softmax
//   product_k = sum weight (M q)_k (1, v),   q_k = d_k0 + d_k'v,   M the matrix of second derivatives of a row
//
// Outputs, losses and sums work on a panel of rows while it is in the cache and the next one is prefetched. Contiguous
// rows are read in place; all others, and those of a hessian, are packed. The sums of a panel start from zero, so that
// rounding errors grow with the number of panels, not of rows.
#pragma once

#include "losses.hpp"
#include "objectives.hpp"
#include "outputs.hpp"
#include "scratch.hpp"
#include "tiles.hpp"

namespace adaline::ADALINE_ISA {

// Columns in the order of a panel: the intercept, first elsewhere, comes last here.
inline index place(index j, index D) { return j == D ? 0 : 1 + j; }

// Matrices whose sums give the second derivatives: those of each machine, or of every two.
inline index matrices(Second second, index K) {
    return second == Second::none ? 0 : second == Second::alone ? K : K * (K - 1) / 2;
}

inline constexpr index pairs_at_once = 256;

// Numbers of a row by which matrices are weighted: curvatures, or shares and then those of some pairs.
inline index rates(Second second, index K) {
    const index pairs = matrices(second, K), most = pairs < pairs_at_once ? pairs : pairs_at_once;
    return second == Second::all ? K + (most < K ? K : most) : pairs;
}

// What weighs matrices from `first` on: c (count, height), curvatures of machines, or weight p_k p_l of pairs l < k.
struct Weighing {
    Second second;
    index K, n;
    const double* weight;
    double* curvature;
    index first = 0, count = 0, k = 1;
    double* c = nullptr;

    [[gnu::noinline]] bool next() {
        first += count;
        count = second == Second::alone && !first ? K : 0;
        c = curvature + (count ? 0 : K * Panel::height);
        if (second == Second::alone) return count;
        for (; k < K && (!count || count + k <= pairs_at_once); ++k)
            for (index l = 0; l < k; ++l, ++count)
                for (index i = 0; i < n; i += lanes) {
                    const auto p = [&](index which) { return load(curvature + which * Panel::height + i); };
                    store(c + count * Panel::height + i, load(weight + i) * p(k) * p(l));
                }
        return count;
    }
};

// Adds matrices to the second derivatives; fill(m, k, l) puts matrix m, of machine k = l or of a pair, into a square
// (side, side).
//
// What two machines have in common is minus the matrix of the pair, and as shares add up to one, what a machine has of
// its own is the sum over its pairs: nothing cancels.
template <class Fill>
void add_matrices(double* sums, index K, index side, Second second, const double* square, Fill fill) {
    if (second == Second::alone) {
        for (index k = 0; k < K; ++k) {
            fill(k, k, k);
            for (index i = 0; i < side * side; ++i) sums[k * side * side + i] += square[i];
        }
        return;
    }
    for (index k = 1, m = 0; k < K; ++k)
        for (index l = 0; l < k; ++l, ++m) {
            fill(m, k, l);
            for (index i = 0; i < side; ++i) {
                double *const of_k = sums + (k * side + i) * K * side, *const of_l = sums + (l * side + i) * K * side;
                for (index j = 0; j < side; ++j) {
                    const double c = square[i * side + j];
                    of_k[k * side + j] += c;
                    of_k[l * side + j] -= c;
                    of_l[k * side + j] -= c;
                    of_l[l * side + j] += c;
                }
            }
        }
}

// The arrays of one call. `outputs` counts all that is formed of theta, `K` what flows back.
struct Desk {
    index D, K, strips, pitch;
    Second second;
    Panel panel, weighed{nullptr, 0};
    Viewed view;
    bool together;  // pairs are summed as one matrix, of the rows of all machines side by side
    double *theta, *g, *z, *slope, *curvature = nullptr, *t, *weight, *value;
    double *blocks, *square;

    Desk(index D, const Machines& m, index outputs, index T, Second second)
        : D(D), K(m.K), strips(D / strip + 1), pitch(strips * strip), second(second) {
        const index H = Panel::height, size = Panel::size(strips), area = (1 + D) * (1 + D);
        const index count = matrices(second, K), rated = rates(second, K);
        const index all = (K * (1 + D) + strip - 1) / strip;  // strips of all machines; tiles are what a sum costs
        together = second == Second::all && all * (all + 1) < count * strips * (strips + 1);
        const index side = together ? all : strips, squares = (together ? 1 : count) * Blocks::size(side);
        scratch.reserve(size + (rated ? Panel::size(side) + squares + area : 0) + (2 + outputs + K) * pitch +
                            (outputs + K + rated + T + 1) * H + K * lanes, 14);
        panel = {scratch.array(size), strips};
        double *const scale = scratch.zeros(pitch), *const offset = scratch.zeros(pitch);
        __builtin_memcpy(scale, m.scale, sizeof(double) * D);
        __builtin_memcpy(offset, m.offset, sizeof(double) * D);
        offset[D] = 1;
        view = {scale, offset};
        theta = scratch.zeros(outputs * pitch);
        if (m.theta) set(0, m.theta);
        g = scratch.zeros(K * pitch);
        z = scratch.array(outputs * H);
        slope = scratch.array(K * H);
        t = scratch.zeros(T * H);
        weight = scratch.zeros(H);
        value = scratch.zeros(K * lanes);
        panel.clear(D);
        for (index i = 0; i < H; ++i) panel.column(D)[i * strip] = 1;
        if (!rated) return;
        curvature = scratch.array(rated * H);
        square = scratch.array(area);
        blocks = scratch.array(squares);
        weighed = {scratch.array(Panel::size(side)), side};
        if (together) weighed.clear(K * (1 + D));
    }

    // Outputs from the first on are those of theta (K, 1 + D).
    void set(index first, const double* from) const {
        for (index k = 0; k < K; ++k)
            for (index j = 0; j <= D; ++j) theta[(first + k) * pitch + j] = from[k * (1 + D) + place(j, D)];
    }

    Blocks block(index m) const { return {blocks + m * Blocks::size(weighed.strips), weighed.strips}; }

    // The rows sqrt(weight) p_k u of all machines, whose second moments are those of all pairs.
    void put_side_by_side(index n) const {
        double root[Panel::height];
        for (index i = 0; i < n; ++i) root[i] = std::sqrt(weight[i]);
        for (index k = 0; k < K; ++k)
            for (index j = 0; j <= D; ++j) {
                const double *const p = curvature + k * Panel::height, *const u = panel.column(j);
                double* const v = weighed.column(k * (1 + D) + j);
                for (index i = 0; i < n; ++i) v[i * strip] = root[i] * p[i] * u[i * strip];
            }
    }

    void add_hessian(index n, bool fresh, Ahead& ahead) const {
        if (together) {
            put_side_by_side(n);
            return add_products(weighed, weighed, n, fresh, block(0), ahead);
        }
        for (Weighing by{second, K, n, weight, curvature}; by.next();)
            for (index m = 0; m < by.count; ++m) {
                weigh(weighed, panel, n, by.c + m * Panel::height);
                add_products(weighed, panel, n, fresh, block(by.first + m), ahead);
            }
    }

    void add_gradient_to(double* sums) const {
        for (index k = 0; k < K; ++k)
            for (index j = 0; j <= D; ++j) sums[k * (1 + D) + place(j, D)] += g[k * pitch + j];
    }

    void add_hessian_to(double* sums) const {
        const index side = 1 + D;
        add_matrices(sums, K, side, second, square, [&](index m, index k, index l) {
            for (index a = 0; a <= D; ++a)
                for (index b = a; b <= D; ++b) {
                    const index i = place(a, D), j = place(b, D);
                    const double c = together ? block(0)(l * side + a, k * side + b) : block(m)(a, b);
                    square[i * side + j] = square[j * side + i] = c;
                }
        });
    }
};

// out (columns, height) = some rows of an array (n, columns).
inline void turn(double* out, const double* from, index rows, index columns) {
    if (columns == 1) {
        __builtin_memcpy(out, from, sizeof(double) * rows);
        return;
    }
    for (index i = 0; i < rows; ++i)
        for (index k = 0; k < columns; ++k) out[k * Panel::height + i] = from[i * columns + k];
}

// Targets and weights of some rows, with zeros as weights of the lanes beyond the last one.
inline void take(const Targets& y, index first, index rows, double* t, double* weight) {
    turn(t, y.t + first * y.K, rows, y.K);
    for (index i = 0; i < rows; i += lanes) store(weight + i, up_to(y.weight ? y.weight + first + i : ones, rows - i));
}

// f(rows, first, n, ahead) for every panel of x: packed, or as it lies where that will do.
template <class F>
void each_panel(const Dense& x, const Desk& desk, bool direct, F f) {
    const index height = rows_at_once(desk.strips > desk.weighed.strips ? desk.strips : desk.weighed.strips);
    for (index first = 0; first < x.rows; first += height) {
        const index n = x.rows - first < height ? x.rows - first : height;
        Ahead ahead(x, first + height, height);
        if constexpr (specialised) {
            if (direct && by_rows(x) && !x.chosen && n % strip == 0) {
                typed(x, [&]<class T>(const Matrix<T>& m) {
                    f(Raw<T>{m.at(first, 0), x.down, desk.D, desk.view}, first, n, ahead);
                });
                continue;
            }
        }
        pack_all(desk.panel, x, first, n, desk.view);
        f(Packed{desk.panel}, first, n, ahead);
    }
}

inline void add_values_to(double* sums, const double* value, index count) {
    for (index k = 0; k < count; ++k) sums[k] += across_lanes(load(value + k * lanes));
}

inline void objective(double* sums, const Dense& x, const Likelihood& loss, const Machines& m, Second second) {
    if (!x.rows) return;
    const index D = x.columns, K = m.K, values = loss.loss == Loss::softmax ? 1 : K;
    const Desk desk(D, m, K, loss.y.K, second);
    each_panel(x, desk, !desk.curvature, [&](const auto& rows, index first, index n, Ahead& ahead) {
        take(loss.y, first, n, desk.t, desk.weight);
        all_outputs(rows, n, K, desk.theta, desk.z);
        rates_of(loss.loss).cost({Panel::height, n, K, loss.parameter, desk.weight, desk.t, desk.z, nullptr,
                          desk.slope, desk.curvature, second == Second::all, desk.value, ahead});
        all_gathered(rows, n, K, desk.slope, desk.g, ahead);
        if (desk.curvature) desk.add_hessian(n, first == 0, ahead);
    });
    add_values_to(sums, desk.value, values);
    desk.add_gradient_to(sums + values);
    if (desk.curvature) desk.add_hessian_to(sums + values + K * (1 + D));
}

inline void product(double* sums, const Dense& x, const Likelihood& loss, const Machines& m, const double* direction) {
    const index K = m.K;
    const Desk desk(x.columns, m, 2 * K, loss.y.K, Second::none);
    desk.set(K, direction);
    each_panel(x, desk, true, [&](const auto& rows, index first, index n, Ahead& ahead) {
        take(loss.y, first, n, desk.t, desk.weight);
        all_outputs(rows, n, 2 * K, desk.theta, desk.z);
        rates_of(loss.loss).bend({Panel::height, n, K, loss.parameter, desk.weight, desk.t, desk.z,
                          desk.z + K * Panel::height, desk.slope, nullptr, false, nullptr, ahead});
        all_gathered(rows, n, K, desk.slope, desk.g, ahead);
    });
    desk.add_gradient_to(sums);
}

// z (n, K), for losses that the kernels do not know.
inline void margins(double* z, const Dense& x, const Machines& m) {
    const Desk desk(x.columns, m, m.K, 0, Second::none);
    each_panel(x, desk, true, [&](const auto& rows, index first, index n, Ahead&) {
        all_outputs(rows, n, m.K, desk.theta, desk.z);
        for (index i = 0; i < n; ++i)
            for (index k = 0; k < m.K; ++k) z[(first + i) * m.K + k] = desk.z[k * Panel::height + i];
    });
}

// Gradient and hessian from slopes and curvatures (n, K) times weights.
inline void gathered(double* sums, const Dense& x, const Machines& m, const double* slope, const double* curvature) {
    if (!x.rows) return;
    const index K = m.K;
    const Desk desk(x.columns, m, K, 0, curvature ? Second::alone : Second::none);
    each_panel(x, desk, !curvature, [&](const auto& rows, index first, index n, Ahead& ahead) {
        turn(desk.slope, slope + first * K, n, K);
        all_gathered(rows, n, K, desk.slope, desk.g, ahead);
        if (!curvature) return;
        turn(desk.curvature, curvature + first * K, n, K);
        desk.add_hessian(n, first == 0, ahead);
    });
    desk.add_gradient_to(sums);
    if (curvature) desk.add_hessian_to(sums + K * (1 + x.columns));
}

}  // namespace adaline::ADALINE_ISA
