// adaline._native, continued: the sums of likelihoods.

#include "arrays.hpp"
#include "objectives.hpp"

using namespace nanobind::literals;

namespace adaline {
namespace {

Machines machines(const Reals& theta, const Reals& scale, const Reals& offset, index D) {
    require(theta.ndim() == 2 && theta.shape(0) >= 1 && index(theta.shape(1)) == 1 + D, "theta must be (K, 1 + D)");
    require(index(scale.size()) == D && index(offset.size()) == D, "a view must have D numbers");
    return {index(theta.shape(0)), theta.data(), scale.data(), offset.data()};
}

// Checks the targets against the machines, and the room against what will be added to it.
Likelihood likelihood(Loss loss, double parameter, const Reals& t, const Maybe& weight, index rows, index K) {
    const Targets y = targets(t, weight, rows);
    require(y.K == (loss == Loss::softmax ? 1 : K), "t must have a column for each output, or one of classes");
    return {loss, parameter, y};
}

index sums_size(Loss loss, index K, index D, Second second) {
    require(second != Second::all || loss == Loss::softmax, "second derivatives of all machines must be of the softmax");
    const index squares = second == Second::none ? 0 : second == Second::alone ? 1 : K;
    return (loss == Loss::softmax ? 1 : K) + K * (1 + D) * (1 + squares * (1 + D));
}

void check(const Buffer& sums, index size) { require(index(sums.size()) == size, "sums have the wrong size"); }

void objective_dense(const Buffer& sums, nb::handle x, Loss loss, double parameter, const Reals& t, const Maybe& weight,
                     const Reals& theta, const Reals& scale, const Reals& offset, Second second) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Machines m = machines(theta, scale, offset, rows.columns);
    const Likelihood rated = likelihood(loss, parameter, t, weight, rows.rows, m.K);
    check(sums, sums_size(loss, m.K, rows.columns, second));
    const nb::gil_scoped_release unlocked;
    active->objectives->objective_dense(sums.data(), rows, rated, m, second);
}

void objective_csr(const Buffer& sums, const Vector& data, const Vector& indices, const Vector& indptr, Loss loss,
                   double parameter, const Reals& t, const Maybe& weight, const Reals& theta, const Reals& scale,
                   const Reals& offset, Second second,
                   const Shorts& units, const Shorts& starts) {
    const Sparse numbers = sparse(data, indices, indptr, index(scale.size()));
    const Machines m = machines(theta, scale, offset, numbers.columns);
    const Sparse rows = with_units(numbers, units, starts, m.K);
    const Likelihood rated = likelihood(loss, parameter, t, weight, rows.rows, m.K);
    check(sums, sums_size(loss, m.K, rows.columns, second));
    require(!units || second == Second::none, "second derivatives of rows with units apart are not known");
    const nb::gil_scoped_release unlocked;
    active->objectives->objective_csr(sums.data(), rows, rated, m, second);
}

void product_dense(const Buffer& sums, nb::handle x, Loss loss, double parameter, const Reals& t, const Maybe& weight,
                   const Reals& theta, const Reals& scale, const Reals& offset, const Reals& direction) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Machines m = machines(theta, scale, offset, rows.columns);
    const Likelihood rated = likelihood(loss, parameter, t, weight, rows.rows, m.K);
    check(sums, m.K * (1 + rows.columns));
    require(direction.size() == theta.size(), "a direction must be like theta");
    const nb::gil_scoped_release unlocked;
    active->objectives->product_dense(sums.data(), rows, rated, m, direction.data());
}

void product_csr(const Buffer& sums, const Vector& data, const Vector& indices, const Vector& indptr, Loss loss,
                 double parameter, const Reals& t, const Maybe& weight, const Reals& theta, const Reals& scale,
                 const Reals& offset, const Reals& direction,
                 const Shorts& units, const Shorts& starts) {
    const Sparse numbers = sparse(data, indices, indptr, index(scale.size()));
    const Machines m = machines(theta, scale, offset, numbers.columns);
    const Sparse rows = with_units(numbers, units, starts, m.K);
    const Likelihood rated = likelihood(loss, parameter, t, weight, rows.rows, m.K);
    check(sums, m.K * (1 + rows.columns));
    require(direction.size() == theta.size(), "a direction must be like theta");
    const nb::gil_scoped_release unlocked;
    active->objectives->product_csr(sums.data(), rows, rated, m, direction.data());
}

void margins_dense(const Buffer& z, nb::handle x, const Reals& theta, const Reals& scale, const Reals& offset) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Machines m = machines(theta, scale, offset, rows.columns);
    check(z, rows.rows * m.K);
    const nb::gil_scoped_release unlocked;
    active->objectives->margins_dense(z.data(), rows, m);
}

void margins_csr(const Buffer& z, const Vector& data, const Vector& indices, const Vector& indptr, const Reals& theta,
                 const Reals& scale, const Reals& offset,
                 const Shorts& units, const Shorts& starts) {
    const Sparse numbers = sparse(data, indices, indptr, index(scale.size()));
    const Machines m = machines(theta, scale, offset, numbers.columns);
    const Sparse rows = with_units(numbers, units, starts, m.K);
    check(z, rows.rows * m.K);
    const nb::gil_scoped_release unlocked;
    active->objectives->margins_csr(z.data(), rows, m);
}

// Slopes and curvatures (n, K), and sums of gradient and hessian.
Machines rates(const Buffer& sums, const Reals& slope, const Maybe& curvature, const Reals& scale, const Reals& offset,
               index rows, index D) {
    require(slope.ndim() == 2 && index(slope.shape(0)) == rows, "slopes must be (n, K)");
    require(!curvature || curvature->size() == slope.size(), "curvatures must be like slopes");
    require(index(scale.size()) == D && index(offset.size()) == D, "a view must have D numbers");
    const index K = index(slope.shape(1));
    check(sums, K * (1 + D) * (curvature ? 2 + D : 1));
    return {K, nullptr, scale.data(), offset.data()};
}

void gather_dense(const Buffer& sums, nb::handle x, const Reals& slope, const Maybe& curvature, const Reals& scale,
                  const Reals& offset) {
    const Rows held(x);
    const Dense& rows = held.dense;
    const Machines m = rates(sums, slope, curvature, scale, offset, rows.rows, rows.columns);
    const nb::gil_scoped_release unlocked;
    active->objectives->gather_dense(sums.data(), rows, m, slope.data(), curvature ? curvature->data() : nullptr);
}

void gather_csr(const Buffer& sums, const Vector& data, const Vector& indices, const Vector& indptr, const Reals& slope,
                const Maybe& curvature, const Reals& scale, const Reals& offset,
                const Shorts& units, const Shorts& starts) {
    const Sparse numbers = sparse(data, indices, indptr, index(scale.size()));
    const Machines m = rates(sums, slope, curvature, scale, offset, numbers.rows, numbers.columns);
    const Sparse rows = with_units(numbers, units, starts, m.K);
    require(!units || !curvature, "second derivatives of rows with units apart are not known");
    const nb::gil_scoped_release unlocked;
    active->objectives->gather_csr(sums.data(), rows, m, slope.data(), curvature ? curvature->data() : nullptr);
}

double spread_dense(const Buffer& sums, nb::handle x, const Maybe& weight) {
    const Rows held(x);
    const Dense& rows = held.dense;
    check(sums, 3 * rows.columns);
    require(!weight || index(weight->size()) == rows.rows, "weight must have one number for each row of x");
    const nb::gil_scoped_release unlocked;
    return active->objectives->spread_dense(sums.data(), rows, weight ? weight->data() : nullptr);
}

}  // namespace

void bind_objectives(nb::module_& m) {
    const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
    const auto optional = [](const char* name) { return nb::arg(name).noconvert().none(); };
    const auto missing = [](const char* name) { return nb::arg(name).noconvert().none() = nb::none(); };
    m.def("objective_dense", &objective_dense, array("sums"), "x"_a, "loss"_a, "parameter"_a, array("t"),
          optional("weight"), array("theta"), array("scale"), array("offset"), "second"_a);
    m.def("objective_csr", &objective_csr, array("sums"), array("data"), array("indices"), array("indptr"), "loss"_a,
          "parameter"_a, array("t"), optional("weight"), array("theta"), array("scale"), array("offset"), "second"_a,
          missing("units"), missing("starts"));
    m.def("product_dense", &product_dense, array("sums"), "x"_a, "loss"_a, "parameter"_a, array("t"),
          optional("weight"), array("theta"), array("scale"), array("offset"), array("direction"));
    m.def("product_csr", &product_csr, array("sums"), array("data"), array("indices"), array("indptr"), "loss"_a,
          "parameter"_a, array("t"), optional("weight"), array("theta"), array("scale"), array("offset"),
          array("direction"), missing("units"), missing("starts"));
    m.def("margins_dense", &margins_dense, array("z"), "x"_a, array("theta"), array("scale"), array("offset"));
    m.def("margins_csr", &margins_csr, array("z"), array("data"), array("indices"), array("indptr"), array("theta"),
          array("scale"), array("offset"), missing("units"), missing("starts"));
    m.def("gather_dense", &gather_dense, array("sums"), "x"_a, array("slope"), optional("curvature"), array("scale"),
          array("offset"));
    m.def("gather_csr", &gather_csr, array("sums"), array("data"), array("indices"), array("indptr"), array("slope"),
          optional("curvature"), array("scale"), array("offset"), missing("units"), missing("starts"));
    m.def("spread_dense", &spread_dense, array("sums"), "x"_a, optional("weight"));
}

}  // namespace adaline
