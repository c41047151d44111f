// The objective of linear machines over dense rows, in one read of x.
//
//   v = x scale + offset,   z_k = theta_k0 + theta_k'v
//   value = sum weight loss(z, t),   gradient_k = sum weight slope_k (1, v)
//   hessian_k = sum weight curvature_k (1, v)(1, v)'
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

// The arrays of one call. `outputs` counts all that is formed of theta, `K` what flows back.
struct Desk {
    index D, K, strips, pitch;
    Panel panel, weighed;
    Viewed view;
    double *theta, *g, *z, *slope, *curvature, *t, *weight, *value;
    double* blocks;

    Desk(index D, const Machines& m, index outputs, index T, bool second)
        : D(D), K(m.K), strips(D / strip + 1), pitch(strips * strip) {
        const index H = Panel::height, area = second ? Blocks::size(strips) : 0, size = Panel::size(strips);
        scratch.reserve((second ? 2 : 1) * size + K * area + (2 + outputs + K) * pitch +
                            (outputs + 2 * K + T + 1) * H + K * lanes, 13);
        panel = {scratch.array(size), strips};
        if (second) weighed = {scratch.array(size), strips};
        blocks = scratch.array(K * area);
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
        curvature = second ? scratch.array(K * H) : nullptr;
        t = scratch.zeros(T * H);
        weight = scratch.zeros(H);
        value = scratch.zeros(K * lanes);
        panel.clear(D);
        for (index i = 0; i < H; ++i) panel.column(D)[i * strip] = 1;
    }

    // Outputs from the first on are those of theta (K, 1 + D).
    void set(index first, const double* from) const {
        for (index k = 0; k < K; ++k)
            for (index j = 0; j <= D; ++j) theta[(first + k) * pitch + j] = from[k * (1 + D) + place(j, D)];
    }

    Blocks block(index k) const { return {blocks + k * Blocks::size(strips), strips}; }

    void add_hessian(index n, bool fresh, Ahead& ahead) const {
        for (index k = 0; k < K; ++k) {
            weigh(weighed, panel, n, curvature + k * Panel::height);
            add_products(weighed, panel, n, fresh, block(k), ahead);
        }
    }

    void add_gradient_to(double* sums) const {
        for (index k = 0; k < K; ++k)
            for (index j = 0; j <= D; ++j) sums[k * (1 + D) + place(j, D)] += g[k * pitch + j];
    }

    void add_hessian_to(double* sums) const {
        const index side = 1 + D;
        for (index k = 0; k < K; ++k, sums += side * side)
            for (index a = 0; a <= D; ++a)
                for (index b = a; b <= D; ++b) {
                    const double c = block(k)(a, b);
                    const index i = place(a, D), j = place(b, D);
                    sums[i * side + j] += c;
                    if (a != b) sums[j * side + i] += c;
                }
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

inline void take(const Targets& y, index first, index rows, double* t, double* weight) {
    turn(t, y.t + first * y.K, rows, y.K);
    for (index i = 0; i < rows; i += lanes)
        store(weight + i, y.weight ? up_to(y.weight + first + i, rows - i) : broadcast(1));
}

// f(rows, first, n, ahead) for every panel of x: packed, or as it lies where that will do.
template <class F>
void each_panel(const Dense& x, const Desk& desk, bool direct, F f) {
    const index height = rows_at_once(desk.strips);
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

inline void objective(double* sums, const Dense& x, const Likelihood& loss, const Machines& m, bool second) {
    if (!x.rows) return;
    const index D = x.columns, K = m.K, values = loss.loss == Loss::softmax ? 1 : K;
    const Desk desk(D, m, K, loss.y.K, second);
    each_panel(x, desk, !second, [&](const auto& rows, index first, index n, Ahead& ahead) {
        take(loss.y, first, n, desk.t, desk.weight);
        all_outputs(rows, n, K, desk.theta, desk.z);
        rates_of(loss.loss).cost({Panel::height, n, K, loss.parameter, desk.weight, desk.t, desk.z, nullptr,
                          desk.slope, desk.curvature, desk.value, ahead});
        all_gathered(rows, n, K, desk.slope, desk.g, ahead);
        if (second) desk.add_hessian(n, first == 0, ahead);
    });
    add_values_to(sums, desk.value, values);
    desk.add_gradient_to(sums + values);
    if (second) desk.add_hessian_to(sums + values + K * (1 + D));
}

inline void product(double* sums, const Dense& x, const Likelihood& loss, const Machines& m, const double* direction) {
    const index K = m.K;
    const Desk desk(x.columns, m, 2 * K, loss.y.K, false);
    desk.set(K, direction);
    each_panel(x, desk, true, [&](const auto& rows, index first, index n, Ahead& ahead) {
        take(loss.y, first, n, desk.t, desk.weight);
        all_outputs(rows, n, 2 * K, desk.theta, desk.z);
        rates_of(loss.loss).bend({Panel::height, n, K, loss.parameter, desk.weight, desk.t, desk.z,
                          desk.z + K * Panel::height, desk.slope, nullptr, nullptr, ahead});
        all_gathered(rows, n, K, desk.slope, desk.g, ahead);
    });
    desk.add_gradient_to(sums);
}

// z (n, K), for losses that the kernels do not know.
inline void margins(double* z, const Dense& x, const Machines& m) {
    const Desk desk(x.columns, m, m.K, 0, false);
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
    const Desk desk(x.columns, m, K, 0, curvature);
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
