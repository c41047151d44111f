// adaline._native: checks shapes and types, then runs a kernel without the interpreter lock.

#include <nanobind/stl/string.h>

#include <cstdlib>
#include <string>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace adaline {

const Kernels* active = nullptr;

namespace {

std::vector<const Kernels*> usable() {
    std::vector<const Kernels*> sets{&baseline::kernels};
#if defined(ADALINE_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&avx2::kernels);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        sets.push_back(&avx512::kernels);
#endif
    return sets;
}

const Kernels* find(const std::string& name) {
    for (const Kernels* set : usable())
        if (name == set->isa) return set;
    throw nb::value_error(("instruction set '" + name + "' is not usable on this machine").c_str());
}

const Kernels* preferred() {
    const char* const name = std::getenv("ADALINE_ISA");
    return name && *name ? find(name) : usable().back();
}

index state_size(index q) { return 3 + (4 + q) * q; }

Model model(const Buffer& g, const Reals& hi, const Reals& lo, const Reals& exponent, index D, index K) {
    require(index(hi.size()) == K * (1 + D) && index(lo.size()) == K * (1 + D), "theta must be (K, 1 + D)");
    require(index(exponent.size()) == D + K, "exponent must have D + K numbers");
    require(index(g.size()) == K * (D + 2) * 2, "g must be (K, D + 2, 2)");
    return {hi.data(), lo.data(), exponent.data()};
}

void check_state(const Buffer& state, index q) {
    require(index(state.size()) == state_size(q), "state has the wrong size");
}

bool moments_dense(const Buffer& state, index D, index K, nb::handle x, const Reals& t, const Maybe& weight,
                   bool centred, const Maybe& exponent, const Chosen& chosen) {
    const Rows held(x, chosen);
    const Dense& rows = held.dense;
    const Targets y = targets(t, weight, rows.rows);
    require(rows.columns == D && y.K == K, "x must have D columns and t K columns");
    require(!exponent || index(exponent->size()) == D + K, "exponent must have D + K numbers");
    check_state(state, D + K);
    const nb::gil_scoped_release unlocked;
    return active->moments_dense(state.data(), rows, y, centred, exponent ? exponent->data() : nullptr);
}

bool moments_csr(const Buffer& state, index D, index K, const Vector& data, const Vector& indices,
                 const Vector& indptr, const Reals& t, const Maybe& weight, const Reals& exponent) {
    const Sparse rows = sparse(data, indices, indptr, D);
    const Targets y = targets(t, weight, rows.rows);
    require(y.K == K, "t must have K columns");
    require(index(exponent.size()) == D + K, "exponent must have D + K numbers");
    check_state(state, D + K);
    const nb::gil_scoped_release unlocked;
    return active->moments_csr(state.data(), rows, y, exponent.data());
}

void moments_merge(const Buffer& a, const Reals& b, index D, index K) {
    check_state(a, D + K);
    require(a.size() == b.size(), "states differ in size");
    const nb::gil_scoped_release unlocked;
    active->moments_merge(a.data(), b.data(), D + K);
}

void moments_subtract(const Buffer& a, const Reals& b, index D, index K) {
    check_state(a, D + K);
    require(a.size() == b.size(), "states differ in size");
    const nb::gil_scoped_release unlocked;
    active->moments_subtract(a.data(), b.data(), D + K);
}

void residual_dense(const Buffer& g, nb::handle x, const Reals& t, const Maybe& weight, const Reals& hi,
                    const Reals& lo, const Reals& exponent) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Targets y = targets(t, weight, rows.rows);
    const Model theta = model(g, hi, lo, exponent, rows.columns, y.K);
    const nb::gil_scoped_release unlocked;
    active->residual_dense(g.data(), rows, y, theta);
}

void residual_csr(const Buffer& g, const Vector& data, const Vector& indices, const Vector& indptr,
                  const Reals& t, const Maybe& weight, const Reals& hi, const Reals& lo,
                  const Reals& exponent) {
    require(t.ndim() == 2, "t must be (n, K)");
    const index K = index(t.shape(1)), D = index(exponent.size()) - K;
    const Sparse rows = sparse(data, indices, indptr, D);
    const Targets y = targets(t, weight, rows.rows);
    const Model theta = model(g, hi, lo, exponent, D, K);
    const nb::gil_scoped_release unlocked;
    active->residual_csr(g.data(), rows, y, theta);
}

View view(const Reals& scale, const Reals& offset, index D) {
    require(index(scale.size()) == D && index(offset.size()) == D, "scale and offset must have D numbers");
    return {scale.data(), offset.data()};
}

void clusters_dense(const Buffer& sums, nb::handle x, const Maybe& weight, const Reals& points, const Reals& scale,
                    const Reals& offset, const std::optional<Buffer>& nearest) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const index D = rows.columns;
    require(points.ndim() == 2 && points.shape(0) >= 1 && index(points.shape(1)) == D, "points must be (K, D)");
    const index K = index(points.shape(0));
    require(index(sums.size()) == K * (2 + D), "sums must be (K, 2 + D)");
    require(!weight || index(weight->size()) == rows.rows, "weight must have one number for each row of x");
    require(!nearest || index(nearest->size()) == 2 * rows.rows, "nearest must be (n, 2)");
    const View seen = view(scale, offset, D);
    const nb::gil_scoped_release unlocked;
    active->clusters_dense(sums.data(), rows, weight ? weight->data() : nullptr, points.data(), K, seen,
                           nearest ? nearest->data() : nullptr);
}

void mixture_dense(const Buffer& sums, nb::handle x, const Maybe& weight, const Reals& constants, const Reals& means,
                   const Reals& factors, const Reals& scale, const Reals& offset) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const index D = rows.columns, K = index(constants.size()), side = 1 + D;
    const bool whole = factors.ndim() == 3;
    require(K >= 1 && index(means.size()) == K * D, "means must be (K, D)");
    require(index(factors.size()) == K * D * (whole ? D : 1), "factors must be (K, D, D) or (K, D)");
    require(index(sums.size()) == 1 + K * (whole ? side * side : side + D), "sums have the wrong size");
    require(!weight || index(weight->size()) == rows.rows, "weight must have one number for each row of x");
    const View seen = view(scale, offset, D);
    const nb::gil_scoped_release unlocked;
    active->mixture_dense(sums.data(), rows, weight ? weight->data() : nullptr, constants.data(), means.data(),
                          factors.data(), K, whole, seen);
}

void twofold_exp(const Buffer& hi, const Buffer& lo) {
    require(hi.size() == lo.size(), "hi and lo must have one size");
    const nb::gil_scoped_release unlocked;
    active->twofold_exp(hi.data(), lo.data(), index(hi.size()));
}

void twofold_outputs(const Buffer& z, const Reals& v, const Reals& hi, const Reals& lo, const Reals& offset) {
    require(v.ndim() == 2, "v must be (1 + D, n)");
    const index terms = index(v.shape(0)), n = index(v.shape(1));
    require(index(hi.size()) == terms && index(lo.size()) == terms, "theta must have 1 + D numbers");
    require(index(z.size()) == 2 * n && index(offset.size()) == n, "z must be (2, n), offset (n,)");
    const nb::gil_scoped_release unlocked;
    active->twofold_outputs(z.data(), v.data(), hi.data(), lo.data(), offset.data(), terms, n);
}

double descend(const Reals& H, const Buffer& g, const Buffer& w, const Reals& l1, index sweeps, double enough) {
    const index M = index(g.size());
    require(index(H.size()) == M * M && index(w.size()) == M && index(l1.size()) == M, "H must be (M, M), all else (M,)");
    const nb::gil_scoped_release unlocked;
    return active->descend(H.data(), M, g.data(), w.data(), l1.data(), sweeps, enough);
}

// Every list of codes.hpp as an enum in Python.
void bind_codes(nb::module_& m) {
#define ADALINE_VALUE(name) members.value(#name, Code::name);
#define ADALINE_ENUM(Enum, LIST)                  \
    {                                             \
        using Code = Enum;                        \
        nb::enum_<Code> members(m, #Enum);        \
        LIST(ADALINE_VALUE)                       \
    }
    ADALINE_ENUM(Loss, ADALINE_LOSSES)
    ADALINE_ENUM(Rule, ADALINE_RULES)
    ADALINE_ENUM(Schedule, ADALINE_SCHEDULES)
    ADALINE_ENUM(TallyIndex, ADALINE_TALLIES)
    ADALINE_ENUM(ScanState, ADALINE_STATES)
    ADALINE_ENUM(Second, ADALINE_SECONDS)
    ADALINE_ENUM(MomentMode, ADALINE_MODES)
    ADALINE_ENUM(GroupState, ADALINE_GROUP_STATES)
#undef ADALINE_ENUM
#undef ADALINE_VALUE
}

}  // namespace
}  // namespace adaline

NB_MODULE(_native, m) {
    using namespace adaline;
    active = preferred();
    bind_codes(m);

    m.def("isa", [] { return std::string(active->isa); });
    m.def("isas", [] {
        std::vector<std::string> names;
        for (const Kernels* set : usable()) names.emplace_back(set->isa);
        return names;
    });
    m.def("use_isa", [](const std::string& name) { active = find(name); }, "name"_a);

    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    m.def("moments_dense", &moments_dense, array("state"), "D"_a, "K"_a, "x"_a, array("t"),
          optional("weight"), "centred"_a, optional("exponent"), optional("chosen") = nb::none());
    m.def("moments_csr", &moments_csr, array("state"), "D"_a, "K"_a, array("data"), array("indices"),
          array("indptr"), array("t"), optional("weight"), array("exponent"));
    m.def("moments_merge", &moments_merge, array("a"), array("b"), "D"_a, "K"_a);
    m.def("moments_subtract", &moments_subtract, array("a"), array("b"), "D"_a, "K"_a);
    m.def("residual_dense", &residual_dense, array("g"), "x"_a, array("t"), optional("weight"),
          array("theta_hi"), array("theta_lo"), array("exponent"));
    m.def("residual_csr", &residual_csr, array("g"), array("data"), array("indices"), array("indptr"),
          array("t"), optional("weight"), array("theta_hi"), array("theta_lo"), array("exponent"));
    m.def("clusters_dense", &clusters_dense, array("sums"), "x"_a, optional("weight"), array("points"), array("scale"),
          array("offset"), optional("nearest"));
    m.def("mixture_dense", &mixture_dense, array("sums"), "x"_a, optional("weight"), array("constants"),
          array("means"), array("factors"), array("scale"), array("offset"));

    m.def("twofold_exp", &twofold_exp, array("hi"), array("lo"));
    m.def("twofold_outputs", &twofold_outputs, array("z"), array("v"), array("theta_hi"), array("theta_lo"), array("offset"));
    m.def("descend", &descend, array("H"), array("g"), array("w"), array("l1"), "sweeps"_a, "enough"_a);

    bind_scans(m);
    bind_coordinates(m);
    bind_objectives(m);
    bind_refinement(m);
    bind_effects(m);
    bind_groups(m);
    bind_smooths(m);
    bind_texts(m);
    bind_sparse_lines(m);
}
