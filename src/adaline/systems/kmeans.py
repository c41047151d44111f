"""K-means clustering (S3).

minimise over centres  sum over rows of weight ||x - c_k||^2,   k the nearest centre of the row
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, beside, host, like_rows, namespace
from adaline.construction import check_parameters
from adaline.estimator import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from adaline.fitted import AnyModel, check_is_fitted
from adaline.forms import NOT_KEPT, Count, Finite, Integers
from adaline.input import Meter, generator, transaction
from adaline.locks import cached_property
from adaline.parameters import AUTO, COUNT, AnyOf, Numbers, OneOf
from adaline.solvers.clusters.alternate import Clustering, lloyd
from adaline.solvers.clusters.starts import cluster_view, k_means_plus_plus, random_rows, sample_to_draw_from
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import Source
from adaline.sources.device import empty_on_device
from adaline.sources.runners import each_block
from adaline.state import FittedAttribute
from adaline.sums import Centres, Clusters, View
from adaline.sums.clusters import distances, nearest_beside, nearest_centres, nearest_index
from adaline.sums.objective import weights_on_device
from adaline.systems.families.named import named_system
from adaline.systems.families.unsupervised import UnsupervisedState, UnsupervisedSystem, shaped

ClusterStart = Literal["k-means++", "random"]
STARTS = {"k-means++": k_means_plus_plus, "random": random_rows}
LOCAL = "first centres are drawn from the rows, so that weighted rows lead to another local optimum than repeated ones"


class StreamedLabels:
    """The indices of the nearest centres of streamed rows, found by a pass when they are first asked for."""

    def __init__(self, rows: Source, centres: Centres) -> None:
        self.rows, self.centres = rows, centres

    @cached_property
    def values(self) -> NDArray[np.int32]:
        """The index of each row's centre, (n,)."""
        index: Any = partial(nearest_index, self.centres)
        return cast(NDArray[np.int32], self.rows.map(index))


@dataclass(frozen=True, kw_only=True, eq=False)
class KMeansState(UnsupervisedState):
    """What a fit of k-means has learned.

    Parameters
    ----------
    cluster_centers, inertia : (K, D), and the error.
    n_features_out : K, the number of columns of distances.
    labels : index of each row's centre, (n,), of rows in memory.
    streamed : the same of streamed rows; it keeps the rows, and is not stored.
    """

    cluster_centers: Annotated[Array, Finite("M D")]
    inertia: float
    n_features_out: Count
    labels: Annotated[Any, Integers(".")] | None = None
    streamed: Annotated[StreamedLabels | None, NOT_KEPT] = None


class LabelsAttribute(FittedAttribute[Any]):
    """`labels_` : of streamed rows they are found when they are asked for."""

    def absent(self, model: AnyModel) -> NDArray[np.int32]:
        """Return the labels of streamed rows, (n,)."""
        streamed: StreamedLabels | None = None if model._state is None else model._state.streamed
        if streamed is None:
            raise AttributeError(
                "labels_ are not there: before fit there are none, and those of streamed rows are not stored. "
                "predict(X) gives them"
            )
        return streamed.values


@named_system
@dataclass(eq=False, repr=False)
class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, UnsupervisedSystem):
    """K-means: minimises the sum over rows of weight ||x - c_k||^2, k the nearest centre of the row.

    Rows go to their nearest centre, centres to the mean of their rows, in turn. The error never rises, and as there are
    finitely many assignments this ends, in a local minimum that depends on the start. A centre that loses all its rows
    moves to the row that is farthest from its centre. Distances are in the columns' own units: bring columns to one
    scale where their units differ. Errors that float64 cannot represent, as those of columns of 1e200, are infinite or
    zero; centres and labels are right all the same.

    Parameters
    ----------
    n_clusters : int
        K.
    init : "k-means++", "random", or array (K, D)
        First centres: rows far from each other, any rows, or as given. Of more than 2^14 rows (64 K if that is more),
        that many are drawn at random, and the start is chosen from these.
    n_init : int or "auto"
        How many starts to try; the smallest error wins. "auto" is 10 for "random", otherwise 1.
    max_iter : int
        Most moves of a start.
    tol : float
        A start ends when the squares of all moves together are no more than tol times the mean variance of the columns;
        zero: when no row changes its centre.
    random_state : int, generator or None
        Seed of the random rows.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    cluster_centers_ : (K, D). labels_ : index of each row's centre, (n,), of streamed rows found by a pass when it is
    asked for, and not stored. inertia_ : the error. n_iter_ : moves. history_ : the error before each move, and at the
    end. certificate_ : its objective is the error; how far it is from the least possible is not known.

    Examples
    --------
    >>> from adaline import KMeans
    >>> model = KMeans(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_[:, 0].tolist()), model.inertia_
    ([0.5, 10.5], 1.0)
    >>> model.predict([[2.0]])[0] == model.labels_[0]
    np.True_

    References
    ----------
    Lecture S3, recap of k-means; Arthur and Vassilvitskii (2007) for the start. One pass for the scale of the columns,
    one for each start, one a move, one for the error; K D multiplications a row and move.
    """

    expected_failures: ClassVar[dict[str, str]] = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), LOCAL
    )
    """Checks of scikit-learn that cannot pass, each with its reason."""
    n_clusters: Annotated[int, COUNT] = 8
    _: KW_ONLY
    init: Annotated[ClusterStart | Any, AnyOf(OneOf(*STARTS), Numbers("centres (K, D)", (2,)))] = "k-means++"
    n_init: Annotated[int | Literal["auto"], AnyOf(AUTO, COUNT)] = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    random_state: Any = 0
    basis: Any = None

    learns = KMeansState
    cluster_centers_ = FittedAttribute[Array]()
    inertia_ = FittedAttribute[float]()
    _n_features_out = FittedAttribute[int]()
    labels_ = LabelsAttribute()

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Find the centres of rows X (n, D), or of a source; y is ignored, weights are frequencies."""
        meter = Meter(X)
        check_parameters(self)
        k, max_iter, starts = int(self.n_clusters), int(self.max_iter), self._starts()
        source, columns = self._open(X, sample_weight, reset=True)
        spread = column_spread(source)
        view = cluster_view(spread, source.sparse, alike=True)
        tol = self.tol * float(((spread.deviation * view.scale) ** 2).mean())
        best: Clustering | None = None
        for points in self._first_centres(source, k, starts, view.scale[0]):
            found = lloyd(source, points + view.offset, view, tol, max_iter)
            if best is None or found.errors[-1] < best.errors[-1]:
                best = found
        assert best is not None
        centres = Centres(best.points, view)
        labels, streamed = None, None
        if source.streamed:
            streamed, error = StreamedLabels(source, centres), source.sum(Clusters, centres, clusters=k).error
        elif empty_on_device(source) is not None:
            labels, error = _on_device(source, centres)
        else:
            labels, error = _on_host(source, centres)
        inertia = _raw(error, view)
        name = f"Lloyd's algorithm, {'best of ' if starts > 1 else ''}{starts} start{'s' if starts > 1 else ''}"
        self._state = KMeansState(
            columns=columns,
            cluster_centers=(best.points - view.offset) / view.scale,
            inertia=inertia,
            n_iter=best.n_iter,
            history=[*(_raw(error, view) for error in best.errors), *([] if best.settled else [inertia])],
            n_features_out=k,
            certificate=self._certify(source, meter, inertia, name, best.converged),
            labels=labels,
            streamed=streamed,
        )
        return self

    def __getstate__(self) -> dict[str, Any]:
        own = super().__getstate__()
        if own.get("_state") is not None:
            own["_state"] = replace(own["_state"], streamed=None)
        return own

    def predict(self, X: RowsLike) -> NDArray[np.int32]:
        """Return the index of the nearest centre of each row, (n,)."""
        check_is_fitted(self, "cluster_centers_")
        centres = self._centres()
        return like_rows(X, self._over(X, lambda block: nearest_centres(block, centres))[:, 0].astype(np.int32))

    def transform(self, X: RowsLike) -> Array:
        """Return the distances to all centres, (n, K)."""
        check_is_fitted(self, "cluster_centers_")
        centres = self._centres()
        unit = centres.view.scale[0]
        return like_rows(X, self._over(X, lambda block: np.sqrt(host(distances(block.gathered(), centres))) / unit))

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return minus the error of rows, so that more is better."""
        check_is_fitted(self, "cluster_centers_")
        source, centres = self._open(X, sample_weight, reset=False).source, self._centres()
        with np.errstate(all="ignore"):
            sums = source.sum(Clusters, centres, clusters=len(centres.points))
        if not sums.finite:
            source.refuse_nonfinite()
        return -_raw(sums.error, centres.view)

    def _centres(self) -> Centres:
        """Return the centres about their mean, in a power of two near their distance, so that no square overflows."""
        points = np.asarray(self.cluster_centers_, dtype=np.float64)
        with np.errstate(over="ignore"):
            middle = points.mean(axis=0)
        middle = np.where(np.isfinite(middle), middle, (points / len(points)).sum(axis=0))
        size = float(np.abs(points - middle).max() or np.abs(points).max())
        scale = np.full(len(middle), np.ldexp(1.0, -int(np.clip(np.frexp(size or 1.0)[1], -1000, 1000))))
        return Centres((points - middle) * scale, View(scale, -middle * scale))

    def _starts(self) -> int:
        """Return how many starts there are."""
        if not isinstance(self.init, str):
            return 1
        if isinstance(self.n_init, str):
            return 10 if self.init == "random" else 1
        return int(self.n_init)

    def _first_centres(self, source: Source, k: int, starts: int, scale: float) -> list[Array]:
        if not isinstance(self.init, str):
            return [shaped("init", self.init, (k, source.shape.features)) * scale]
        draw = generator(self.random_state)
        rows, weight = sample_to_draw_from(source, k, draw)
        return [STARTS[self.init](rows * scale, weight, k, draw) for _ in range(starts)]


def _on_host(source: Source, centres: Centres) -> tuple[NDArray[np.int32], float]:
    """Return the index of the nearest centre of each row, (n,), and the error."""
    found, given = source.map(lambda block: nearest_centres(block, centres)), source.read_weights()
    return found[:, 0].astype(np.int32), float(((1.0 if given is None else host(given)) * found[:, 1]).sum())


def _on_device(source: Source, centres: Centres) -> tuple[Any, float]:
    """Return the index of the nearest centre of each row, on the device of the rows, and the error."""
    found = each_block(source, lambda block: (nearest_beside(block, centres), weights_on_device(block.x, block.weight)))
    xp = namespace(found[0][0][0])
    error = sum(float(xp.sum(square if weight is None else weight * square)) for (_, square), weight in found)
    return beside(empty_on_device(source), xp.concat([index for (index, _), _ in found])), error


def _raw(error: float, view: View) -> float:
    """Return a sum of squares in the view, whose columns are scaled alike, in raw units."""
    with np.errstate(over="ignore", under="ignore"):
        return float(error / view.scale[0] / view.scale[0])
