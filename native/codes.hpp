// Enums of the losses, rules, schedules, tallies, states and modes that Python and the kernels share.
//
// Each list is written only here: the enums below, the enums of the same names in adaline._native, and the struct of
// tallies are generated from it. A number is the index in its list. Python uses the names.
#pragma once

namespace adaline {

#define ADALINE_LOSSES(NAME)                                                                                          \
    NAME(squared) NAME(logistic) NAME(softmax) NAME(poisson) NAME(gamma) NAME(huber) NAME(tukey) NAME(absolute)       \
    NAME(quantile) NAME(perceptron) NAME(squared_hinge) NAME(sigmoid_squared) NAME(tanh_squared) NAME(negative_binomial)

// From rls on they carry a matrix (1 + D) x (1 + D); from wide_identity on, the diagonal of one.
#define ADALINE_RULES(NAME)                                                                                           \
    NAME(lms) NAME(normalized) NAME(leaky) NAME(sign_error) NAME(sign_data) NAME(sign_sign) NAME(perceptron)          \
    NAME(kesler) NAME(sigmoid_tanh) NAME(sigmoid_logistic) NAME(softmax) NAME(rls) NAME(adaptive_identity)            \
    NAME(adaptive_tanh) NAME(adaptive_logistic) NAME(adaptive_softmax) NAME(wide_identity) NAME(wide_tanh)            \
    NAME(wide_logistic) NAME(wide_softmax)

// eta_t of a step t: eta, eta / t, eta / (1 + t / tau)^p, or a number for each row of a call.
#define ADALINE_SCHEDULES(NAME) NAME(constant) NAME(inverse) NAME(power) NAME(given)

// What a scan has seen, in doubles. The last two that have a meaning belong to the rules: whether forgetting waits
// (rls), and the sum of curvatures (adaptive).
#define ADALINE_TALLIES(NAME)                                                                                         \
    NAME(steps) NAME(weight) NAME(loss) NAME(squares) NAME(largest) NAME(mistakes) NAME(updates) NAME(margin)         \
    NAME(energy) NAME(reach) NAME(worst) NAME(status) NAME(stopped) NAME(hold) NAME(curves) NAME(spare)

// How a scan stands: the status among its tallies. Python never sees a stray index, which is an error.
#define ADALINE_STATES(NAME) NAME(running) NAME(diverged) NAME(not_finite) NAME(stray_index)

// Second derivatives that are asked for: none, those of each machine alone, or of all machines together (softmax).
#define ADALINE_SECONDS(NAME) NAME(none) NAME(alone) NAME(all)

// Second moments about the mean, or about zero.
#define ADALINE_MODES(NAME) NAME(centred) NAME(raw)

// How the fit of one group of rows ended: without a value in some row, with fewer rows than coefficients, columns left
// out that are constant or depend on others, as many rows as coefficients, no residuals but rounding, labels of one
// class or of two that are separated, counts that are all zero, or not decided.
#define ADALINE_GROUP_STATES(NAME)                                                                                    \
    NAME(solved) NAME(missing) NAME(few_rows) NAME(constant) NAME(dependent) NAME(no_freedom) NAME(exact)              \
    NAME(one_class) NAME(separated) NAME(unbounded) NAME(undecided)

#define ADALINE_MEMBER(name) name,
#define ADALINE_NUMBER(name) double name;

enum class Loss : int { ADALINE_LOSSES(ADALINE_MEMBER) };
enum class Rule : int { ADALINE_RULES(ADALINE_MEMBER) };
enum class Schedule : int { ADALINE_SCHEDULES(ADALINE_MEMBER) };
enum class TallyIndex : int { ADALINE_TALLIES(ADALINE_MEMBER) };
enum class ScanState : int { ADALINE_STATES(ADALINE_MEMBER) };
enum class Second : int { ADALINE_SECONDS(ADALINE_MEMBER) };
enum class MomentMode : int { ADALINE_MODES(ADALINE_MEMBER) };
enum class GroupState : int { ADALINE_GROUP_STATES(ADALINE_MEMBER) };

struct Tally {
    ADALINE_TALLIES(ADALINE_NUMBER)
};

inline constexpr int tallies = sizeof(Tally) / sizeof(double);
static_assert(tallies == int(TallyIndex::spare) + 1);

#undef ADALINE_MEMBER
#undef ADALINE_NUMBER

}  // namespace adaline
