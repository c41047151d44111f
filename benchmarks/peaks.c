/* What the processor can do: numbers read a second, and fused multiply-adds a second, by one thread.
 * Compiled by benchmarks/roofline.py with -O3 -march=native; GCC and Clang split the vectors as the machine needs. */

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double vec __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

static double across(vec a) {
    double out = 0;
    for (int l = 0; l < LANES; ++l) out += a[l];
    return out;
}

double read_all(const double *x, long n) {
    vec a = {}, b = {}, c = {}, d = {};
    for (long i = 0; i + 4 * LANES <= n; i += 4 * LANES) {
        a += *(const vec *)(x + i);
        b += *(const vec *)(x + i + LANES);
        c += *(const vec *)(x + i + 2 * LANES);
        d += *(const vec *)(x + i + 3 * LANES);
    }
    return across((a + b) + (c + d));
}

/* Ten chains, as a unit begins a multiply-add before the last one is done; returns how many a step are made. */
long chains(void) { return 10 * LANES; }

double multiply_add(long steps) {
    const vec half = (vec){} + 0.5, one = (vec){} + 1.0;
    vec a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {}, i = {}, j = {};
    for (long step = 0; step < steps; ++step) {
        a = a * half + one;
        b = b * half + one;
        c = c * half + one;
        d = d * half + one;
        e = e * half + one;
        f = f * half + one;
        g = g * half + one;
        h = h * half + one;
        i = i * half + one;
        j = j * half + one;
    }
    return across(((a + b) + (c + d)) + ((e + f) + (g + h)) + (i + j));
}
