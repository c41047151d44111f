"""What a fitted system predicts, as trees: predictions, scores and probabilities of a row of raw columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from adaline.activations import ACTIVATIONS
from adaline.arrays import Array, host
from adaline.coding import Coding
from adaline.errors import InvalidData, InvalidParameter, InvalidType, NotFittedError
from adaline.estimator import is_regressor
from adaline.exporting.additive import AdditiveTree
from adaline.exporting.columns import DesignTree, RawColumns, basis_rows, coded_rows, effects_of, plain_rows
from adaline.exporting.notation import notation
from adaline.exporting.tree import (
    MISSING,
    Input,
    Label,
    Node,
    apply,
    as_float,
    both,
    call,
    combination,
    constant,
    erfc,
    finite,
    if_missing,
    is_number,
    largest,
    total,
    where,
)
from adaline.fits.additive.design import AdditiveDesign
from adaline.fitted import (
    AnyModel,
    AnySystem,
    can_transform,
    check_is_fitted,
    gives_probabilities,
    has_classes,
    is_linear,
)
from adaline.input.columns import InputColumns
from adaline.input.system import System, columns_on
from adaline.links import LARGEST_EXPONENT, Cloglog, Link, Log, Logit, Power, Probit
from adaline.losses import LOSSES, Composed, CustomLoss, Linked, Loss
from adaline.storage.model_file import check_storable
from adaline.storage.pipelines import flat_steps, is_pipeline
from adaline.sums.mixture import Components
from adaline.systems import (
    AdditiveModel,
    CustomMachine,
    ElasticNet,
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LogisticRegression,
    OneVsOne,
    OnlineLogistic,
    OrdinalRegression,
    SigmoidPerceptron,
)
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.scheme import MOST, Scheme, is_fitted

TINY = float(np.finfo(float).tiny)
CONVERT = "convert it with from_sklearn"


@dataclass(frozen=True)
class Prediction:
    """The trees of a model.

    Parameters
    ----------
    prediction : what `predict` returns: a label, a number, or one for each target.
    score : of classifiers, the `decision_function`: one node for two classes, else one for each class.
    probability : of classifiers that have them, the probability of each class.
    classes : the labels.
    """

    prediction: tuple[Node, ...]
    score: tuple[Node, ...] = ()
    probability: tuple[Node, ...] = ()
    classes: tuple[Label, ...] = ()

    @property
    def outputs(self) -> dict[str, dict[str, Node]]:
        """The nodes of each output by their names: "prediction", "score_setosa", ..."""
        marks = [f"_{one}" for one in self.classes]
        alone = len(self.prediction) == 1
        predictions = {f"prediction{'' if alone else f'_{k}'}": one for k, one in enumerate(self.prediction)}
        scores = {f"score{'' if len(self.score) == 1 else marks[k]}": one for k, one in enumerate(self.score)}
        shares = {f"probability{marks[k]}": one for k, one in enumerate(self.probability)}
        found = {"prediction": predictions, "score": scores, "probability": shares}
        return {name: nodes for name, nodes in found.items() if nodes}

    def __str__(self) -> str:
        """Return the trees as a text to read."""
        return notation({name: one for found in self.outputs.values() for name, one in found.items()})


def expression(model: AnyModel) -> Prediction:
    """Return what a fitted system predicts, as trees of its raw columns.

    Sums are taken in the order of the columns, the constant last. A row is missing where `predict` refuses it, also for
    a column of weight zero.

    Examples
    --------
    >>> from adaline import LinearRegression
    >>> from adaline.exporting import expression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [3.0, 5.0, 7.0])
    >>> print(expression(model))
    prediction = finite(x0 * 2 + 1)
    """
    found = opened(model)
    if found.system is None:
        raise InvalidType(f"the pipeline ends with {found.last}, which is not an adaline model: {CONVERT}")
    if isinstance(found.system, SignalSystem):
        raise InvalidType(
            f"{found.last} predicts a sample of a signal from those before it, and this export is of single rows: use "
            "to='onnx'"
        )
    return predicted(found)


class OpenedModel(NamedTuple):
    """A system, None where a pipeline ends with a transformer, and the columns that it is given as trees.

    `names` are those of the raw columns, none of a table; `whole` says whether all of them are used.
    """

    system: AnyModel
    last: str
    rows: DesignTree
    coding: Coding | None
    names: list[str]
    whole: bool = True
    piped: bool = False


def opened(model: AnyModel) -> OpenedModel:
    """Return a fitted system, or that of a pipeline, with its columns as trees."""
    if is_pipeline(model):
        return _piped(model)
    check_storable(model)
    if isinstance(model, CustomMachine):
        raise InvalidType("the machine of this model is Python code, which has no form outside adaline: use save")
    columns = columns_on(model)
    rows = _through_basis(columns, _raw_rows(columns))
    coded = columns.coding is not None and columns.coding.terms
    return OpenedModel(model, type(model).__name__, rows, columns.coding, [] if coded else list(columns.given_names()))


def _piped(pipeline: AnyModel) -> OpenedModel:
    """Return the last step of a Pipeline, and the columns that the steps before it make."""
    from adaline.exporting.steps import PipedDesign, uses_all  # imports scikit-learn's steps

    steps = flat_steps(pipeline)
    if not steps:
        raise InvalidData("cannot export this Pipeline: no step of it does anything")
    last, name = steps[-1], type(steps[-1]).__name__
    system = last if isinstance(last, System) else None
    if system is None and not can_transform(last):
        raise InvalidType(f"the pipeline ends with {name}, which is not an adaline model: {CONVERT}")
    for one in steps:
        try:
            check_is_fitted(one)
        except NotFittedError:
            raise InvalidParameter(f"cannot export this Pipeline: {type(one).__name__} is not fitted") from None
    first = steps[0]
    names = getattr(first, "feature_names_in_", None)
    names = [f"x{j}" for j in range(first.n_features_in_)] if names is None else list(map(str, names))
    rows: DesignTree = PipedDesign(steps[:-1] if system is not None else steps, names)
    if system is not None:
        columns = columns_on(system)
        if columns.coding is not None and columns.coding.terms:
            raise InvalidType(
                f"{name} codes the columns of the table that the steps before it make: fit it to the table without "
                "them, or let the steps give an array (set_output)"
            )
        if isinstance(system, CustomMachine):
            raise InvalidType("the machine of this model is Python code, which has no form outside adaline")
        rows = _through_basis(columns, rows)
    return OpenedModel(system, name, rows, None, names, uses_all(first), True)


def _raw_rows(columns: InputColumns) -> DesignTree:
    """Return the columns that a model is given, as rows of its raw columns."""
    if columns.hashed or columns.first is not None:
        raise InvalidType("the columns of this model are hashed names, which have no form outside adaline: use save")
    if columns.coding is not None and columns.coding.terms:
        return coded_rows(columns.coding)
    return plain_rows([Node("input", value=Input(name, "number")) for name in columns.given_names()])


def _through_basis(columns: InputColumns, rows: DesignTree) -> DesignTree:
    if columns.basis is None:
        return rows
    nodes = [finite(one) for one in rows.nodes]
    return (
        AdditiveTree(columns.basis, nodes)
        if isinstance(columns.basis, AdditiveDesign)
        else basis_rows(columns.basis, nodes)
    )


def predicted(found: OpenedModel) -> Prediction:
    """Return the trees of a system of the columns that it works on."""
    return _predicted(found.system, found.rows, found.coding)


def _predicted(model: AnySystem, rows: DesignTree, coding: Coding | None) -> Prediction:
    if isinstance(model, KMeans):
        return _clusters(model, rows)
    if isinstance(model, GaussianMixture):
        joint = _joint(model._components(), rows)
        found = _classified(tuple(range(len(joint))), joint, ())
        return replace(found, score=(), probability=_softmax(joint))
    if has_classes(model):
        return _classifier(model, rows, coding)
    if not (is_linear(model) or isinstance(model, AdditiveModel)):
        raise InvalidType(f"{type(model).__name__} has no form outside adaline yet: use save")
    outputs = _outputs(model, rows, coding)
    if isinstance(model, GeneralizedLinear | ElasticNet | AdditiveModel):
        outputs = _means(model._fitted_with.of_row(), outputs)
    return Prediction(tuple(map(finite, outputs)))


def _outputs(model: AnySystem, rows: DesignTree, coding: Coding | None) -> list[Node]:
    """Return z = w'x + w0 of each output, with the offset and the absorbed effects of the row."""
    weights = np.atleast_2d(host(model._learned().theta if isinstance(model, AdditiveModel) else model.coef_))
    constants = np.broadcast_to(host(model.intercept_), (len(weights),))
    outputs = [
        rows.output(w, c) if math.isfinite(c) else constant(c) for w, c in zip(weights, constants.tolist(), strict=True)
    ]
    return _beside_known(model, rows, coding, outputs)


def _beside_known(model: AnySystem, rows: DesignTree, coding: Coding | None, outputs: list[Node]) -> list[Node]:
    """Return outputs plus the offset and the absorbed effects of the row."""
    known = [] if coding is None else [effects_of(coding), RawColumns(coding).offset()]
    if getattr(model, "_with_offset", None) and (coding is None or coding.offset is None) and known[:1] in ([], [None]):
        known = [Node("input", value=Input("offset", "number"))]
    if isinstance(rows, AdditiveTree) and (apart := model._learned().apart) is not None:
        known.append(rows.effects(rows.design.groupings[-1], apart.effects.ravel()))
    for one in known:
        outputs = outputs if one is None else [z + one for z in outputs]
    return outputs


def _classifier(model: AnySystem, rows: DesignTree, coding: Coding | None) -> Prediction:
    classes = tuple(_label(one) for one in np.asarray(model.classes_).tolist())
    if isinstance(model, Scheme):
        return _scheme(model, rows, classes)
    if isinstance(model, OrdinalRegression):
        return _ordinal(model, rows, classes, coding)
    if isinstance(model, GaussianClassifier):
        return _gaussian(model, rows, classes)
    scores = _outputs(model, rows, coding)
    if len(scores) == 1 and scores[0].name == "number":
        return _of_one_class(classes, scores[0].value, rows, gives_probabilities(model))
    if isinstance(model, SigmoidPerceptron):
        steep = 2.0 if model._fitted_with.activation == "tanh" else 1.0
        each = [_logistic(steep * z) for z in scores]
        return _classified(classes, scores, [1.0 - each[0], each[0]] if len(each) == 1 else _shares(each))
    if isinstance(model, LogisticRegression | OnlineLogistic | ElasticNet):
        return _logistic_machine(classes, scores, getattr(model._fitted_with, "scheme", "softmax"))
    return _classified(classes, scores, ())


def _label(one: object) -> Label:
    if not isinstance(one, str | int | float):
        raise InvalidData(
            f"labels of type {type(one).__name__} have no form outside adaline: use texts or whole numbers"
        )
    return one


def _classified(classes: tuple[Label, ...], scores: Sequence[Node], shares: Sequence[Node]) -> Prediction:
    """Return the label of the largest score, or of two by whether the score is above zero."""
    known = [one for one in scores if not (one.name == "number" and math.isinf(one.value))]
    fine = both([Node("is_finite", (one,)) for one in known])
    own = classes if len(scores) == 1 else [k for k, one in zip(classes, scores, strict=True) if one in known]
    best = where(fine, Node("label", tuple(known), tuple(own)), MISSING)
    return Prediction((best,), tuple(scores), tuple(shares), classes)


def _of_one_class(classes: tuple[Label, ...], score: float, rows: DesignTree, shares: bool) -> Prediction:
    """Return one of two classes, of which the other had no rows: its score is infinite, of rows that are finite."""
    fine = Node("is_finite", (rows.output(np.zeros(rows.width), 0.0),))
    found = where(fine, score, MISSING)
    sure = [where(fine, float(one), MISSING) for one in (score < 0, score > 0)]
    best = where(fine, Node("label", (found,), classes), MISSING)
    return Prediction((best,), (found,), tuple(sure) if shares else (), classes)


def _logistic(z: Node) -> Node:
    """Return 1 / (1 + exp(-z)), in exp(-|z|), which cannot overflow."""
    small = call("exp", -call("abs", z))
    return where(z > 0, 1.0, small) / (1.0 + small)


def _softplus(z: Node) -> Node:
    """Return ln(1 + exp(z))."""
    return apply("max", z, 0.0) + call("log1p", call("exp", -call("abs", z)))


def _softmax(z: Sequence[Node]) -> tuple[Node, ...]:
    known = [one for one in z if one.name != "number"]
    top = largest(known)
    each = [call("exp", one - top) if one.name != "number" else constant(0.0) for one in z]
    whole = total(each)
    return tuple(one / whole if one.name != "number" else one for one in each)


def _shares(each: Sequence[Node]) -> list[Node]:
    whole = apply("max", total(each), TINY)
    return [one / whole for one in each]


def _of_pairs(first: Sequence[Node], second: Sequence[Node], classes: int) -> list[Node]:
    """Return what each class gets from all pairs; pair m gives first_m to one class and second_m to another."""
    out = [constant(0.0)] * classes
    for m, (i, j) in enumerate(combinations(range(classes), 2)):
        out[j], out[i] = out[j] + second[m], out[i] + first[m]
    return out


def _logistic_machine(classes: tuple[Label, ...], z: list[Node], scheme: str) -> Prediction:
    k = len(classes)
    if len(z) == 1:
        return _classified(classes, z, [_logistic(-z[0]), _logistic(z[0])])
    if scheme == "softmax":
        return _classified(classes, z, _softmax(z))
    if scheme == "one-vs-rest":
        return _classified(classes, z, _shares([_logistic(one) for one in z]))
    each = _of_pairs([_logistic(-one) for one in z], [_logistic(one) for one in z], k)
    votes = [as_float(one > 0) for one in z]
    voted = _of_pairs([1.0 - one for one in votes], votes, k)
    scores = [_where_finite(z, vote + one / float(k**2)) for vote, one in zip(voted, each, strict=True)]
    return _classified(classes, scores, _shares(each))


def _where_finite(known: Sequence[Node], value: Node) -> Node:
    return where(both([Node("is_finite", (one,)) for one in known]), value, MISSING)


def _scheme(model: Scheme, rows: DesignTree, classes: tuple[Label, ...]) -> Prediction:
    k = len(classes)
    found = [_machine(machine, rows) for machine in model.estimators_]
    decisions = [decision for decision, _ in found]
    if isinstance(model, OneVsOne):
        limited = [apply("max", apply("min", one, MOST), -MOST) for one in decisions]
        sums = _of_pairs([-one for one in limited], limited, k)
        votes = [as_float(one > 0) for one in decisions]
        voted = _of_pairs([1.0 - one for one in votes], votes, k)
        scores = [
            _where_finite(limited, vote + one / (3.0 * (call("abs", one) + 1.0)))
            for vote, one in zip(voted, sums, strict=True)
        ]
    else:
        last = _where_finite(decisions, constant(0.0)) if k > 2 else constant(0.0)
        scores = [*decisions, *[last] * (k - len(decisions))]
    shares: Sequence[Node] = ()
    if gives_probabilities(model):
        shares = _shares([share for _, share in found if share is not None])
    return _classified(classes, [scores[1] - scores[0]] if k == 2 else scores, shares)


def _machine(machine: AnyModel, rows: DesignTree) -> tuple[Node, Node | None]:
    """Return the decision of a machine, and its probability of its class 1."""
    if not is_fitted(machine):
        return constant(0.0), constant(0.5)
    check_storable(machine)
    columns = columns_on(machine)
    found = _predicted(machine, _through_basis(columns, rows), None)
    if is_regressor(machine):
        return found.prediction[0] - 0.5, None
    (score,) = found.score
    if score.name == "where" and is_number(score.arguments[1]):  # a machine with rows of one class
        score = score.arguments[1]
    return score, found.probability[1] if found.probability else None


def _ordinal(
    model: OrdinalRegression, rows: DesignTree, classes: tuple[Label, ...], coding: Coding | None
) -> Prediction:
    """Return the probabilities of intervals between thresholds, P = g(a) - g(b), without a difference of two ones."""
    link, ends = model._fitted_with.link, host(model.thresholds_)
    (w,) = np.atleast_2d(host(model.coef_))
    known = _beside_known(model, rows, coding, [rows.output(w, -end) for end in ends])
    beyond = dict(zip(ends.tolist(), known, strict=True))  # w'x - threshold: large means cancel before the link
    lower, upper = np.append(-np.inf, ends), np.append(ends, np.inf)
    shares = [_between(link, beyond, *pair) for pair in zip(lower.tolist(), upper.tolist(), strict=True)]
    if len(classes) > 2:
        return _classified(classes, shares, shares)
    middle = float(model._fitted_with.cumulative.link.quantile(np.array(0.5)))
    return _classified(classes, [beyond[float(ends[0])] + middle], shares)


def _between(link: str, beyond: Mapping[float, Node], low: float, high: float) -> Node:
    if low == high:
        return constant(0.0)
    width = high - low
    above, below = (-beyond[one] if one in beyond else constant(one) for one in (high, low))
    if link == "probit":
        root = math.sqrt(2.0)
        if math.isinf(high) or math.isinf(low):
            return 0.5 * erfc(-above / root) if math.isinf(low) else 0.5 * erfc(below / root)
        turned = above + below > 0  # about zero, so that ends are nearer on the lower side
        top, bottom = where(turned, -below, above), where(turned, -above, below)
        return 0.5 * (erfc(-top / root) - erfc(-bottom / root))
    if link == "logit":
        log_less = 0.0 if math.isinf(width) else math.log(-math.expm1(-width))
        parts = [] if math.isinf(high) else [_softplus(-above)]
        parts += [] if math.isinf(low) else [_softplus(below)]
        return call("exp", -(total(parts) - log_less))
    within = constant(1.0)
    if not math.isinf(high):
        share = 1.0 if math.isinf(low) else -math.expm1(-width)
        within = -call("expm1", -(_exp(above) * share))
    return within if math.isinf(low) else call("exp", -_exp(below)) * within


def _exp(z: Node) -> Node:
    """Return exp(z), of z up to the largest exponent of which it is a number."""
    return call("exp", apply("min", z, LARGEST_EXPONENT))


def _gaussian(model: GaussianClassifier, rows: DesignTree, classes: tuple[Label, ...]) -> Prediction:
    priors = model._log_priors().tolist()
    if is_linear(model):
        coef, constants = np.atleast_2d(host(model.coef_)), np.atleast_1d(host(model.intercept_))
        known = np.isfinite(constants)
        scores = [rows.output(w, c) if good else constant(c) for w, c, good in zip(coef, constants, known, strict=True)]
        if len(scores) == 1 and known.all():
            return _classified(classes, scores, [_logistic(-scores[0]), _logistic(scores[0])])
        if len(scores) == 1:
            return _of_one_class(classes, scores[0].value, rows, shares=True)
        return _classified(classes, scores, _softmax(scores))
    if hasattr(model, "_mixtures"):
        each = [_log_total(_joint(one, rows)) for one in model._mixtures]
    else:
        each = _log_densities(model, rows)
    joint = [constant(-math.inf) if math.isinf(p) else finite(one + p) for one, p in zip(each, priors, strict=True)]
    if len(classes) > 2:
        return _classified(classes, joint, _softmax(joint))
    if any(map(math.isinf, priors)):
        return _of_one_class(classes, math.inf if math.isinf(priors[0]) else -math.inf, rows, shares=True)
    score = joint[1] - joint[0]
    return _classified(classes, [score], [_logistic(-score), _logistic(score)])


def _log_densities(model: GaussianClassifier, rows: DesignTree) -> list[Node]:
    found = model._densities
    known = found.log_determinants + rows.width * np.log(2 * np.pi)
    out = []
    for k, factor in enumerate(found.factors):
        if factor is None:
            out.append(constant(-math.inf))
            continue
        scale = np.diag(np.exp2(-factor.scaling.scale.astype(np.float64)))
        whiten = factor.half(scale) * np.sqrt(factor.scaling.weight)
        square = _squares(rows, found.hi[k], found.lo[k], whiten)
        out.append(-0.5 * (square + float(known[k])))
    return out


def _squares(rows: DesignTree, hi: Array, lo: Array, whiten: Array) -> Node:
    """Return the sum of the squares of (x - hi - lo) whiten."""
    away = [x - float(m) for x, m in zip(rows.nodes, hi, strict=True)]
    rest = -(lo @ whiten)
    turned = [combination(column, away, float(c)) for column, c in zip(whiten.T, rest, strict=True)]
    return total(one * one for one in turned)


def _joint(at: Components, rows: DesignTree) -> list[Node]:
    """Return ln pi_k + ln N(x; mean_k, Sigma_k)."""
    scale, offset = at.view
    if np.any(scale != 1.0) or np.any(offset):
        rows = plain_rows([x * float(s) + float(o) for x, s, o in zip(rows.nodes, scale, offset, strict=True)])
    out = []
    for height, mean, factor in zip(host(at.constants), host(at.means), host(at.factors), strict=True):
        whiten = factor if factor.ndim == 2 else np.diag(factor)
        if math.isinf(height):
            out.append(constant(height))
            continue
        out.append(finite(float(height) - 0.5 * _squares(rows, mean, np.zeros_like(mean), whiten)))
    return out


def _log_total(joint: Sequence[Node]) -> Node:
    known = [one for one in joint if one.name != "number"]
    if not known:
        return constant(-math.inf)
    top = largest(known)
    return top + call("log", total(call("exp", one - top) for one in known))


def _clusters(model: KMeans, rows: DesignTree) -> Prediction:
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    squares = [
        finite(total((x - float(c)) * (x - float(c)) for x, c in zip(rows.nodes, centre, strict=True)))
        for centre in centres
    ]
    found = _classified(tuple(range(len(centres))), [-one for one in squares], ())
    return Prediction(found.prediction)


def _means(loss: Loss, outputs: list[Node]) -> list[Node]:
    """Return the means of outputs; refuse Python functions of the user's own."""
    if isinstance(loss, Linked):
        low, high = loss.family.range(loss.link)
        return [_within(low, high, z, _mean(loss.link, z)) for z in outputs]
    if isinstance(loss, Composed):
        found = loss.activation
    elif type(loss) in (*LOSSES.values(), CustomLoss):
        found = ACTIVATIONS[loss.response]
    else:
        raise InvalidType(f"what {type(loss).__name__} predicts is Python code, which has no form outside adaline")
    if ACTIVATIONS.get(found.name) != found:
        raise InvalidType(f"the activation {type(found).__name__} is Python code, which has no form outside adaline")
    if found.name == "softmax":
        return list(_softmax(outputs))
    own = {"identity": lambda z: z, "logistic": _logistic, "softplus": _softplus}
    if found.name in ("exp", "tanh"):
        return [call(found.name, z) for z in outputs]
    if found.name not in own:
        raise InvalidType(f"the activation {found.name} has no form outside adaline: use save")
    return [own[found.name](z) for z in outputs]


def _mean(link: Link, z: Node) -> Node:
    match link:
        case Log():
            return call("exp", z)
        case Logit():
            return _logistic(z)
        case Probit():
            return 0.5 * erfc(-z / math.sqrt(2.0))
        case Cloglog():
            return -call("expm1", -_exp(z))
        case Power(exponent=1):
            return z
        case Power(exponent=p):
            powered = {
                2.0: lambda: call("sqrt", z),
                0.5: lambda: z * z,
                -1.0: lambda: 1.0 / z,
                -2.0: lambda: 1.0 / call("sqrt", z),
            }
            mean = powered.get(p, lambda: apply("pow", z, 1.0 / p))()
            return where(z > 0, mean, 0.0 if p > 0 else MISSING)
    raise InvalidType(f"the inverse of link={type(link).__name__} is Python code, which has no form outside adaline")


def _within(low: float, high: float, z: Node, mean: Node) -> Node:
    """Return the mean of an output that has one, missing elsewhere."""
    if math.isfinite(high):
        mean = where(z > high, MISSING, mean)
    if math.isfinite(low):
        mean = where(z < low, MISSING, mean)
    return where(if_missing(z), MISSING, mean) if mean.name == "where" else mean
