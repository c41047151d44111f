"""Export to ONNX: a fitted system as a graph of standard operators, for other runtimes and languages.

Every linear output is computed about the mean m of the training columns, where the sums know it,

    w'x + w0 = w'(x - m) + (w0 + w'm),

m rounded to the graph's type and the constant formed in float64: the large numbers cancel before they are multiplied,
so that float32 keeps its 7 digits of the spread of the outputs and not of the size of the columns. Squared distances of
Gaussian densities are taken about each class's own mean, in coordinates where its covariance is the identity.

Only standard operators of opset 13 are used, and LabelEncoder of ai.onnx.ml for categories that are text. This is the
one module that imports onnx.
"""

from __future__ import annotations

import copy
import os
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray
from scipy import special

from adaline.activations import ACTIVATIONS, Activation
from adaline.arrays import Array, host
from adaline.errors import AdalineError, InvalidData, InvalidType
from adaline.fitted import AnyModel, gives_probabilities, has_absorbed, has_classes, is_linear
from adaline.input.basis import basis_of
from adaline.links import name_of
from adaline.losses import LOSSES, Composed, CustomLoss, Linked
from adaline.parameters import one_of
from adaline.storage.container import BROKEN, replacing
from adaline.storage.fields import KNOWN
from adaline.storage.model_file import check_storable
from adaline.storage.onnx_graph import Graph
from adaline.storage.pipelines import flat_steps, is_pipeline, last_step
from adaline.sums import ClassMoments, Moments
from adaline.systems import (
    AdaptiveFilter,
    ElasticNet,
    GaussianClassifier,
    GeneralizedLinear,
    LogisticRegression,
    OneVsOne,
    OnlineLogistic,
    OrdinalRegression,
    SigmoidPerceptron,
    WienerFilter,
)
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.scheme import MOST, Scheme
from adaline.systems.one_vs_rest import OneVsRest

GraphNumbers = Literal["float64", "float32"]
OPERATORS = {"tanh": "Tanh", "logistic": "Sigmoid", "exp": "Exp"}
FOREVER = np.iinfo(np.int64).max


def export_onnx(model: AnyModel, path: str | os.PathLike[str], dtype: GraphNumbers = "float64") -> None:
    """Write a fitted system or pipeline as an ONNX file: input `X` (n, D), and outputs by what the system does.

    Regressions and filters: `prediction`, (n,) or (n, K). Classifiers: `label` (n,), text or int64 (float64 where the
    classes are such); `score`, the decision function, (n,) or (n, K); `probability` (n, K) where the system has
    posteriors; `projection` (n, r) for FisherDiscriminant. The metadata hold the names of the columns, the classes and
    the certificate.

    In float64 outputs agree with `predict` to rounding. In float32 they agree, on the same float32 rows, to about 1e-6
    of the spread of the outputs however large the means of the columns are (and to what float32 can write of the output
    itself), posteriors to about 1e-6. Where no sums are kept (wide data) the means are not known, and large ones cost
    float32 digits. Rows at a boundary between classes may fall on its other side.

    Categories, dates and formulas of a system are not part of the graph: its input are the columns of numbers that they
    become. Those of a pipeline are, as its steps are (see `save`; of our bases Polynomial and Spline have a form).
    Where it takes text, or leaves columns unused, each column is an input (n, 1) of its own, under its name (with _ at
    the end where an output has it; x0, x1, ... without names): text as strings, in which the empty one is missing. An
    unknown category is an error of the runtime where it is one of the encoder. A pipeline that ends with a transformer
    has one output, `transformed`.

    Parameters
    ----------
    model : a fitted system of adaline, or a fitted Pipeline.
    path : name of the file to write; an existing one is replaced only when the new one is complete.
    dtype : "float64" or "float32"
        Type of the input and of all numbers in the graph.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from adaline import LinearRegression
    >>> from adaline.storage import export_onnx
    >>> model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, pathlib.Path(folder) / "line.onnx", dtype="float32")
    """
    check_storable(model)
    one_of(GraphNumbers).check("dtype", dtype)
    graph = Graph(_onnx(), np.dtype(dtype))
    if is_pipeline(model):
        _pipeline(graph, model)
    else:
        _refuse_texts(model)
        graph.take("X", _signals(model))
        _system(graph, model)
    content = graph.model(model).SerializeToString()
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


def _refuse_texts(model: AnyModel) -> None:
    """Refuse a model of hashed columns or words; the columns of other tables are given to ONNX coded."""
    coding = getattr(model, "coding_", None)
    for column in () if coding is None else coding.columns:
        if column.is_category and not column.has_levels:
            raise InvalidType(
                f"column {column.name!r} of the model is {column.kind}, which has no ONNX form: predict from the model "
                "file, or fit it to columns of numbers"
            )


def _pipeline(graph: Graph, pipeline: Any) -> None:
    """Add the steps of a pipeline, and what its last one says."""
    from adaline.storage.onnx_steps import matrix, pipeline_inputs, transformed
    from adaline.storage.steps import check_pipeline

    try:
        check_pipeline(copy.deepcopy(pipeline))
    except (*BROKEN, AdalineError) as error:
        raise InvalidData(f"cannot export this Pipeline: {error}") from None
    if last_step(pipeline) is None:
        raise InvalidData("cannot export this Pipeline: no step of it does anything")
    columns = pipeline_inputs(graph, pipeline)
    *before, last = flat_steps(pipeline)
    for one in before:
        columns = transformed(graph, one, columns)
    if KNOWN.get(type(last).__name__) is not type(last):
        made = matrix(graph, transformed(graph, last, columns), pipeline)
        return graph.output("transformed", made.value, made.width)
    coding = getattr(last, "coding_", None)
    if coding is not None and any(column.kind != "number" for column in coding.columns):
        raise InvalidType(
            f"{type(last).__name__} codes categories internally, which has no ONNX form: encode them in an earlier step"
        )
    graph.rows = matrix(graph, columns, last).value
    return _system(graph, last)


def _signals(model: AnyModel) -> int:
    """Return how many columns a system takes."""
    return len(model._line[0]) if isinstance(model, SignalSystem) else int(model.n_features_in_)


def _system(graph: Graph, model: AnyModel) -> None:
    """Add a fitted system, and what it says."""
    if has_absorbed(model):
        raise InvalidType(
            "this model adds effects of levels to its outputs, and the graph takes columns only: use save"
        )
    if getattr(model, "_with_offset", None):
        raise InvalidType("this model needs an offset for each row, and the graph takes columns only: use save")
    if any(basis_of(machine) is not None for machine in (model, *getattr(model, "estimators_", ()))):
        raise InvalidType(
            f"the basis of {type(model).__name__} has no ONNX form yet: export the system fitted to the columns of "
            "basis.transform(X), and make these columns before the graph"
        )
    if isinstance(model, SignalSystem):
        _filter(graph, model)
    elif has_classes(model):
        _classifier(graph, model)
    elif is_linear(model):
        _regression(graph, model)
    else:
        raise _no_form(model)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise AdalineError("export to ONNX needs the package onnx: pip install adaline-learn[onnx]") from None
    return onnx


def _regression(graph: Graph, model: AnyModel) -> None:
    coef = np.atleast_2d(host(model.coef_))
    value = graph.affine(graph.rows, coef, host(model.intercept_), _centre(model, coef.shape[1]))
    if isinstance(model, GeneralizedLinear | ElasticNet):
        value = activated(graph, model, value)
    _predict(graph, value, len(coef), np.ndim(host(model.coef_)) == 1)


def _predict(graph: Graph, value: str, targets: int, flat: bool) -> None:
    graph.output("prediction", graph.flat(value) if flat else value, None if flat else targets)


def _filter(graph: Graph, model: SignalSystem) -> None:
    _predict(graph, filtered(graph, model), len(np.atleast_2d(model.coef_)), np.ndim(model.coef_) == 1)


def _classifier(graph: Graph, model: AnyModel) -> None:
    probability, joint = None, None
    if isinstance(model, OrdinalRegression):
        score, columns, probability = ordinal(graph, model)
    else:
        score, columns, joint = _scheme(graph, model) if isinstance(model, Scheme) else _scores(graph, model)
    if isinstance(model, LogisticRegression | OnlineLogistic | ElasticNet):
        score, probability = logistic(graph, model, score)
        columns = 1 if columns == 1 else len(model.classes_)
    if columns == 1:
        positive = graph.op("Greater", graph.flat(score), graph.real(0.0))
        best = graph.op("Cast", positive, to=int(graph.onnx.TensorProto.INT64))
    else:
        best = graph.op("ArgMax", score, axis=1, keepdims=0)
    labels = _labels(model.classes_)
    label = graph.op("Gather", graph.put(labels), best, axis=0)
    graph.output("label", label, None, labels.dtype)
    graph.output("score", graph.flat(score) if columns == 1 else score, None if columns == 1 else columns)
    if probability is not None:
        graph.output("probability", probability, len(model.classes_))
    elif isinstance(model, SigmoidPerceptron):
        z = graph.op("Mul", score, graph.real(2.0 if model._fitted_with.activation == "tanh" else 1.0))
        graph.output("probability", sigmoid(graph, z, columns), len(model.classes_))
    elif isinstance(model, GaussianClassifier):
        if joint is None and columns == 1 and len(model.classes_) == 2:
            graph.output("probability", two_classes(graph, score), 2)
        else:
            graph.output("probability", graph.op("Softmax", joint or score, axis=1), len(model.classes_))
    elif isinstance(model, OneVsRest) and joint is not None:
        graph.output("probability", against_the_rest(graph, model, joint), len(model.classes_))
    elif gives_probabilities(model):
        raise _no_form(model)
    if hasattr(model, "directions_"):
        directions = host(model.directions_)
        centre = _centre(model, directions.shape[1])
        graph.output(
            "projection", graph.affine(graph.rows, directions, -directions @ model._mean, centre), len(directions)
        )


def _scores(graph: Graph, model: AnyModel) -> tuple[str, int, str | None]:
    """Return the decisions of a classifier, (n, columns), how many columns, and ln p(c_k) p(x | c_k) if it has them."""
    if is_linear(model):
        w = np.atleast_2d(host(model.coef_))
        return graph.affine(graph.rows, w, host(model.intercept_), _centre(model, w.shape[1])), len(w), None
    if not isinstance(model, GaussianClassifier) or hasattr(model, "_mixtures"):
        raise _no_form(model)
    joint, columns = _log_joint(graph, model), len(model.classes_)
    if columns == 2:
        return graph.op("MatMul", joint, graph.real([[-1.0], [1.0]])), 1, joint
    return joint, columns, joint


def _scheme(graph: Graph, model: Scheme) -> tuple[str, int, str | None]:
    """Return decisions, (n, K), or (n, 1) for two classes, and those that have probabilities, (n, K)."""
    k = len(model.classes_)
    decisions = [_machine(graph, machine, model.n_features_in_) for machine in model.estimators_]
    if isinstance(model, OneVsOne):
        scores = _votes(graph, decisions, k)
    else:
        last = [_zero(graph, model.n_features_in_)] * (k - len(decisions))  # the class without a machine
        scores = graph.op("Concat", *decisions, *last, axis=1)
    each = scores if gives_probabilities(model) else None
    return (scores, k, each) if k > 2 else (graph.op("MatMul", scores, graph.real([[-1.0], [1.0]])), 1, each)


def _machine(graph: Graph, machine: Any, features: int) -> str:
    """Return the decisions of a machine, (n, 1); zero before its first row."""
    return _scores(graph, machine)[0] if has_classes(machine) else _zero(graph, features)


def _zero(graph: Graph, features: int) -> str:
    return graph.affine(graph.rows, np.zeros((1, features)), 0.0, np.zeros(features))


def _votes(graph: Graph, decisions: list[str], k: int) -> str:
    """Return votes plus s / (3 (|s| + 1)), less than half a vote, for the sum s of the decisions.

    Decisions are added in the order of the machines, as the system does: where some are infinite the others vanish.
    """
    pairs = list(combinations(range(k), 2))
    second, first = np.zeros((2, len(pairs), k))
    most = graph.real(min(MOST, float(np.finfo(graph.dtype).max) / (4 * k)))
    sums = [graph.op("Mul", _limited(graph, decisions[0], most), graph.real(0.0))] * k
    for machine, (one, (i, j)) in enumerate(zip(decisions, pairs, strict=True)):
        first[machine, i] = second[machine, j] = 1.0
        limited = _limited(graph, one, most)
        sums[i], sums[j] = graph.op("Sub", sums[i], limited), graph.op("Add", sums[j], limited)
    positive = graph.op("Greater", graph.op("Concat", *decisions, axis=1), graph.real(0.0))
    yes = graph.op("Cast", positive, to=int(graph.number))
    votes = graph.op("Add", graph.op("MatMul", yes, graph.real(second - first)), graph.real(first.sum(axis=0)))
    total = graph.op("Concat", *sums, axis=1)
    size = graph.op("Add", graph.op("Abs", total), graph.real(1.0))
    return graph.op("Add", votes, graph.op("Div", total, graph.op("Mul", size, graph.real(3.0))))


def _limited(graph: Graph, value: str, most: str) -> str:
    return graph.op("Clip", value, graph.op("Neg", most), most)


def _log_joint(graph: Graph, model: GaussianClassifier) -> str:
    """Return ln p(c_k) p(x | c_k), (n, K); minus infinity for classes without rows."""
    parts: list[str | None] = []
    found = model._densities
    constant = model._log_priors() - 0.5 * (found.log_determinants + model.n_features_in_ * np.log(2 * np.pi))
    for k, factor in enumerate(found.factors):
        if factor is None:
            parts.append(None)
            continue
        whiten = factor.half(np.diag(np.exp2(-factor.scaling.scale.astype(np.float64)))) * np.sqrt(
            factor.scaling.weight
        )
        m = graph.rounded(found.hi[k])
        rest = (m - found.hi[k]) - found.lo[k]
        rows = graph.op("MatMul", graph.op("Sub", graph.rows, graph.real(m)), graph.real(whiten))
        rows = graph.op("Add", rows, graph.real(rest @ whiten))
        distance = graph.op("ReduceSumSquare", rows, axes=[1], keepdims=1)
        parts.append(graph.op("Add", graph.op("Mul", distance, graph.real(-0.5)), graph.real(constant[k])))
    shape = graph.op("Shape", next(part for part in parts if part is not None))
    never = graph.op("Expand", graph.real([[-np.inf]]), shape)
    return graph.op("Concat", *(part or never for part in parts), axis=1)


def _centre(model: AnyModel, features: int) -> Array:
    """Return the mean of the training columns, zero where the model does not know it."""
    typical = getattr(model, "_typical", None)  # a row of the training data, where the mean is not known
    if typical is not None:
        return np.asarray(typical)
    sums = getattr(model, "_sums", None)
    total = sums.total() if isinstance(sums, ClassMoments) else sums
    if not isinstance(total, Moments) or total.weight <= 0:
        return np.zeros(features)
    return total.about_mean().first_hi[:features].copy()


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return classes as ONNX has them: text, int64 or float64."""
    kinds = {type(value) for value in classes.tolist()}
    for kind, dtype in ((str, object), (bool, np.int64), (int, np.int64), (float, np.float64)):
        if kinds == {kind}:
            try:
                return np.array(classes.tolist(), dtype=dtype)
            except OverflowError:
                break
    raise InvalidData(f"classes of type {classes.dtype} have no form in ONNX: use text or whole numbers as labels")


def _no_form(model: AnyModel) -> InvalidType:
    return InvalidType(f"{model} has no ONNX form yet")


def two_classes(graph: Graph, score: str) -> str:
    """Return the posteriors of two classes from the log odds of the second."""
    return graph.op("Concat", graph.op("Sigmoid", graph.op("Neg", score)), graph.op("Sigmoid", score), axis=1)


def sigmoid(graph: Graph, z: str, columns: int) -> str:
    """Return the logistic function as probabilities; K are divided by their sum."""
    return two_classes(graph, z) if columns == 1 else shares(graph, graph.op("Sigmoid", z))


def shares(graph: Graph, one: str) -> str:
    """Return numbers divided by their sum over the classes."""
    total = graph.op("ReduceSum", one, graph.put(np.array([1])), keepdims=1)
    return graph.op("Div", one, graph.op("Max", total, graph.real(np.finfo(graph.dtype).tiny)))


def logistic(graph: Graph, model: LogisticRegression | OnlineLogistic | ElasticNet, score: str) -> tuple[str, str]:
    """Return scores and probabilities of the classes; pairs of classes vote, and their probabilities break ties."""
    k = len(model.classes_)
    if len(model.coef_) == 1:
        return score, two_classes(graph, score)
    scheme = getattr(model._fitted_with, "scheme", "softmax")
    if scheme != "one-vs-one":
        softmax = scheme == "softmax"
        return score, graph.op("Softmax", score, axis=1) if softmax else sigmoid(graph, score, k)
    above = graph.op("Cast", graph.op("Greater", score, graph.real(0.0)), to=int(graph.number))
    each = _from_pairs(graph, graph.op("Sigmoid", score), k)
    votes = graph.op("Add", _from_pairs(graph, above, k), graph.op("Div", each, graph.real(float(k**2))))
    return votes, shares(graph, each)


def against_the_rest(graph: Graph, model: OneVsRest, scores: str) -> str:
    """Return the probabilities of machines, logistic in their scores, divided by their sum."""
    settings = [getattr(machine, "_fitted_with", None) for machine in model.estimators_]
    tanh = [getattr(one, "activation", "") == "tanh" for one in settings]
    return shares(graph, graph.op("Sigmoid", graph.op("Mul", scores, graph.real(np.where([tanh], 2.0, 1.0)))))


def _from_pairs(graph: Graph, second: str, k: int) -> str:
    """Return what each class gets from all pairs: the second of a pair `second`, the first the rest."""
    gains, first = np.zeros((k * (k - 1) // 2, k)), np.zeros(k)
    for row, (i, j) in enumerate(combinations(range(k), 2)):
        gains[row, j], gains[row, i] = 1.0, -1.0
        first[i] += 1.0
    return graph.op("Add", graph.op("MatMul", second, graph.real(gains)), graph.real(first))


INVERSES = {"identity": "identity", "log": "exp", "logit": "logistic"}
"""The activations that are inverses of links."""


def activated(graph: Graph, model: GeneralizedLinear | ElasticNet, z: str) -> str:
    """Return what a generalized linear machine predicts from its outputs (n, K)."""
    name = _activation(model).name
    if name == "identity":
        return z
    if name == "softmax":
        return graph.op("Softmax", z, axis=1)
    if name == "softplus":
        return _softplus(graph, z)
    return graph.op(OPERATORS[name], z)


def ordinal(graph: Graph, model: OrdinalRegression) -> tuple[str, int, str]:
    """Return the score of ordered classes, (n, K) or (n, 1) for two, its columns, and the probabilities (n, K).

    ln P is a sum of terms of the upper ends of classes, of their lower ends, and constants; `IntervalTerms` has them.
    With the probit P itself is, by the error function.
    """
    ends, k = host(model.thresholds_), len(model.classes_)
    fitted = np.flatnonzero(np.append(ends, np.inf) > np.append(-np.inf, ends))  # classes with rows
    inner = ends[fitted[:-1]]
    w = np.repeat(host(model.coef_), len(inner), axis=0)
    beyond = graph.affine(graph.rows, w, -inner, _centre(model, w.shape[1]))  # w'x - threshold
    upper, lower = np.zeros((2, len(inner), k))
    upper[np.arange(len(inner)), fitted[:-1]] = lower[np.arange(len(inner)), fitted[1:]] = 1.0
    constant = np.full(k, -np.inf)
    constant[fitted] = 0.0
    width = np.diff(inner)
    before = graph.op("Neg", beyond)
    if model._fitted_with.link == "probit":
        constant = np.zeros(k)
        constant[fitted[[0, -1]]] = 0.5
        share = _erf(graph, graph.op("Div", before, graph.real(np.sqrt(2.0))))  # 2 P(y <= k) - 1
        inside = graph.op("MatMul", share, graph.real((upper - lower) / 2))
        probability = graph.op("Max", graph.op("Add", inside, graph.real(constant)), graph.real(0.0))
        return (probability, k, probability) if k > 2 else (beyond, 1, probability)
    if model._fitted_with.link == "logit":
        constant[fitted[1:-1]] = np.log(-np.expm1(-width))
        terms = [graph.op("Neg", _softplus(graph, z)) for z in (beyond, before)]
    else:
        first = np.eye(len(inner), k=1)
        first[0, 0] = 1.0
        capped = graph.op("Min", before, graph.real(80.0))
        shift = np.append(0.0, width + np.log(-np.expm1(-width)))
        log_d = graph.op("Add", graph.op("MatMul", capped, graph.real(first)), graph.real(shift))
        terms = [_log_less(graph, log_d), graph.op("Neg", graph.op("Exp", capped))]
    parts = [graph.op("MatMul", part, graph.real(of)) for part, of in zip(terms, (upper, lower), strict=True)]
    probability = graph.op("Exp", graph.op("Add", graph.op("Add", *parts), graph.real(constant)))
    if k > 2:
        return probability, k, probability
    middle = model._fitted_with.cumulative.link.quantile(np.array(0.5))
    return graph.op("Add", beyond, graph.real(middle)), 1, probability


def _erf(graph: Graph, z: str) -> str:
    """Return the error function: 1 - t exp(-x^2 + g(t)), x = |z|, t = 2 / (2 + x), g by Chebyshev polynomials."""
    if graph.dtype == np.float32:
        return graph.op("Erf", z)
    # onnxruntime has no Erf for double
    series = Chebyshev.interpolate(lambda t: np.log(special.erfcx(2 / t - 2) / t), 30, domain=[0.0, 1.0])
    x = graph.op("Abs", z)
    t = graph.op("Div", graph.real(2.0), graph.op("Add", x, graph.real(2.0)))
    twice = graph.op("Sub", graph.op("Mul", t, graph.real(4.0)), graph.real(2.0))
    here = before = graph.real(0.0)
    for c in series.coef[:0:-1]:  # Clenshaw's recurrence
        next_one = graph.op("Add", graph.op("Sub", graph.op("Mul", twice, here), before), graph.real(c))
        here, before = next_one, here
    half = graph.op("Sub", graph.op("Div", graph.op("Mul", twice, here), graph.real(2.0)), before)
    g = graph.op("Add", half, graph.real(series.coef[0]))
    rest = graph.op("Mul", t, graph.op("Exp", graph.op("Sub", g, graph.op("Mul", x, x))))
    return graph.op("Mul", graph.op("Sign", z), graph.op("Sub", graph.real(1.0), rest))


def _softplus(graph: Graph, z: str) -> str:
    """Return ln(1 + exp(z))."""
    small = graph.op("Exp", graph.op("Neg", graph.op("Abs", z)))
    return graph.op("Add", graph.op("Max", z, graph.real(0.0)), _log1p(graph, small))


def _log_less(graph: Graph, log_d: str) -> str:
    """Return ln(1 - exp(-d)) of ln d; where d is small by the series ln d - d/2 + d^2/24 - d^4/2880."""
    d = graph.op("Exp", graph.op("Min", log_d, graph.real(80.0)))
    little = graph.op("Min", d, graph.real(0.02))
    square = graph.op("Mul", little, little)
    inner = graph.op("Sub", graph.real(1 / 24), graph.op("Div", square, graph.real(2880.0)))
    series = graph.op("Sub", graph.op("Mul", square, inner), graph.op("Div", little, graph.real(2.0)))
    plain = graph.op("Exp", graph.op("Neg", graph.op("Max", d, graph.real(0.02))))
    exact = graph.op("Log", graph.op("Sub", graph.real(1.0), plain))
    return graph.op("Where", graph.op("Less", d, graph.real(0.02)), graph.op("Add", log_d, series), exact)


def _log1p(graph: Graph, s: str) -> str:
    """Return ln(1 + s) for s from 0 to 1: ln(u) s / (u - 1) with u = 1 + s as rounded (Kahan), s where u is 1."""
    u = graph.op("Add", s, graph.real(1.0))
    off = graph.op("Sub", u, graph.real(1.0))
    found = graph.op("Div", graph.op("Mul", graph.op("Log", u), s), graph.op("Max", off, graph.real(1e-30)))
    return graph.op("Where", graph.op("Greater", off, graph.real(0.0)), found, s)


def _activation(model: GeneralizedLinear | ElasticNet) -> Activation:
    """Return the activation that predicts; refuse Python functions of the user's own."""
    loss = model._fitted_with.of_row()
    if isinstance(loss, Composed):
        found = loss.activation
    elif isinstance(loss, Linked):
        name = name_of(loss.link)
        if name not in INVERSES:
            raise InvalidType(f"the inverse of link={name!r} has no ONNX form here: use save")
        found = ACTIVATIONS[INVERSES[name]]
    elif type(loss) in (*LOSSES.values(), CustomLoss):
        found = ACTIVATIONS[loss.response]
    else:
        raise InvalidType(f"what {type(loss).__name__} predicts is Python code, which has no ONNX form")
    if ACTIVATIONS.get(found.name) != found:
        raise InvalidType(f"the activation {type(found).__name__} is Python code, which has no ONNX form")
    return found


def filtered(graph: Graph, model: SignalSystem) -> str:
    """Return the outputs of a filter, (n, K).

    y_n = w0 + sum_(c, j) w_cj x_c(n - delay - j), signals zero outside the record.
    """
    taps, delay = model._line
    w, longest = np.atleast_2d(model.coef_), max(taps)
    kernel = np.zeros((len(w), len(taps), longest))  # oldest sample first
    for c, part in enumerate(np.split(w, np.cumsum(taps)[:-1], axis=1)):
        kernel[:, c, longest - taps[c] :] = part[:, ::-1]
    first = delay + longest - 1  # how far before the record the first row reaches
    padded = graph.op("Pad", graph.rows, graph.put(np.array([max(first, 0), 0, max(-delay, 0), 0])))
    bounds = [np.array([value]) for value in (max(-first, 0), -delay if delay > 0 else FOREVER, 0)]
    samples = graph.op("Slice", padded, *map(graph.put, bounds))
    m = graph.rounded(_level(model))
    samples = graph.op("Sub", samples, graph.real(m))
    constant = np.broadcast_to(model.intercept_, (len(w),)) + kernel.sum(axis=2) @ m
    if graph.dtype == np.float32:
        lines = graph.op("Unsqueeze", graph.op("Transpose", samples, perm=[1, 0]), graph.put(np.array([0])))
        found = graph.op("Squeeze", graph.op("Conv", lines, graph.real(kernel)), graph.put(np.array([0])))
        value = graph.op("Transpose", found, perm=[1, 0])
    else:  # onnxruntime has no Conv for double: rows of samples times the kernel
        rows = graph.op("Gather", graph.op("Shape", graph.rows), graph.put(np.array(0)))
        start = graph.op("Range", graph.put(np.array(0)), rows, graph.put(np.array(1)))
        indices = graph.op("Add", graph.op("Unsqueeze", start, graph.put(np.array([1]))), graph.put(np.arange(longest)))
        windows = graph.op("Gather", samples, indices, axis=0)  # (n, longest, C)
        flat = graph.op("Reshape", windows, graph.put(np.array([-1, longest * len(taps)])))
        value = graph.op("MatMul", flat, graph.real(kernel.transpose(2, 1, 0).reshape(-1, len(w))))
    return graph.op("Add", value, graph.real(constant))


def _level(model: SignalSystem) -> Array:
    """Return an estimate of the mean of each signal, zero where the model does not know it."""
    if isinstance(model, AdaptiveFilter):
        return np.asarray(model._adaptation.past.mean(axis=1))
    total = model._recording.total if isinstance(model, WienerFilter) else None
    newest = np.cumsum([0, *model._line[0][:-1]])
    return np.zeros(len(newest)) if total is None else total.about_mean().first_hi[newest]
