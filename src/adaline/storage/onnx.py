"""Export to ONNX: a fitted system as a graph of standard operators, for other runtimes and languages.

Every linear output is computed about the mean m of the training columns, where the sums know it,

    w'x + w0 = w'(x - m) + (w0 + w'm),

m rounded to the graph's type and the constant formed in float64: the large numbers cancel before they are multiplied,
so that float32 keeps its 7 digits of the spread of the outputs and not of the size of the columns. Squared distances of
Gaussian densities are taken about each class's own mean, in coordinates where its covariance is the identity.

Only standard operators of opset 13 are used. This is the one module that imports onnx.
"""

from __future__ import annotations

import os
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import AdalineError, InvalidData, InvalidType
from adaline.namespaces import host
from adaline.parameters import OneOf
from adaline.storage.container import replacing
from adaline.storage.filters import filtered
from adaline.storage.graph import Graph
from adaline.storage.model_file import check_storable
from adaline.storage.probabilities import activated, against_the_rest, logistic, sigmoid, two
from adaline.sums import ClassMoments, Moments
from adaline.systems import (
    GaussianClassifier,
    GeneralizedLinear,
    LogisticRegression,
    OneVsOne,
    SigmoidPerceptron,
)
from adaline.systems.expanding import basis_of
from adaline.systems.schemes import MOST, OneVsRest, Scheme
from adaline.systems.signals import SignalSystem

Array = NDArray[np.float64]

TYPES = ("float64", "float32")


def export_onnx(model: Any, path: str | os.PathLike[str], dtype: str = "float64") -> None:
    """Write a fitted system as an ONNX file, with input `X` (n, D) and outputs by what the system does.

    Regressions and filters: `prediction`, (n,) or (n, K). Classifiers: `label` (n,), text or int64 (float64 where the
    classes are such); `score`, the decision function, (n,) or (n, K); `probability` (n, K) where the system has
    posteriors; `projection` (n, r) for FisherDiscriminant. The metadata hold the names of the columns, the classes and
    the certificate.

    In float64 outputs agree with `predict` to rounding. In float32 they agree, on the same float32 rows, to about 1e-6
    of the spread of the outputs however large the means of the columns are (and to what float32 can write of the output
    itself), posteriors to about 1e-6. Where no sums are kept (wide data) the means are not known, and large ones cost
    float32 digits. Rows at a boundary between classes may fall on its other side.

    Categories, dates and formulas are not part of the graph: its input are the columns of numbers that they become.

    Parameters
    ----------
    model : a fitted system of adaline.
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
    OneOf(*TYPES).check("dtype", dtype)
    if any(basis_of(machine) is not None for machine in (model, *vars(model).get("estimators_", ()))):
        raise InvalidType(
            f"the basis of {type(model).__name__} has no ONNX form yet: export the system fitted to the columns of "
            "basis.transform(X), and make these columns before the graph"
        )
    graph = Graph(_onnx(), np.dtype(dtype))
    if isinstance(model, SignalSystem):
        columns = _filter(graph, model)
    elif hasattr(model, "classes_"):
        columns = _classifier(graph, model)
    elif hasattr(model, "coef_"):
        columns = _regression(graph, model)
    else:
        raise _no_form(model)
    content = graph.model(model, columns).SerializeToString()
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise AdalineError("export to ONNX needs the package onnx: pip install adaline[onnx]") from None
    return onnx


def _regression(graph: Graph, model: Any) -> int:
    coef = np.atleast_2d(host(model.coef_))
    value = graph.affine("X", coef, host(model.intercept_), _centre(model, coef.shape[1]))
    if isinstance(model, GeneralizedLinear):
        value = activated(graph, model, value)
    _predict(graph, value, len(coef), np.ndim(host(model.coef_)) == 1)
    return int(coef.shape[1])


def _predict(graph: Graph, value: str, targets: int, flat: bool) -> None:
    graph.output("prediction", graph.flat(value) if flat else value, None if flat else targets)


def _filter(graph: Graph, model: SignalSystem) -> int:
    _predict(graph, filtered(graph, model), len(np.atleast_2d(model.coef_)), np.ndim(model.coef_) == 1)
    return len(model._line[0])


def _classifier(graph: Graph, model: Any) -> int:
    score, columns, joint = _scheme(graph, model) if isinstance(model, Scheme) else _scores(graph, model)
    probability = None
    if isinstance(model, LogisticRegression):
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
        z = graph.op("Mul", score, graph.real(2.0 if model.activation == "tanh" else 1.0))
        graph.output("probability", sigmoid(graph, z, columns), len(model.classes_))
    elif isinstance(model, GaussianClassifier):
        if joint is None and columns == 1 and len(model.classes_) == 2:
            graph.output("probability", two(graph, score), 2)
        else:
            graph.output("probability", graph.op("Softmax", joint or score, axis=1), len(model.classes_))
    elif isinstance(model, OneVsRest) and joint is not None:
        graph.output("probability", against_the_rest(graph, model, joint), len(model.classes_))
    elif hasattr(model, "predict_proba"):
        raise _no_form(model)
    if hasattr(model, "directions_"):
        directions = host(model.directions_)
        centre = _centre(model, directions.shape[1])
        graph.output("projection", graph.affine("X", directions, -directions @ model._mean, centre), len(directions))
    return int(model.n_features_in_)


def _scores(graph: Graph, model: Any) -> tuple[str, int, str | None]:
    """Return the decisions of a classifier, (n, columns), how many columns, and ln p(c_k) p(x | c_k) if it has them."""
    if hasattr(model, "coef_"):
        w = np.atleast_2d(host(model.coef_))
        return graph.affine("X", w, host(model.intercept_), _centre(model, w.shape[1])), len(w), None
    if not isinstance(model, GaussianClassifier) or hasattr(model, "_mixtures"):
        raise _no_form(model)
    joint, columns = _log_joint(graph, model), len(model._hi)
    if columns == 2:
        return graph.op("MatMul", joint, graph.real([[-1.0], [1.0]])), 1, joint
    return joint, columns, joint


def _scheme(graph: Graph, model: Scheme) -> tuple[str, int, str | None]:
    """Return decisions, (n, K), or (n, 1) for two classes, and those that have probabilities, (n, K)."""
    k = len(model.classes_)
    said = [_machine(graph, machine, model.n_features_in_) for machine in model.estimators_]
    if isinstance(model, OneVsOne):
        scores = _votes(graph, said, k)
    else:
        last = [_nothing(graph, model.n_features_in_)] * (k - len(said))  # the class without a machine
        scores = graph.op("Concat", *said, *last, axis=1)
    each = scores if hasattr(model, "predict_proba") else None
    return (scores, k, each) if k > 2 else (graph.op("MatMul", scores, graph.real([[-1.0], [1.0]])), 1, each)


def _machine(graph: Graph, machine: Any, features: int) -> str:
    """Return the decisions of a machine, (n, 1); zero before its first row."""
    return _scores(graph, machine)[0] if hasattr(machine, "classes_") else _nothing(graph, features)


def _nothing(graph: Graph, features: int) -> str:
    return graph.affine("X", np.zeros((1, features)), 0.0, np.zeros(features))


def _votes(graph: Graph, said: list[str], k: int) -> str:
    """Return votes, and less than half of one for the sum s of the decisions: s / (3 (|s| + 1)).

    Decisions are added in the order of the machines, as the system does: where some are infinite the others vanish.
    """
    pairs = list(combinations(range(k), 2))
    second, first = np.zeros((2, len(pairs), k))
    most = graph.real(min(MOST, float(np.finfo(graph.dtype).max) / (4 * k)))
    sums = [graph.op("Mul", _limited(graph, said[0], most), graph.real(0.0))] * k
    for machine, (one, (i, j)) in enumerate(zip(said, pairs, strict=True)):
        first[machine, i] = second[machine, j] = 1.0
        limited = _limited(graph, one, most)
        sums[i], sums[j] = graph.op("Sub", sums[i], limited), graph.op("Add", sums[j], limited)
    positive = graph.op("Greater", graph.op("Concat", *said, axis=1), graph.real(0.0))
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
    constant = model._log_priors() - 0.5 * (model._log_determinants + model.n_features_in_ * np.log(2 * np.pi))
    for k, factor in enumerate(model._factors):
        if factor is None:
            parts.append(None)
            continue
        whiten = factor.half(np.diag(np.exp2(-factor.frame.scale.astype(np.float64)))) * np.sqrt(factor.frame.weight)
        m = graph.rounded(model._hi[k])
        rest = (m - model._hi[k]) - model._lo[k]
        rows = graph.op("MatMul", graph.op("Sub", "X", graph.real(m)), graph.real(whiten))
        rows = graph.op("Add", rows, graph.real(rest @ whiten))
        distance = graph.op("ReduceSumSquare", rows, axes=[1], keepdims=1)
        parts.append(graph.op("Add", graph.op("Mul", distance, graph.real(-0.5)), graph.real(constant[k])))
    there = graph.op("Shape", next(part for part in parts if part is not None))
    never = graph.op("Expand", graph.real([[-np.inf]]), there)
    return graph.op("Concat", *(part or never for part in parts), axis=1)


def _centre(model: Any, features: int) -> Array:
    """Return the mean of the training columns, zero where the model does not know it."""
    typical = vars(model).get("_typical")  # a row of the training data will do where the mean is not known
    if typical is not None:
        return np.asarray(typical)
    sums = vars(model).get("_sums")
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


def _no_form(model: Any) -> InvalidType:
    if getattr(model, "machine", None) is not None:
        return InvalidType("a machine of one's own is Python code, which has no ONNX form")
    return InvalidType(f"{model} has no ONNX form yet")
