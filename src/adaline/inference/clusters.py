"""Standard errors where the rows of a group belong together: the sum of products of the scores of groups.

    CR1: G = c sum_g s_g s_g',   c = G/(G - 1) (N - 1)/(N - p), G groups, as Stata and fixest have it; where effects
         were absorbed, p counts none of those whose levels lie within one group each (fixest: K.fixef = "nonnested")
    CR2: G = sum_g a_g a_g',     a_g = (1 - P_g)^(-1/2) s_g
    CR3: G = sum_g a_g a_g',     a_g = (1 - P_g)^(-1) s_g

s_g is the score of a group and P_g its part of the information, in the coordinates of covariance.py, where all groups
together have 1. CR2 is free of bias where the working model holds. CR3 is the jackknife which leaves out one group at a
time, and errs on the safe side. `errors="cluster"` is CR3, but CR1 with so many groups that their P_g would take long,
where the two hardly differ. A direction that one group alone determines has no residuals: it adds nothing.

Groups by two columns: G_1 + G_2 - G_12, the last of groups that agree in both (Cameron, Gelbach and Miller). Student's
t and F have G - 1 degrees of freedom, of two columns those of the one with fewer groups, as in fixest (G.df = "min").

R. M. Bell and D. F. McCaffrey, Survey Methodology 28 (2002), 169-181; J. E. Pustejovsky and E. Tipton, JBES 36 (2018),
672-683; A. C. Cameron, J. B. Gelbach and D. L. Miller, JBES 29 (2011), 238-249; J. G. MacKinnon, M. O. Nielsen and M.
D. Webb, J. Applied Econometrics 38 (2023), 671-694 (the jackknife).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, GroupsLike, refuse_masked
from adaline.coding.reading import is_missing
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.inference.roots import root_of, root_of_difference, small_sample_factor
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource
from adaline.sums import FittedDesign, FittedLikelihood, GroupScores
from adaline.wording import counted

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources.tables.effects import Levels

CLUSTERED = ("cluster", "CR1", "CR2", "CR3", "wild")
MOST_GRAMS = 2**22  # numbers of all P_g up to which "cluster" is CR3; doubled: CR3 with more groups, up to twice slower
MOST_GRAMS_BY_NAME = 2**26  # the same where CR2 or CR3 are named, 512 MiB a thread; doubled: twice the memory
FEW_GROUPS = 20  # below which a summary warns that there are few groups; doubling it warns more often
ROOT_GROUPS = 4  # groups a coefficient up to which the scores are the root; doubled: larger roots, slower tests
ALONE = 1e-9  # 1 - eigenvalue of P_g below which the group alone determines a direction; doubled: more directions are
SAFE_TRACE = 0.5  # of P_g, up to which 1 - P_g is solved directly; above it its eigenvalues are taken


def judges_together(errors: str, count: int, freedom: float) -> bool:
    """Return whether there are enough groups to test so many hypotheses together.

    G groups have G - 1 degrees of freedom; beyond them CR3 still has a covariance, in which some direction has next
    to no variance, and F is as large as that is small.
    """
    return errors not in CLUSTERED or count <= freedom


@dataclass(frozen=True)
class ClusteredScores:
    """The scores of groups of a fit with K targets, ready to be added up.

    Parameters
    ----------
    kind : CR1, CR2 or CR3.
    scores : a_g (G, K, m) of the groups of one column, or of those of two and of both.
    squares : sums (K,) of w cost, by which rows are recognised.
    groups : how many groups the column has, or each of two.
    alone : how many groups determine a direction alone.
    grams : P_g (G, m, m), for the wild bootstrap alone.
    """

    kind: str
    scores: Sequence[Array]
    squares: Array
    groups: tuple[int, ...]
    alone: int
    grams: Array | None = None

    @property
    def freedom(self) -> float:
        """Degrees of freedom of t and of the denominator of F."""
        return min(self.groups) - 1.0

    def factor(self, rows: float, parameters: float) -> float:
        """Return c."""
        return small_sample_factor(self.kind, rows, parameters, min(self.groups))

    def meat(self, k: int) -> Array:
        """Return G of target k, (m, m), but for c; of two columns it may have negative eigenvalues."""
        each = [np.ascontiguousarray(one[:, k]) for one in self.scores]
        products = [one.T @ one for one in each]
        return np.asarray(products[0] if len(products) == 1 else products[0] + products[1] - products[2])

    def root(self, k: int, scale: float) -> tuple[Array, list[str]]:
        """Return a root of c G of target k, and what is to be said about it."""
        if len(self.scores) > 1:
            return root_of_difference(self.meat(k), scale)
        scores = self.scores[0][:, k]
        if len(scores) <= ROOT_GROUPS * scores.shape[1]:  # the scores are a root themselves, and show its rank
            return np.sqrt(scale) * scores.T, []
        return root_of(self.meat(k), scale), []

    def notes(self, remedy: str = "") -> list[str]:
        """Return the lines of a table about groups; `remedy` is for few of them."""
        count = " and ".join(f"{number:,}" for number in self.groups)
        out = [f"{self.kind} of {count} groups"]
        if min(self.groups) < FEW_GROUPS:
            out = [f"{self.kind} of {count} groups, which are few: p values and intervals are approximate{remedy}"]
        if self.alone:
            which = "1 group alone determines" if self.alone == 1 else f"{self.alone:,} groups each alone determine"
            out.append(f"{which} a coefficient or a sum of some: its standard error is too small, or zero")
        return out


def read_scores(
    source: Source, design: FittedDesign | FittedLikelihood, errors: str, groups: GroupsLike, **config: int
) -> tuple[ClusteredScores, list[Source]]:
    """Return the scores of groups, in one read of the rows, and the rows with the number of the group of each.

    `config` is that of `GroupScores`.
    """
    joined = group_sources(source, groups)
    if errors == "wild" and len(joined) > 1:
        raise InvalidParameter("errors='wild' is for groups by one column: use 'cluster'")
    if errors == "wild" and isinstance(source, AbsorbedSource) and across_groups(source, joined):
        raise InvalidParameter(
            "errors='wild' needs absorbed effects whose levels lie within one group each: name the others as columns"
        )
    most = {"cluster": MOST_GRAMS, "CR1": 0}.get(errors, MOST_GRAMS_BY_NAME)
    sums = [rows.sum(GroupScores, design, most_grams=most, **config) for rows in joined]
    counts = tuple(len(one.groups) for one in sums[:2])
    if min(counts) < 2:
        raise InvalidData("errors='cluster' needs at least 2 groups: one group says nothing about their variation")
    kind = {"cluster": "CR3", "wild": "CR1"}.get(errors, errors)
    if errors == "wild":
        if sums[0].grams is None:
            raise InvalidParameter(f"errors='wild' holds a matrix for each of {counts[0]:,} groups: use 'cluster'")
        return ClusteredScores(kind, [sums[0].scores], sums[0].squares, counts, 0, sums[0].grams), joined
    if kind != "CR1" and any(one.grams is None for one in sums):
        if errors != "cluster":
            most_groups = max(len(one.groups) for one in sums)
            raise InvalidParameter(
                f"errors={errors!r} holds a matrix for each of {counted(most_groups, 'group')}, more than fit into "
                "memory: use errors='CR1', which hardly differs with so many groups"
            )
        kind = "CR1"
    each = [(one.scores, 0) if kind == "CR1" else adjusted(one, kind) for one in sums]
    alone = max(number for _, number in each[:2])
    return ClusteredScores(kind, [scores for scores, _ in each], sums[0].squares, counts, alone), joined


def adjusted(sums: GroupScores, kind: str) -> tuple[Array, int]:
    """Return a_g (G, K, m) of CR2 or CR3, and how many groups determine a direction alone."""
    assert sums.grams is not None
    size = sums.grams.shape[1]
    out = np.empty_like(sums.scores)
    direct = (np.trace(sums.grams, axis1=1, axis2=2) <= SAFE_TRACE) & (kind == "CR3")
    rest = np.eye(size) - sums.grams[direct]
    out[direct] = np.linalg.solve(rest, sums.scores[direct].transpose(0, 2, 1)).transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(sums.grams[~direct])
    left = 1.0 - values
    alone = left <= ALONE
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(alone, 0.0, left ** (-1.0 if kind == "CR3" else -0.5))
    out[~direct] = ((sums.scores[~direct] @ vectors) * factor[:, None, :]) @ vectors.transpose(0, 2, 1)
    return out, int(alone.any(axis=1).sum())


def read_groups(groups: GroupsLike, rows: int) -> Array:
    """Return labels of any kind as numbers 0, 1, ... of their groups, texts in alphabetical order."""
    if groups is None:
        raise InvalidParameter("errors='cluster' needs groups: one label for each row")
    refuse_masked(groups, "groups")
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise InvalidData(
            f"groups has shape {labels.shape}; it must be one label for each of the {rows} rows, or two; or, of "
            "a table, the name of a column, or two names"
        )
    if labels.dtype == object:
        known: dict[Any, int] = {}
        missing = [i for i, label in enumerate(labels) if is_missing(label)]
        try:
            codes = np.array([known.setdefault(label, len(known)) for label in labels])
        except TypeError:
            raise InvalidType("groups holds lists, sets or dictionaries: give each row a text or a number") from None
        if all(isinstance(label, str) for label in known):  # in alphabetical order, as in tables
            codes = _ranks(np.array([*known], dtype=str))[codes]
    else:
        missing = list(np.flatnonzero(labels != labels))
        codes = np.unique(labels, return_inverse=True)[1]
    if missing:
        raise InvalidData(f"groups has no label at row {missing[0]}: give every row one")
    return codes.astype(np.float64)


def _ranks(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of different values in ascending order."""
    return np.argsort(np.argsort(values))


def group_sources(source: Source, groups: GroupsLike) -> list[Source]:
    """Return the same rows with the number of the group of each as one more target.

    Groups are the name of a column of their table, which is read with the rows, or one label for each row. Of two such
    that is done for each, and for those that agree in both.
    """
    two = isinstance(groups, list | tuple) and len(groups) == 2
    if two and all(isinstance(one, str) or np.ndim(one) == 1 for one in groups):
        pair = list(groups)
    elif not isinstance(groups, str) and np.ndim(groups) == 2 and np.shape(groups)[1] == 2:
        refuse_masked(groups, "groups")
        pair = list(np.asarray(groups).T)
    else:
        return [with_groups(source, groups)]
    each = [with_groups(source, one) for one in pair]
    numbers = np.column_stack([one.read_targets()[:, -1] for one in each])
    both = np.unique(numbers, axis=0, return_inverse=True)[1].ravel().astype(np.float64)
    return [*each, source.with_targets(np.column_stack([source.read_targets(), both]))]


def with_groups(source: Source, groups: GroupsLike) -> Source:
    """Return the same rows with the number of the group of each as one more target; see `group_sources`."""
    if isinstance(source, AbsorbedSource):
        if isinstance(groups, str):
            levels = source.rows.read_levels(groups)
            codes = _ranks(levels.values)[levels.codes].astype(np.float64)
        else:
            refuse_masked(groups, "groups")
            codes = read_groups(source.chosen(np.asarray(groups)), source.n_rows)
        return source.with_targets(np.column_stack([source.read_targets(), codes]))
    if isinstance(groups, str):
        from adaline.sources.tables.groups import with_group  # tables are slow to import

        return with_group(source, groups)
    codes = read_groups(groups, source.count_rows())
    return source.with_targets(np.column_stack([source.read_targets(), codes]))


def nested_freedom(source: Source, joined: Sequence[Source]) -> float:
    """Return the degrees of freedom of absorbed effects all of whose levels lie within a group each, by some column."""
    if not isinstance(source, AbsorbedSource):
        return 0.0
    from adaline.solvers.absorb.absorb import rank_of

    free = across_groups(source, joined)
    rank = rank_of(free, source.targets.weight)[0] - 1 if free else 0
    return float(source.absorption.freedom - rank)


def across_groups(source: AbsorbedSource, joined: Sequence[Source]) -> list[Levels]:
    """Return the absorbed columns with a level in several groups, by each column of groups."""
    free = list(source.rows.levels)
    for rows in joined:
        groups = rows.read_targets()[:, -1]
        free = [one for one in free if not within_groups(one.codes, groups, len(one.values))]
    return free


def within_groups(codes: NDArray[np.int32], groups: Array, levels: int) -> bool:
    """Whether all rows of each level, (N,) codes of so many, are of one group."""
    own = np.zeros(levels)
    own[codes] = groups
    return bool((own[codes] == groups).all())
