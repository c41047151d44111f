// See coordinates.hpp. One form for all instruction sets: its time goes to memory, divisions and roots.

#include "coordinates.hpp"

#include <cmath>
#include <limits>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace adaline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rate = 0.5;         // eta, times the width of outputs
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

// Whether sigmoids take steps of the log likelihood, as they do in the first epoch.
bool likelihood(const Coordinates& c) { return c.tally->hold == 0; }

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
        const double phi = tanh ? std::tanh(z) : bits ? logistic(z) : z, e = t[k] - phi, y = bits ? 2 * t[k] - 1 : t[k];
        r.g[k] = -e * (tanh ? 1 - phi * phi : bits ? 4 * phi * (1 - phi) : 1);
        if ((tanh || bits) && likelihood(c)) r.g[k] = phi - (y > 0 ? 1 : tanh ? -1 : 0);
        r.side[k] = y * z;
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
            const bool tanh = c.loss == Loss::tanh_squared;
            if (likelihood(c)) {
                const double wide = tanh ? 2 : 1, p = std::fabs(g) / wide;
                return -std::copysign(log_step((1 - p) / p, wide * wide * h * q) / (wide * q), g);
            }
            const double phi = tanh ? std::tanh(z) : logistic(z), slope = tanh ? 1 - phi * phi : phi * (1 - phi);
            return -h * g / (1 + h * q * (tanh ? slope : 4 * slope) * slope);
        }
        default: return g * std::expm1(-h * q) / q;
    }
}

// What eta is a multiple of: the largest |t| so far, or the width of the sigmoid beside that of tanh.
double width_of(const Coordinates& c) {
    switch (c.loss) {
        case Loss::squared: return std::sqrt(c.tally->reach);
        case Loss::sigmoid_squared: return 2;  // tanh z is that of 2 z
        default: return 1;
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

// Counts the row in N and Q; returns m.
double mean_size(const Coordinates& c, double weight, double norm) {
    c.tally->spare += weight;
    c.tally->curves += weight * norm;
    return c.tally->curves > 0 ? std::sqrt(c.tally->spare / c.tally->curves) : 1;
}

using Pair = double __attribute__((vector_size(16)));

inline Pair roots(Pair x) {
#ifdef __SSE2__
    return _mm_sqrt_pd(x);
#else
    return Pair{std::sqrt(x[0]), std::sqrt(x[1])};
#endif
}

// Takes a coordinate of a row into the units s; returns x / s, and sets pull = x / s^2.
inline double in_units(const Coordinates& c, const Entry& entry, double& pull) {
    const auto [x, at] = entry;
    const double size = std::fabs(x);
    if (size > *at) [[unlikely]]
        widen(c, at, size > least ? size : least);
    const double s = *at, part = s == 1 ? x : x / s;
    pull = s == 1 ? part : part / s;  // before it is divided by sqrt(G), as s sqrt(G) may be too small for a number
    return part;
}

// Takes the row into G, N and Q; returns m, and q of each output.
double gather(const Coordinates& c, double weight, Room& r) {
    const index K = c.K, pace = c.pace();
    double norm = 0;
    for (index k = 0; k < K; ++k) {
        r.q[k] = 0;
        r.u[k] = weight * r.g[k] * r.g[k];
    }
    for (index i = 0; i < r.n; ++i) {
        const auto [x, at] = r.entries[i];
        double pull;
        const double part = in_units(c, r.entries[i], pull), part2 = part * part;
        norm += part2;
        for (index k = 0; k < K; ++k) {
            double& G = at[2 + k * pace];
            G += r.u[k] * part2;
            const double factor = G > 0 ? pull / std::sqrt(G) : 0;
            r.factors[i * K + k] = factor;
            r.q[k] += x * factor;
        }
    }
    const double m = mean_size(c, weight, norm);
    for (index k = 0; k < K; ++k) r.q[k] *= m;
    return m;
}

// The same for one output, two coordinates at a time: roots and divisions are most of the time.
double gather_one(const Coordinates& c, double weight, Room& r) {
    const Entry* const entries = r.entries.data();
    double* const factors = r.factors.data();
    const double square = weight * r.g[0] * r.g[0];
    double norm = 0, q = 0;
    const auto take_in = [&](index i, double& pull) {
        const double part = in_units(c, entries[i], pull), part2 = part * part;
        norm += part2;
        return entries[i].at[2] += square * part2;
    };
    const auto put = [&](index i, double factor) {
        factors[i] = factor;
        q += entries[i].x * factor;
    };
    index i = 0;
    for (; i + 2 <= r.n; i += 2) {
        double first, second;
        const double G = take_in(i, first), H = take_in(i + 1, second);
        const Pair factor = Pair{G, H} > 0 ? Pair{first, second} / roots(Pair{G, H}) : Pair{};
        put(i, factor[0]);
        put(i + 1, factor[1]);
    }
    if (i < r.n) {
        double pull;
        const double G = take_in(i, pull);
        put(i, G > 0 ? pull / std::sqrt(G) : 0);
    }
    const double m = mean_size(c, weight, norm);
    r.q[0] = q * m;
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
    const double eta = rate * weight * width_of(c);
    double slopes = 0;
    for (index k = 0; k < c.K; ++k) slopes += r.g[k] * r.g[k];
    if (slopes > (numbers ? 0 : silent)) {
        if (c.averaged) sum_up(c, tally.steps, r);
        const double m = c.K == 1 ? gather_one(c, weight, r) : gather(c, weight, r);
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
        r.reserve(1 + rows.size(i), c.K);
        Entry* end = r.entries.data();
        if (c.one != 0) *end++ = {c.one, c.state};
        end = rows.pack(c, i, end, square);
        const bool within = end;
        if (!within) c.tally->status = double(ScanState::stray_index);
        if (within) {
            r.n = end - r.entries.data();
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

// Puts an entry at `to`; zeros are none. Returns where the next one is put.
inline Entry* put(const Coordinates& c, Entry* to, double& square, index j, double x) {
    *to = {x, c.state + (1 + j) * c.width};
    square += x * x;
    return to + (x != 0);
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

    // inlined: a function that does nothing else has no effect, for the compiler, and is left out
    [[gnu::always_inline]] void ask(const Coordinates& c, index i) const {
        for (index k = first(i), end = last(i); k < end; ++k)
            __builtin_prefetch(c.state + (1 + index(indices[k])) * c.width, 1);
    }

    // Puts the entries of a row, and adds their squares; returns their end, or null where one lies outside.
    Entry* pack(const Coordinates& outside, index i, Entry* to, double& square) const {
        const Coordinates c = outside;
        double sum = square;
        for (index k = first(i), end = last(i); k < end; ++k) {
            if (indices[k] < 0 || index(indices[k]) >= c.D) return nullptr;
            to = put(c, to, sum, indices[k], double(data[k]));
        }
        square = sum;
        return to;
    }
};

template <class T>
struct Filled {
    const Dense& x;

    index size(index) const { return x.columns; }
    void ask(const Coordinates&, index) const {}

    Entry* pack(const Coordinates& c, index i, Entry* to, double& square) const {
        const index row = x.chosen ? x.chosen[i] : i;
        for (index j = 0; j < x.columns; ++j)
            to = put(c, to, square, j,
                     double(x.heads ? static_cast<const T*>(x.heads[j])[row]
                                    : static_cast<const T*>(x.x)[row * x.down + j * x.across]));
        return to;
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
