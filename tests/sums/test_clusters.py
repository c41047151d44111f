"""The native kernels of k-means and EM equal their references, on every instruction set; ties and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import kernels
from adaline.block import Block
from adaline.sums import Centres, Clusters, Components, MixtureMoments, View
from adaline.sums.clusters import clusters_reference, distances, nearest_centres
from adaline.sums.mixture import mixture_reference
from tests.sums.examples import DENSE, EXAMPLES, SHAPE, Example, any_centres, any_components, rows_of
from tests.turns import in_turn, needs_native, on_every_isa

SIZES = [(1, 1, 1), (97, 3, 1), (200, 8, 4), (96, 7, 5), (300, 30, 13)]
LINE = View(np.ones(1), np.zeros(1))

pytestmark = pytest.mark.every


def example(kind: type[Any], whole: bool = True) -> Example:
    return next(e for e in EXAMPLES if e.kind is kind and e.config.get("whole", whole) == whole)


def without_targets(x: Any, weight: Any = None) -> Block:
    return Block(x, np.empty((len(x), 0)), weight)


@in_turn("layout", DENSE)
@in_turn("weights", [True, False])
@on_every_isa
def test_kernels_equal_references_in_every_layout(layout: str, weights: bool) -> None:
    block = rows_of(300, layout, weights=weights)
    law = example(Clusters)
    law.assert_close(law.over(block), Clusters(clusters_reference(block, any_centres())))
    for whole in (True, False):
        law = example(MixtureMoments, whole)
        sought = mixture_reference(block, any_components(whole), whole)
        law.assert_close(law.over(block), MixtureMoments(SHAPE.features, whole, sought))


@pytest.mark.parametrize(("n", "d", "k"), SIZES, ids=str)
@on_every_isa
def test_kernels_equal_references_for_every_size(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    block = without_targets(rng.normal(size=(n, d)) * 3 + 5, rng.integers(0, 3, n).astype(float))
    view = View(np.full(d, 0.5), rng.normal(size=d))
    centres = Centres(rng.normal(size=(k, d)), view)
    sums = Clusters.zero(block.shape, clusters=k)
    sums.add(block, centres)
    np.testing.assert_allclose(sums.sums, clusters_reference(block, centres), rtol=1e-12, atol=1e-10)
    found, squares = nearest_centres(block, centres), distances(block, centres)
    np.testing.assert_array_equal(found[:, 0], squares.argmin(axis=1))
    np.testing.assert_allclose(found[:, 1], squares.min(axis=1), rtol=1e-12)
    for whole in (True, False):
        factors = np.triu(0.2 * rng.normal(size=(k, d, d))) + np.eye(d) if whole else rng.uniform(0.5, 2.0, (k, d))
        at = Components(np.log(np.full(k, 1 / k)), rng.normal(size=(k, d)), factors, view)
        moments = MixtureMoments.zero(block.shape, components=k, whole=whole)
        moments.add(block, at)
        np.testing.assert_allclose(moments.sums, mixture_reference(block, at, whole), rtol=1e-11, atol=1e-10)


@on_every_isa
def test_the_nearest_is_found_where_products_cancel() -> None:
    """Centres 1e-6 apart, 1e6 from the origin: v'c has no digit left that tells them apart."""
    rng = np.random.default_rng(0)
    points = 1e6 + 1e-6 * rng.normal(size=(5, 3))
    block = without_targets(points[rng.integers(0, 5, 500)] + 1e-7 * rng.normal(size=(500, 3)))
    centres = Centres(points, View(np.ones(3), np.zeros(3)))
    np.testing.assert_array_equal(nearest_centres(block, centres)[:, 0], distances(block, centres).argmin(axis=1))


@on_every_isa
def test_the_first_of_equal_centres_wins() -> None:
    centres = Centres(np.array([[5.0], [1.0], [-1.0], [1.0]]), LINE)
    block = without_targets(np.array([[0.0], [2.0], [-3.0], [1.0]]))
    np.testing.assert_array_equal(nearest_centres(block, centres)[:, 0], [1, 1, 2, 1])


@on_every_isa
def test_rows_far_from_every_density_keep_their_likelihood() -> None:
    """ln p = -5e7 and less: exponentials are taken about the largest."""
    at = Components(np.log([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1)), LINE)
    block = without_targets(np.array([[1e4], [-1e4]]))
    sums = MixtureMoments.zero(block.shape, components=2, whole=False)
    sums.add(block, at)
    sought = 2 * (np.log(0.5) - 0.5 * np.log(2 * np.pi)) - 0.5 * ((1e4 - 1) ** 2 + 1e8)
    assert sums.value == pytest.approx(sought, rel=1e-14)
    np.testing.assert_allclose(sums.moments[:, -1], [1.0, 1.0])


ONES, TWO, ONE = np.ones((4, 2)), np.ones(2), np.ones(1)


@needs_native
@pytest.mark.parametrize(
    ("kernel", "given", "match"),
    [
        ("clusters_dense", (np.zeros((1, 4)), ONES, None, np.ones((1, 3)), TWO, TWO, None), "points"),
        ("clusters_dense", (np.zeros((2, 4)), ONES, None, np.ones((1, 2)), TWO, TWO, None), "sums"),
        ("clusters_dense", (np.zeros((1, 4)), ONES, None, np.ones((1, 2)), TWO, TWO, np.zeros((3, 2))), "nearest"),
        ("mixture_dense", (np.zeros(6), ONES, None, ONE, np.ones((1, 2)), np.ones((1, 3)), TWO, TWO), "factors"),
        ("mixture_dense", (np.zeros(6), ONES, TWO, ONE, np.ones((1, 2)), np.ones((1, 2)), TWO, TWO), "weight"),
    ],
    ids=["points", "sums", "nearest", "factors", "weight"],
)
def test_bad_arguments_are_refused(kernel: str, given: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        getattr(kernels.native, kernel)(*given)
