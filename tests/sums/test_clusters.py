"""The native kernels of k-means and EM equal their references, on every instruction set; ties and rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adaline import kernels
from adaline.block import Block
from adaline.sums import Centres, Clusters, Components, MixtureMoments, View
from adaline.sums.clusters import clusters_reference, distances, nearest
from adaline.sums.mixture import mixture_reference
from tests.sums.examples import DENSE, EXAMPLES, SHAPE, Example, any_centres, any_components, rows_of

pytestmark = pytest.mark.skipif(kernels.native is None, reason="the native kernels could not be built")
ISAS = [] if kernels.native is None else kernels.native.isas()
SIZES = [(1, 1, 1), (97, 3, 1), (200, 8, 4), (96, 7, 5), (300, 30, 13)]


@pytest.fixture(params=ISAS)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = kernels.native.isa()
    kernels.native.use_isa(request.param)
    yield request.param
    kernels.native.use_isa(before)


def example(kind: type[Any], whole: bool = True) -> Example:
    return next(e for e in EXAMPLES if e.kind is kind and e.config.get("whole", whole) == whole)


@pytest.mark.parametrize("layout", DENSE)
@pytest.mark.parametrize("weights", [True, False])
def test_kernels_equal_references_in_every_layout(isa: str, layout: str, weights: bool) -> None:
    block = rows_of(300, layout, weights=weights)
    law = example(Clusters)
    law.assert_close(law.over(block), Clusters(clusters_reference(block, any_centres())))
    for whole in (True, False):
        law = example(MixtureMoments, whole)
        sought = mixture_reference(block, any_components(whole), whole)
        law.assert_close(law.over(block), MixtureMoments(SHAPE.features, whole, sought))


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_kernels_equal_references_for_every_size(isa: str, n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    block = Block(rng.normal(size=(n, d)) * 3 + 5, np.empty((n, 0)), rng.integers(0, 3, n).astype(float))
    view = View(np.full(d, 0.5), rng.normal(size=d))
    centres = Centres(rng.normal(size=(k, d)), view)
    sums = Clusters.zero(block.shape, clusters=k)
    sums.add(block, centres)
    np.testing.assert_allclose(sums.sums, clusters_reference(block, centres), rtol=1e-12, atol=1e-10)
    found, squares = nearest(block, centres), distances(block, centres)
    np.testing.assert_array_equal(found[:, 0], squares.argmin(axis=1))
    np.testing.assert_allclose(found[:, 1], squares.min(axis=1), rtol=1e-12)
    for whole in (True, False):
        factors = np.triu(0.2 * rng.normal(size=(k, d, d))) + np.eye(d) if whole else rng.uniform(0.5, 2.0, (k, d))
        at = Components(np.log(np.full(k, 1 / k)), rng.normal(size=(k, d)), factors, view)
        moments = MixtureMoments.zero(block.shape, components=k, whole=whole)
        moments.add(block, at)
        np.testing.assert_allclose(moments.sums, mixture_reference(block, at, whole), rtol=1e-11, atol=1e-10)


def test_the_nearest_is_found_where_products_cancel(isa: str) -> None:
    """Centres 1e-6 apart, 1e6 from the origin: v'c has no digit left that tells them apart."""
    rng = np.random.default_rng(0)
    points = 1e6 + 1e-6 * rng.normal(size=(5, 3))
    block = Block(points[rng.integers(0, 5, 500)] + 1e-7 * rng.normal(size=(500, 3)), np.empty((500, 0)))
    centres = Centres(points, View(np.ones(3), np.zeros(3)))
    np.testing.assert_array_equal(nearest(block, centres)[:, 0], distances(block, centres).argmin(axis=1))


def test_the_first_of_equal_centres_wins(isa: str) -> None:
    centres = Centres(np.array([[5.0], [1.0], [-1.0], [1.0]]), View(np.ones(1), np.zeros(1)))
    rows = np.array([[0.0], [2.0], [-3.0], [1.0]])
    np.testing.assert_array_equal(nearest(Block(rows, np.empty((4, 0))), centres)[:, 0], [1, 1, 2, 1])


def test_rows_far_from_every_density_keep_their_likelihood(isa: str) -> None:
    """ln p = -5e7 and less: exponentials are taken about the largest."""
    at = Components(np.log([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1)), View(np.ones(1), np.zeros(1)))
    sums = MixtureMoments.zero(Block(np.empty((0, 1)), np.empty((0, 0))).shape, components=2, whole=False)
    sums.add(Block(np.array([[1e4], [-1e4]]), np.empty((2, 0))), at)
    sought = 2 * (np.log(0.5) - 0.5 * np.log(2 * np.pi)) - 0.5 * ((1e4 - 1) ** 2 + 1e8)
    assert sums.value == pytest.approx(sought, rel=1e-14)
    np.testing.assert_allclose(sums.moments[:, -1], [1.0, 1.0])


def test_bad_arguments_are_refused() -> None:
    x, two = np.ones((4, 2)), np.ones(2)
    with pytest.raises(ValueError, match="points"):
        kernels.native.clusters_dense(np.zeros((1, 4)), x, None, np.ones((1, 3)), two, two, None)
    with pytest.raises(ValueError, match="sums"):
        kernels.native.clusters_dense(np.zeros((2, 4)), x, None, np.ones((1, 2)), two, two, None)
    with pytest.raises(ValueError, match="nearest"):
        kernels.native.clusters_dense(np.zeros((1, 4)), x, None, np.ones((1, 2)), two, two, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="factors"):
        kernels.native.mixture_dense(np.zeros(6), x, None, np.ones(1), np.ones((1, 2)), np.ones((1, 3)), two, two)
    with pytest.raises(ValueError, match="weight"):
        kernels.native.mixture_dense(np.zeros(6), x, two, np.ones(1), np.ones((1, 2)), np.ones((1, 2)), two, two)
