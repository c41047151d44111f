// The nearest of K centres for every row, and the rows of each centre added up, in one read of x.
//
//   v = x scale + offset,   k(v) = argmin_k c_k'c_k / 2 - v'c_k
//   weight_k += w,   error_k += w (v - c_k)'(v - c_k),   first_k += w v
//
// A panel is transposed so that rows lie in the lanes: products with four centres at a time, and the
// argmin without a branch. The products have rounding errors of the size of v'v and c'c; for a row
// whose two best centres are closer than that, squared differences are computed. Of equal centres
// the first is taken.
#pragma once

#include <limits>

#include "pack.hpp"
#include "scratch.hpp"

namespace adaline::ADALINE_ISA {

// Columns of a panel as rows: v_ij at turned[j * height + i].
inline void turn(const Panel& panel, index columns, double* turned) {
    constexpr index height = Panel::height;
    for (index j = 0; j < columns; j += strip) {
        const double* const from = panel.strip_at(j / strip);
        double* const to = turned + j * height;
        if constexpr (lanes == strip) {
            for (index i = 0; i < height; i += lanes) {
                vec square[lanes];
#pragma GCC unroll 8
                for (int l = 0; l < lanes; ++l) square[l] = load(from + (i + l) * strip);
                transpose(square);
#pragma GCC unroll 8
                for (int l = 0; l < lanes; ++l) store(to + l * height + i, square[l]);
            }
        } else {
            for (index i = 0; i < height; ++i)
                for (int l = 0; l < strip; ++l) to[l * height + i] = from[i * strip + l];
        }
    }
}

inline index whole_strips(index columns) { return (columns + strip - 1) / strip * strip; }

// Fills the scaling of columns that a view sees as v = x scale + offset, scale a power of two.
inline void set_view(Scaling& s, index D, View view) {
    for (index j = 0; j < D; ++j) {
        s.unit[j] = 1;
        s.offset[j] = -view.offset[j] / view.scale[j];
        s.scale[j] = view.scale[j];
    }
}

inline double sum_of(vec v) {
    double s = v[0];
    for (int l = 1; l < lanes; ++l) s += v[l];
    return s;
}

class Nearest {
    static constexpr index height = Panel::height, four = 4;
    static constexpr int R = lanes == 8 ? 4 : 2;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    index K, D, tiles, width;
    double *packed, *half, *rows, *best, *second, *which, *norm, reach = 0;

  public:
    static index room(index K, index D) {
        return (K + four) * (D + 1) + K * whole_strips(D + 1) + 4 * height;
    }

    // Centre k ends in a one, as the rows of a panel do.
    Nearest(const double* points, index K, index D)
        : K(K), D(D), tiles((K + four - 1) / four), width(whole_strips(D + 1)),
          packed(scratch.zeros(tiles * four * D)), half(scratch.array(tiles * four)), rows(scratch.zeros(K * width)),
          best(scratch.array(height)), second(scratch.array(height)), which(scratch.array(height)),
          norm(scratch.array(height)) {
        for (index k = 0; k < tiles * four; ++k) {
            half[k] = infinity;
            if (k >= K) continue;
            double square = 0;
            for (index j = 0; j < D; ++j) {
                const double c = points[k * D + j];
                packed[(k / four * D + j) * four + k % four] = rows[k * width + j] = c;
                square += c * c;
            }
            rows[k * width + D] = 1;
            half[k] = square / 2;
            reach = square > reach ? square : reach;
        }
    }

    const double* centre(index k) const { return rows + k * width; }

    double distance(const Panel& panel, index i, index k) const {
        vec sum{};
        for (index j = 0; j < width; j += lanes) {
            const vec d = load(panel.column(j) + i * strip) - load(centre(k) + j);
            sum = multiply_add(d, d, sum);
        }
        return sum_of(sum);
    }

    void scores(const double* turned) {
        for (index first = 0; first < height; first += R * lanes) {
            vec low[R], next[R], place[R], square[R] = {};
            for (int r = 0; r < R; ++r) low[r] = next[r] = broadcast(infinity), place[r] = vec{};
            for (index j = 0; j < D; ++j)
                for (int r = 0; r < R; ++r) {
                    const vec v = load(turned + j * height + first + r * lanes);
                    square[r] = multiply_add(v, v, square[r]);
                }
            for (index t = 0; t < tiles; ++t) {
                vec sum[four][R] = {};
                const double* c = packed + t * D * four;
                for (index j = 0; j < D; ++j, c += four) {
                    vec v[R];
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) v[r] = load(turned + j * height + first + r * lanes);
#pragma GCC unroll 4
                    for (int q = 0; q < four; ++q) {
                        const vec ck = broadcast(c[q]);
#pragma GCC unroll 4
                        for (int r = 0; r < R; ++r) sum[q][r] = multiply_add(ck, v[r], sum[q][r]);
                    }
                }
#pragma GCC unroll 4
                for (int q = 0; q < four; ++q) {
                    const vec h = broadcast(half[t * four + q]), k = broadcast(double(t * four + q));
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) {
                        const vec s = h - sum[q][r];
                        const auto less = s < low[r];
                        next[r] = less ? low[r] : (s < next[r] ? s : next[r]);
                        place[r] = less ? k : place[r];
                        low[r] = less ? s : low[r];
                    }
                }
            }
            for (int r = 0; r < R; ++r) {
                store(best + first + r * lanes, low[r]);
                store(second + first + r * lanes, next[r]);
                store(which + first + r * lanes, place[r]);
                store(norm + first + r * lanes, square[r]);
            }
        }
    }

    // The nearest centre of row i, after scores.
    index operator()(const Panel& panel, index i) const {
        constexpr double roundoff = std::numeric_limits<double>::epsilon();
        if (second[i] - best[i] > (D + 4) * roundoff * (norm[i] + reach)) return index(which[i]);
        index k = 0;
        double least = distance(panel, i, 0);
        for (index other = 1; other < K; ++other) {
            const double d = distance(panel, i, other);
            if (d < least) least = d, k = other;
        }
        return k;
    }
};

// sums (K x (2 + D)): weight, error, first; nearest (rows x 2): place and squared distance, or null.
inline void clusters(double* sums, const Dense& x, const double* weight, const double* points, index K, View view,
              double* nearest) {
    constexpr index height = Panel::height;
    const index D = x.columns, width = whole_strips(D + 1), strips = width / strip;
    scratch.reserve(Panel::size(strips) + width * (height + 3) + K * (width + lanes) + Nearest::room(K, D), 16);
    const Panel panel{scratch.array(Panel::size(strips)), strips};
    panel.clear(0);
    Scaling scaling{scratch.zeros(width), scratch.zeros(width), scratch.zeros(width)};
    set_view(scaling, D, view);
    double *const turned = scratch.array(width * height), *const first = scratch.zeros(K * width);
    double* const error = scratch.zeros(K * lanes);
    Nearest find(points, K, D);

    for (index top = 0; top < x.rows; top += height) {
        const index n = x.rows - top < height ? x.rows - top : height;
        pack(panel, x, nullptr, 0, top, n, Centred<false>{scaling, nullptr});
        turn(panel, D, turned);
        find.scores(turned);
        for (index i = 0; i < n; ++i) {
            const double w = weight ? weight[top + i] : 1;
            const index k = find(panel, i);
            double* const mine = first + k * width;
            const double* const c = find.centre(k);
            vec sum{};
            for (index j = 0; j < width; j += lanes) {
                const vec v = load(panel.column(j) + i * strip), d = v - load(c + j);
                sum = multiply_add(d, d, sum);
                store(mine + j, multiply_add(broadcast(w), v, load(mine + j)));
            }
            store(error + k * lanes, multiply_add(broadcast(w), sum, load(error + k * lanes)));
            if (nearest) nearest[2 * (top + i)] = double(k), nearest[2 * (top + i) + 1] = sum_of(sum);
        }
    }
    for (index k = 0; k < K; ++k) {
        double* const out = sums + k * (2 + D);
        out[0] += first[k * width + D];
        out[1] += sum_of(load(error + k * lanes));
        for (index j = 0; j < D; ++j) out[2 + j] += first[k * width + j];
    }
}

}  // namespace adaline::ADALINE_ISA
