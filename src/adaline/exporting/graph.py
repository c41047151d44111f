"""Trees as a graph in which equal parts are one node, in the order in which they can be computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence

from adaline.exporting.tree import Node, apply, call, constant, where

# ln(erfcx(2 / t - 2) / t) as powers of 2 t - 1, from 0 to 1: Chebyshev's interpolation of degree 26 in 40 digits.
# Its last term is 1e-16; two degrees fewer cost a digit.
ERROR_SERIES = (
    -0.6717940840566923,
    0.6726432239776559,
    0.04734330684190415,
    -0.04689561023107716,
    -0.009872689366376865,
    0.008824938553557172,
    0.0017589335575530585,
    -0.002345812442194841,
    -0.00014624686098279685,
    0.0006736782487619259,
    -9.373504499208804e-05,
    -0.00017429974539128116,
    7.140106496969276e-05,
    3.1732769210255435e-05,
    -3.0188008635174027e-05,
    1.7065643682608049e-07,
    8.562827807038024e-06,
    -3.0087258428155394e-06,
    -1.2725384918465064e-06,
    1.3278447814608566e-06,
    -1.6833321758830403e-07,
    -3.175036568175422e-07,
    1.532694522477242e-07,
    3.996584549064402e-08,
    -3.9153823681150644e-08,
    -1.6257634004200004e-09,
    4.059203416871319e-09,
)
CONDITIONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "is_missing", "is_finite", "and"}


def by_dependence(
    outputs: Iterable[Node], parts: Callable[[Node], Sequence[Node]] = lambda one: one.arguments
) -> list[Node]:
    """Return all nodes of some trees, each after its arguments, or after other parts."""
    done: set[int] = set()
    order: list[Node] = []
    stack = [(one, False) for one in reversed(list(outputs))]
    while stack:
        one, ready = stack.pop()
        if id(one) in done:
            continue
        if ready:
            done.add(id(one))
            order.append(one)
            continue
        stack.append((one, True))
        stack += [(part, False) for part in reversed(parts(one))]
    return order


def shared_parts(outputs: dict[str, Node], lacking: Collection[str] = ()) -> dict[str, Node]:
    """Return the same trees with equal parts as one node, and functions that a language lacks made of others."""
    written = outputs
    while lacking and any(one.name in lacking for one in by_dependence(written.values())):
        written = _mapped(written, lambda one: EXPANSIONS[one.name](*one.arguments) if one.name in lacking else one)
    known: dict[object, Node] = {}

    def one_of(one: Node) -> Node:
        value = (math.copysign(1.0, one.value), one.value) if one.name == "number" else one.value
        return known.setdefault((one.name, value, tuple(map(id, one.arguments))), one)

    return _mapped(written, one_of)


def _mapped(outputs: dict[str, Node], change: Callable[[Node], Node]) -> dict[str, Node]:
    """Return trees in which each node, its arguments changed before it, is replaced by what `change` makes of it."""
    new: dict[int, Node] = {}
    for one in by_dependence(outputs.values()):
        arguments = tuple(new[id(part)] for part in one.arguments)
        same = all(a is b for a, b in zip(arguments, one.arguments, strict=True))
        new[id(one)] = change(one if same else Node(one.name, arguments, one.value))
    return {name: new[id(one)] for name, one in outputs.items()}


def _log1p(s: Node) -> Node:
    """Return ln(1 + s): ln(u) s / (u - 1) with u = 1 + s as rounded (Kahan), s where u is 1."""
    u = 1.0 + s
    return where(apply("equal", u, 1.0), s, call("log", u) * s / (u - 1.0))


def _expm1(x: Node) -> Node:
    """Return exp(x) - 1: (u - 1) x / ln(u) with u = exp(x) as rounded (Kahan), where neither is lost."""
    u = call("exp", x)
    inside = (u - 1.0) * x / call("log", u)
    far = where(call("abs", x) > 1.0, u - 1.0, inside)
    return where(apply("equal", u, 1.0), x, far)


def _tanh(x: Node) -> Node:
    """Return tanh x, by exp(-2 |x|) - 1."""
    t = _expm1(-2.0 * call("abs", x))
    return where(x > 0, -t / (t + 2.0), t / (t + 2.0))


def _erfc(z: Node) -> Node:
    """Return 1 - erf(z): t exp(g(2 t - 1) - x^2), x = |z|, t = 2 / (2 + x), by Horner's rule; 2 - that for z < 0."""
    x = call("abs", z)
    t = 2.0 / (2.0 + x)
    s, g = 2.0 * t - 1.0, constant(ERROR_SERIES[-1])
    for c in ERROR_SERIES[-2::-1]:
        g = g * s + c
    rest = t * call("exp", g - x * x)
    return where(z > 0, rest, 2.0 - rest)


EXPANSIONS: dict[str, Callable[..., Node]] = {
    "log1p": _log1p,
    "expm1": _expm1,
    "tanh": _tanh,
    "erfc": _erfc,
    "log2": lambda x: call("log", x) / math.log(2.0),
    "log10": lambda x: call("log", x) / math.log(10.0),
}
"""Functions made of others, for languages that lack them."""


def uses(outputs: dict[str, Node], repeats: Callable[[Node, int], int]) -> dict[int, int]:
    """Return how often each node is written, by its id; `repeats` says how often a node writes its argument k."""
    counts: dict[int, int] = {}
    for one in outputs.values():
        counts[id(one)] = counts.get(id(one), 0) + 1
    for one in by_dependence(outputs.values()):
        for k, part in enumerate(one.arguments):
            counts[id(part)] = counts.get(id(part), 0) + repeats(one, k)
    return counts
