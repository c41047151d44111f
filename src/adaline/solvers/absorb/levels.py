"""Sums over the rows of each level, and the product that conjugate gradients need: native, beside their references.

codes (Q, N) are the levels of each row, those of all Q columns numbered together from zero.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.kernels import native
from adaline.sources.tables.effects import LevelCodes


def level_sums_reference(out: Array, codes: LevelCodes, x: Array | None, weight: Array | None) -> None:
    """Add to out (L,) the sum of weight x over the rows of each level; x (N,) and weight (N,) are ones where None."""
    values = weight if x is None else x if weight is None else weight * x
    for column in codes:
        out += np.bincount(column, values, len(out))


def level_subtract_reference(x: Array, codes: LevelCodes, effects: Array) -> None:
    """Subtract from x (N,) the effects (L,) of the levels of each row."""
    x -= effects[codes].sum(axis=0)


def level_order_reference(order: LevelCodes, starts: NDArray[np.int64], codes: LevelCodes) -> None:
    """Set order (N,) to the rows sorted by their level in codes (1, N), and starts (G + 1,) to where each begins."""
    order[:] = np.argsort(codes[0], kind="stable")
    starts[:] = np.concatenate([[0], np.cumsum(np.bincount(codes[0], minlength=len(starts) - 1))])


LevelPairs = tuple[NDArray[np.int64], LevelCodes, Array]
"""Where the pairs of each level of the first column begin, their levels of the other one, and their weights."""


def level_pairs_reference(
    starts: NDArray[np.int64], cells: LevelCodes, weight: Array | None, levels: int
) -> LevelPairs | None:
    """Return rows that are sorted by a level with those merged that share their other one, of cells (1, N), too.

    They are in the order in which they come; None where fewer than a quarter of the rows would go.
    """
    rows, group = cells.shape[1], np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    _, first, inverse = np.unique(group * np.int64(levels) + cells[0], return_index=True, return_inverse=True)
    if not rows or len(first) > rows - rows // 4:
        return None
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first = first[order]
    begins = np.searchsorted(first, starts)
    return begins, cells[0][first], np.bincount(place[inverse], weight, len(first)).astype(np.float64)


def level_product_reference(
    out: Array, v: Array, starts: NDArray[np.int64], cells: LevelCodes, weight: Array | None, inverse: Array
) -> None:
    """Set out (L, K) to D'W (I - P) D v for rows sorted by the level g of one column, whose others are cells (Q, N).

    v is (L, K), K one or two, or (L,). D v is the sum of the entries of v of a row, P the mean over the rows
    starts[g] .. starts[g + 1] of a level g.
    """
    levels, group = len(v), np.repeat(np.arange(len(inverse)), np.diff(starts))
    for column, to in zip(v.reshape(levels, -1).T, out.reshape(levels, -1).T, strict=True):
        values = column[cells].sum(axis=0)
        mean = np.bincount(group, values if weight is None else weight * values, len(inverse)) * inverse
        to[:] = 0.0
        level_sums_reference(to, cells, values - mean[group], weight)


def level_components_reference(codes: LevelCodes, levels: int) -> int:
    """Return in how many parts the graph falls whose nodes are levels and whose edges are rows; codes are (2, N)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    met = np.unique(codes)
    edges = np.searchsorted(met, codes)
    graph = coo_array((np.ones(codes.shape[1]), (edges[0], edges[1])), shape=(len(met), len(met)))
    return int(connected_components(graph, directed=False)[0])


LevelFactor = tuple[LevelCodes, NDArray[np.int64], LevelCodes, Array, Array]
"""Nodes in the order in which they were eliminated, where the column of L of each begins, its entries, and 1 / D."""


def level_factor_reference(codes: LevelCodes, levels: int, weight: Array | None) -> LevelFactor:
    """Return L and D with L D L' about the Laplacian of the graph whose nodes are levels and whose edges are rows.

    codes are (2, N). The node of fewest edges is eliminated next, as far as that is known. Instead of joining all of
    its neighbours, of edges w_1 <= ... <= w_m, each is joined to one later neighbour j, drawn with chance w_j / rest,
    by w_k rest / sum, rest = w_(k+1) + ... + w_m: the same on average, and exact for m = 2 (Y. Gao, R. Kyng and D. A.
    Spielman, arXiv:2303.00709).
    """
    edges: list[list[tuple[int, float]]] = [[] for _ in range(levels)]

    def join(a: int, b: int, size: float) -> None:
        edges[a].append((b, size))
        edges[b].append((a, size))

    for n, (a, b) in enumerate(codes.T.tolist()):
        if weight is None or weight[n] > 0:
            join(a, b, 1.0 if weight is None else float(weight[n]))
    degree, gone, numbers = [len(own) for own in edges], [False] * levels, _splitmix()
    following = [(degree[node], node) for node in range(levels)]
    heapq.heapify(following)
    order, starts, targets, shares, pivots = [], [0], [], [], []
    while following:
        known, node = heapq.heappop(following)
        if gone[node]:
            continue
        if degree[node] > known:
            heapq.heappush(following, (degree[node], node))
            continue
        gone[node] = True
        joined: dict[int, float] = {}
        for other, size in reversed(edges[node]):
            if not gone[other]:
                joined[other] = joined.get(other, 0.0) + size
                degree[other] -= 1
        ends = sorted(joined, key=lambda other: (joined[other], other))
        rest = [0.0]
        for other in reversed(ends):
            rest.insert(0, rest[0] + joined[other])
        order.append(node)
        pivots.append(1.0 / rest[0] if rest[0] > 0 else 0.0)
        targets += ends
        shares += [joined[other] / rest[0] for other in ends]
        starts.append(len(targets))
        for k, other in enumerate(ends[:-1]):
            left = next(numbers) * rest[k + 1]
            drawn = max(j for j in range(k + 1, len(ends)) if j == k + 1 or rest[j] > left)
            join(other, ends[drawn], joined[other] * (rest[k + 1] / rest[0]))
            degree[other] += 1
            degree[ends[drawn]] += 1
        for other in ends:
            if degree[other] <= 2:
                heapq.heappush(following, (degree[other], other))
    short, long = np.int32, np.int64
    return (
        *(np.array(order, dtype=short), np.array(starts, dtype=long), np.array(targets, dtype=short)),
        *(np.array(shares, dtype=np.float64), np.array(pivots, dtype=np.float64)),
    )


def _splitmix() -> Iterator[float]:
    """Yield numbers from 0 to 1, always the same (splitmix64)."""
    whole, state = 2**64 - 1, 0
    while True:
        state = z = (state + 0x9E3779B97F4A7C15) & whole
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & whole
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def level_precondition_reference(
    x: Array, order: LevelCodes, starts: NDArray[np.int64], targets: LevelCodes, shares: Array, pivots: Array
) -> None:
    """Set x (L,) to the solution of L D L' z = x; where D is zero, so is the entry of z that it begins with."""
    columns = [slice(start, end) for start, end in pairwise(starts.tolist())]
    for node, own, pivot in zip(order, columns, pivots, strict=True):
        x[targets[own]] += shares[own] * x[node]
        x[node] *= pivot
    for node, own in zip(order[::-1], columns[::-1], strict=True):
        x[node] += shares[own] @ x[targets[own]]


add_sums: Any = level_sums_reference if native is None else native.level_sums
subtract: Any = level_subtract_reference if native is None else native.level_subtract
put_order: Any = level_order_reference if native is None else native.level_order
merge_pairs: Any = level_pairs_reference if native is None else native.level_pairs
product: Any = level_product_reference if native is None else native.level_product
components: Any = level_components_reference if native is None else native.level_components
factor: Any = level_factor_reference if native is None else native.level_factor
precondition: Any = level_precondition_reference if native is None else native.level_precondition


def level_sums(codes: LevelCodes, levels: int, x: Array | None, weight: Array | None) -> Array:
    """Return the sum of weight x over the rows of each level, (L,); of weights alone where x is None."""
    out = np.zeros(levels)
    add_sums(out, codes, x, weight)
    return out
