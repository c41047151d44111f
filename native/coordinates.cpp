// See coordinates.hpp. One form for all instruction sets: its time goes to memory, divisions and roots.

#include "coordinates.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace adaline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rate = 0.5;         // eta
constexpr double least = 0x1p-900;   // of s: one over it has to be finite, times weights
constexpr double small_step = 1e-9;  // of eta q, below which a step is that of the gradient
constexpr double silent = 0x1p-48;    // of g^2: such a row has nothing to say, and may not widen the units of others
constexpr index ahead = 8;           // rows whose coordinates are asked for before they come

// A coordinate of a row.
struct Entry {
    double x;
    double* at;
};

// Room of the row at hand: its entries, x' / (s sqrt(G)) of each output, and numbers of the outputs.
struct Room {
    std::vector<Entry> entries;
    std::vector<double> factors, z, g, q, u, side;
    index n = 0;

    void begin(index K) {
        if (index(z.size()) >= K) return;
        for (auto* one : {&z, &g, &q, &u, &side}) one->resize(K);
    }
    void reserve(index entries_more, index K) {
        if (index(entries.size()) < entries_more) entries.resize(entries_more + entries_more / 2);
        if (index(factors.size()) < entries_more * K) factors.resize(entries.size() * K);
    }
};

thread_local Room room;

double logistic(double z) {
    const double small = std::exp(-std::fabs(z));
    return (z >= 0 ? 1 : small) / (1 + small);
}

// How far the log loss moves m = y z by a step of size h: d + E (e^d - 1) = h, E = e^m. Steps of Halley from above: from
// the root without the cubic and higher terms of e^d, or from that without the linear one.
double log_step(double E, double h) {
    const double straight = 1 + E;
    double d = 2 * h / (straight + std::sqrt(straight * straight + 2 * E * h));
    if (h > E) d = std::fmin(d, std::log1p(h / E));
    for (int i = h > 1 ? 3 : 1; i; --i) {
        const double more = std::expm1(d), bend = E * (more + 1), slope = 1 + bend, f = d + E * more - h;
        d -= 2 * f * slope / (2 * slope * slope - f * bend);
    }
    return d > 0 ? d : 0;
}

// The loss of the row, and g_k and the side of each output: t_k z_k, positive where it is right.
double look(const Coordinates& c, const double* t, Room& r) {
    double total = 0;
    if (c.loss == Loss::softmax) {
        const index i = index(*t);
        double top = -infinity, rival = -infinity, sum = 0;
        for (index k = 0; k < c.K; ++k) {
            if (r.z[k] > top) top = r.z[k];
            if (k != i && r.z[k] > rival) rival = r.z[k];
        }
        for (index k = 0; k < c.K; ++k) sum += r.g[k] = std::exp(r.z[k] - top);
        for (index k = 0; k < c.K; ++k) r.g[k] = r.g[k] / sum - double(k == i);
        r.side[0] = r.z[i] - rival;
        return std::log(sum) - (r.z[i] - top);
    }
    for (index k = 0; k < c.K; ++k) {
        const double z = r.z[k];
        if (c.loss == Loss::logistic) {
            const double y = t[k] > 0 ? 1 : -1, m = y * z, e = std::exp(-std::fabs(m));
            r.g[k] = -y * (m >= 0 ? e : 1) / (1 + e);
            r.side[k] = m;
            total += std::log1p(e) + (m < 0 ? -m : 0);
            continue;
        }
        const bool tanh = c.loss == Loss::tanh_squared, bits = c.loss == Loss::sigmoid_squared;
        const double phi = tanh ? std::tanh(z) : bits ? logistic(z) : z, e = t[k] - phi;
        r.g[k] = -e * (tanh ? 1 - phi * phi : bits ? phi * (1 - phi) : 1);
        r.side[k] = (bits ? 2 * t[k] - 1 : t[k]) * z;
        total += e * e / 2;
    }
    return total;
}

// u_k: by how much the step of size h along q moves the weights of an output; z moves by q u.
double step(const Coordinates& c, double z, double g, double h, double q) {
    if (g == 0 || h * q < small_step) return -h * g;
    switch (c.loss) {
        case Loss::logistic: {
            const double p = std::fabs(g);  // of the other class: e^m = (1 - p) / p
            return -std::copysign(log_step((1 - p) / p, h * q) / q, g);
        }
        case Loss::softmax: {
            const double p = g < 0 ? 1 + g : g;  // g is p, or p - 1 for the class of the row
            return -h * g / (1 + h * q * p * (1 - p));
        }
        case Loss::tanh_squared:
        case Loss::sigmoid_squared: {
            const double phi = c.loss == Loss::tanh_squared ? std::tanh(z) : logistic(z);
            const double slope = c.loss == Loss::tanh_squared ? 1 - phi * phi : phi * (1 - phi);
            return -h * g / (1 + h * q * slope * slope);
        }
        default: return g * std::expm1(-h * q) / q;
    }
}

[[gnu::noinline]] void outputs(const Coordinates& c, Room& r) {
    const index pace = c.pace();
    for (index k = 0; k < c.K; ++k) {
        double even = 0, odd = 0;
        index i = 0;
        for (; i + 2 <= r.n; i += 2) {
            even += r.entries[i].x * r.entries[i].at[1 + k * pace];
            odd += r.entries[i + 1].x * r.entries[i + 1].at[1 + k * pace];
        }
        if (i < r.n) even += r.entries[i].x * r.entries[i].at[1 + k * pace];
        r.z[k] = even + odd;
    }
}

// Makes s_j at least |x_j|, in new units of its weights.
void widen(const Coordinates& c, double* at, double size) {
    const double ratio = *at / size;
    for (index k = 0; *at > 0 && k < c.K; ++k) {
        double* const own = at + 1 + k * c.pace();
        own[0] *= ratio;
        own[1] *= ratio * ratio;
        if (c.held) own[2] *= ratio;
    }
    *at = size;
}

// Takes the row into G, N and Q; returns m, and q of each output.
template <bool alone>
double gather(const Coordinates& c, double weight, Room& r) {
    const index K = alone ? 1 : c.K, pace = c.pace();
    double norm = 0;
    for (index k = 0; k < K; ++k) {
        r.q[k] = 0;
        r.u[k] = weight * r.g[k] * r.g[k];
    }
    const double square = r.u[0];
    double first = 0;
    for (index i = 0; i < r.n; ++i) {
        const auto [x, at] = r.entries[i];
        const double size = std::fabs(x);
        if (size > *at) [[unlikely]]
            widen(c, at, size > least ? size : least);
        const double s = *at, part = s == 1 ? x : x / s, part2 = part * part;  // divisions are most of the time
        const double pull = s == 1 ? part : part / s;  // first, as s sqrt(G) may be too small for a number
        norm += part2;
        for (index k = 0; k < K; ++k) {
            double& G = at[2 + k * pace];
            G += (alone ? square : r.u[k]) * part2;
            const double factor = G > 0 ? pull / std::sqrt(G) : 0;
            r.factors[i * K + k] = factor;
            (alone ? first : r.q[k]) += x * factor;
        }
    }
    if (alone) r.q[0] = first;
    c.tally->spare += weight;
    c.tally->curves += weight * norm;
    const double m = c.tally->curves > 0 ? std::sqrt(c.tally->spare / c.tally->curves) : 1;
    for (index k = 0; k < K; ++k) r.q[k] *= m;
    return m;
}

// The weights of a coordinate that is penalised.
void settle(const Coordinates& c, double* own, double s, double part, double u, double m) {
    const double H = std::sqrt(own[1]) / (rate * m), a = own[2] + u / rate * part + H * (own[0] * s);
    const double times = 1 + c.tally->hold, size = std::fabs(a) - times * c.l1 / s;
    const double w = size > 0 ? std::copysign(size, a) / (H + times * c.penalty / s / s) : 0;
    own[0] = w / s;
    own[2] = a - H * w;
}

template <bool alone>
void spread(const Coordinates& c, double m, const Room& r) {
    const index K = alone ? 1 : c.K, pace = c.pace();
    const double gain = m * r.u[0];
    for (index i = 0; i < r.n; ++i) {
        const auto [x, at] = r.entries[i];
        for (index k = 0; k < K; ++k) {
            double* const own = at + 1 + k * pace;
            if (c.held && at != c.state)
                settle(c, own, *at, x / *at, r.u[k], m);
            else
                own[0] += (alone ? gain : m * r.u[k]) * r.factors[i * K + k];
        }
    }
}

// Takes the weights of the row's coordinates into their sums, for the rows since `last` up to and including row n.
void sum_up(const Coordinates& c, double n, const Room& r) {
    const index pace = c.pace();
    for (index i = 0; i < r.n; ++i) {
        double* const at = r.entries[i].at;
        double& last = at[c.last()];
        for (index k = 0; k < c.K; ++k) at[(k + 1) * pace] += (n - last) * at[1 + k * pace];
        last = n;
    }
}

// Takes a row whose entries are in the room; false where it ends the scan.
[[gnu::noinline]] bool take(const Coordinates& c, const double* t, double weight, double square, Room& r) {
    Tally& tally = *c.tally;
    const auto stop = [&](ScanState state) {
        tally.status = double(state);
        return false;
    };
    double energy = 0, largest = 0;
    bool usable = square < infinity && (c.loss != Loss::softmax || (*t >= 0 && *t < double(c.K)));
    for (index k = 0; k < c.T; ++k) {
        usable &= std::fabs(t[k]) < infinity;
        energy += t[k] * t[k];
        largest = std::fmax(largest, t[k] * t[k]);
    }
    if (!usable) return stop(ScanState::not_finite);
    const double loss = look(c, t, r);
    if (!(loss < infinity)) return stop(ScanState::diverged);
    if (c.loss == Loss::squared && largest > tally.reach) tally.reach = largest;
    const bool numbers = c.loss == Loss::squared;
    const double unit = numbers ? tally.reach : 1, eta = rate * weight * std::sqrt(unit);
    double slopes = 0;
    for (index k = 0; k < c.K; ++k) slopes += r.g[k] * r.g[k];
    if (slopes > (numbers ? 0 : silent)) {
        if (c.averaged) sum_up(c, tally.steps, r);
        const double m = c.K == 1 ? gather<true>(c, weight, r) : gather<false>(c, weight, r);
        for (index k = 0; k < c.K; ++k) r.u[k] = step(c, r.z[k], r.g[k], eta, r.q[k]);
        c.K == 1 ? spread<true>(c, m, r) : spread<false>(c, m, r);
        if (c.averaged) sum_up(c, tally.steps + 1, r);
    }
    tally.steps += 1;
    tally.weight += weight;
    tally.loss += weight * loss;
    tally.squares += weight * square;
    tally.largest = std::fmax(tally.largest, square);
    const index sides = c.loss == Loss::softmax ? 1 : c.K;
    for (index k = 0; k < sides; ++k) {
        tally.mistakes += r.side[k] <= 0;
        tally.margin = std::fmin(tally.margin, r.side[k]);
    }
    tally.updates += double(c.K);
    tally.energy += weight * energy;
    return true;
}

template <class Rows>
void scan(const Coordinates& c, const Rows& rows, const Targets& y, const Visits& v) {
    Room& r = room;
    r.begin(c.K);
    for (index i = 0; i < v.count; ++i) {
        if (i + ahead < v.count) rows.ask(c, i + ahead);
        const index row = v.order ? v.order[i] : i;
        const double weight = y.weight ? y.weight[row] : 1;
        if (weight == 0 && !v.outputs) continue;
        double square = c.one;
        r.n = 0;
        r.reserve(1 + rows.size(i), c.K);
        if (c.one != 0) r.entries[r.n++] = {c.one, c.state};
        const bool within = rows.pack(c, i, r, square);
        if (!within) c.tally->status = double(ScanState::stray_index);
        if (within) {
            outputs(c, r);
            if (v.outputs)
                for (index k = 0; k < c.K; ++k) v.outputs[i * c.K + k] = r.z[k];
        }
        if (within && weight == 0) continue;
        if (!within || !take(c, y.t + row * c.T, weight, square, r)) {
            c.tally->stopped = double(i);
            return;
        }
    }
}

// Adds an entry; zeros are none.
inline void add(const Coordinates& c, Room& r, double& square, index j, double x) {
    if (x == 0) return;
    square += x * x;
    r.entries[r.n++] = {x, c.state + (1 + j) * c.width};
}

template <class T, class Index>
struct Stored {
    const T* data;
    const Index* indices;
    const void* indptr;
    bool short_indptr;
    const index* chosen;

    index start(index row) const {
        return short_indptr ? static_cast<const std::int32_t*>(indptr)[row] : static_cast<const std::int64_t*>(indptr)[row];
    }
    index first(index i) const { return start(chosen ? chosen[i] : i); }
    index last(index i) const { return start((chosen ? chosen[i] : i) + 1); }
    index size(index i) const { return last(i) - first(i); }

    void ask(const Coordinates& c, index i) const {
        for (index k = first(i), end = last(i); k < end; ++k)
            __builtin_prefetch(c.state + (1 + index(indices[k])) * c.width, 1);
    }

    bool pack(const Coordinates& c, index i, Room& r, double& square) const {
        for (index k = first(i), end = last(i); k < end; ++k) {
            if (indices[k] < 0 || index(indices[k]) >= c.D) return false;
            add(c, r, square, indices[k], double(data[k]));
        }
        return true;
    }
};

template <class T>
struct Filled {
    const Dense& x;

    index size(index) const { return x.columns; }
    void ask(const Coordinates&, index) const {}

    bool pack(const Coordinates& c, index i, Room& r, double& square) const {
        const index row = x.chosen ? x.chosen[i] : i;
        for (index j = 0; j < x.columns; ++j)
            add(c, r, square, j,
                double(x.heads ? static_cast<const T*>(x.heads[j])[row]
                               : static_cast<const T*>(x.x)[row * x.down + j * x.across]));
        return true;
    }
};

template <class T, class Index>
void scan_stored(const Coordinates& c, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    scan(c, Stored<T, Index>{static_cast<const T*>(x.data), static_cast<const Index*>(x.indices), x.indptr, x.short_indptr, chosen},
         y, v);
}

}  // namespace

void scan_coordinates(const Coordinates& c, const Dense& x, const Targets& y, const Visits& v) {
    x.single ? scan(c, Filled<float>{x}, y, v) : scan(c, Filled<double>{x}, y, v);
}

void scan_coordinates(const Coordinates& c, const Sparse& x, const index* chosen, const Targets& y, const Visits& v) {
    (x.single ? (x.short_indices ? scan_stored<float, std::int32_t> : scan_stored<float, std::int64_t>)
              : (x.short_indices ? scan_stored<double, std::int32_t> : scan_stored<double, std::int64_t>))(c, x, chosen, y, v);
}

void scan_pairs(const Coordinates& c, const index* columns, const double* x, index n, const double* t, double* outputs) {
    const index starts[] = {0, n};
    scan(c, Stored<double, index>{x, columns, starts, false, nullptr}, {t, c.T, nullptr}, {1, nullptr, nullptr, outputs});
}

}  // namespace adaline
