"""Activations as nodes of an ONNX graph, and probabilities: from log odds, from machines, from pairs of classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from adaline.activations import ACTIVATIONS, Activation
from adaline.errors import InvalidType
from adaline.losses import LOSSES, Composed, CustomLoss, loss_of
from adaline.storage.graph import Graph
from adaline.systems import GeneralizedLinear, LogisticRegression
from adaline.systems.schemes import OneVsRest

OPERATORS = {"tanh": "Tanh", "logistic": "Sigmoid", "exp": "Exp"}


def two(graph: Graph, score: str) -> str:
    """Return the posteriors of two classes from the log odds of the second."""
    return graph.op("Concat", graph.op("Sigmoid", graph.op("Neg", score)), graph.op("Sigmoid", score), axis=1)


def sigmoid(graph: Graph, z: str, columns: int) -> str:
    """Return the logistic function as probabilities; K are divided by their sum."""
    return two(graph, z) if columns == 1 else shares(graph, graph.op("Sigmoid", z))


def shares(graph: Graph, one: str) -> str:
    """Return numbers divided by their sum over the classes."""
    total = graph.op("ReduceSum", one, graph.put(np.array([1])), keepdims=1)
    return graph.op("Div", one, graph.op("Max", total, graph.real(np.finfo(graph.dtype).tiny)))


def logistic(graph: Graph, model: LogisticRegression, score: str) -> tuple[str, str]:
    """Return scores and probabilities of the classes; pairs of classes vote, and their probabilities break ties."""
    k = len(model.classes_)
    if k == 2:
        return score, two(graph, score)
    if model.scheme != "one-vs-one":
        softmax = model.scheme == "softmax"
        return score, graph.op("Softmax", score, axis=1) if softmax else sigmoid(graph, score, k)
    above = graph.op("Cast", graph.op("Greater", score, graph.real(0.0)), to=int(graph.number))
    each = _from_pairs(graph, graph.op("Sigmoid", score), k)
    votes = graph.op("Add", _from_pairs(graph, above, k), graph.op("Div", each, graph.real(float(k**2))))
    return votes, shares(graph, each)


def against_the_rest(graph: Graph, model: OneVsRest, scores: str) -> str:
    """Return the probabilities of machines, logistic in their scores, divided by their sum."""
    tanh = [getattr(machine, "activation", "") == "tanh" for machine in model.estimators_]
    return shares(graph, graph.op("Sigmoid", graph.op("Mul", scores, graph.real(np.where([tanh], 2.0, 1.0)))))


def _from_pairs(graph: Graph, second: str, k: int) -> str:
    """Return what each class gets from all pairs: the second of a pair `second`, the first the rest."""
    gains, first = np.zeros((k * (k - 1) // 2, k)), np.zeros(k)
    for row, (i, j) in enumerate(combinations(range(k), 2)):
        gains[row, j], gains[row, i] = 1.0, -1.0
        first[i] += 1.0
    return graph.op("Add", graph.op("MatMul", second, graph.real(gains)), graph.real(first))


def activated(graph: Graph, model: GeneralizedLinear, z: str) -> str:
    """Return what a generalized linear machine predicts from its outputs (n, K)."""
    name = _activation(model).name
    if name == "identity":
        return z
    if name == "softmax":
        return graph.op("Softmax", z, axis=1)
    if name == "softplus":
        small = graph.op("Exp", graph.op("Neg", graph.op("Abs", z)))
        return graph.op("Add", graph.op("Max", z, graph.real(0.0)), _log1p(graph, small))
    return graph.op(OPERATORS[name], z)


def _log1p(graph: Graph, s: str) -> str:
    """Return ln(1 + s) for s from 0 to 1: ln(u) s / (u - 1) with u = 1 + s as rounded (Kahan), s where u is 1."""
    u = graph.op("Add", s, graph.real(1.0))
    off = graph.op("Sub", u, graph.real(1.0))
    found = graph.op("Div", graph.op("Mul", graph.op("Log", u), s), graph.op("Max", off, graph.real(1e-30)))
    return graph.op("Where", graph.op("Greater", off, graph.real(0.0)), found, s)


def _activation(model: GeneralizedLinear) -> Activation:
    """Return the activation that predicts; refuse Python functions of the user's own."""
    loss = loss_of(model.loss, model.activation)
    if isinstance(loss, Composed):
        found = loss.activation
    elif type(loss) in (*LOSSES.values(), CustomLoss):
        found = ACTIVATIONS[loss.link]
    else:
        raise InvalidType(f"what {type(loss).__name__} predicts is Python code, which has no ONNX form")
    if ACTIVATIONS.get(found.name) != found:
        raise InvalidType(f"the activation {type(found).__name__} is Python code, which has no ONNX form")
    return found
