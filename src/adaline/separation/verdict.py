"""The answer to "can a hyperplane separate the classes?", with a proof that can be checked against the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import AdalineError
from adaline.separation.contests import ChosenContests, Contests, Plane
from adaline.separation.exact import complement, spans
from adaline.wording import counted


class ProofFailed(AdalineError):
    """A proof does not hold for these rows: they have changed since, or it is wrong."""


@dataclass(frozen=True)
class Combination:
    """Rows, and positive numbers (`values`) that add up to one, with sum of value t (1, x) = 0, exactly.

    For two classes t is +1 or -1, so each class has half of the weight and the two weighted means coincide. For the
    joint question of K classes `rivals` are the classes that the rows are compared with.
    """

    rows: NDArray[np.int64]
    values: tuple[Fraction, ...]
    rivals: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Separability:
    """Whether a hyperplane separates classes, with a proof.

    Parameters
    ----------
    kind : "complete" if w.x + w0 has the right sign on every row; "quasi" if it can be zero or right on every row,
        right on some, but no plane is right on all; "none" if every plane that is never wrong is zero on all rows.
    separable : whether the kind is complete.
    classes : the labels; classes[1] is on the positive side.
    coef, intercept : the plane, (D,) and a number; for the joint question of K classes (K, D) and (K,), zero for the
        first class. None for "none". Rounded from `plane`, which they almost always equal.
    plane : intercept and coefficients as rationals, one tuple for each class but the first.
    margin : smallest distance of a row from the plane, in the units of the columns as given. A lower bound on the
        largest margin there is, as the plane is chosen for a large margin on scaled columns. 0 unless separable.
    weights : the convex combination that proves that no plane is right on all rows, at most D + 2 rows; None if
        complete.
    span : a convex combination whose rows span those that no plane gets right (all of them for "none"), at most
        2 D + 2 rows: they are zero on every plane that is never wrong. None if complete.
    on_plane : for "quasi", the rows on the plane; no plane that is never wrong has fewer.
    """

    kind: str
    classes: NDArray[Any]
    coef: Array | None
    intercept: Any
    plane: Plane | None
    margin: float
    weights: Combination | None
    span: Combination | None
    on_plane: NDArray[np.int64]
    _contests: Contests = field(repr=False, compare=False)

    @property
    def separable(self) -> bool:
        """Whether every row can be on its side of one plane."""
        return self.kind == "complete"

    def verify(self) -> bool:
        """Check the proof against the rows in exact arithmetic; True, or `ProofFailed` says what does not hold.

        One to four passes. Rows are read again, signs are decided by error bounds and, where these do not suffice, by
        integers; sums of combinations are exact too.
        """
        zeros = self._check_plane()
        if (self.weights is None) != self.separable or (self.span is None) != self.separable:
            raise ProofFailed(f"a {self.kind} separation with the wrong kind of proof")
        if self.weights is not None and self.span is not None:
            if self.weights is not self.span:
                self._check_sum(self.weights)
            if len(self.weights) > self._contests.dimension + 1:
                raise ProofFailed(f"a combination of {len(self.weights)} rows is longer than needed")
            self._check_span(self._check_sum(self.span), zeros)
        return True

    def __str__(self) -> str:
        names = f"The {len(self.classes)} classes"
        if len(self.classes) == 2:
            names = f"The classes {' and '.join(map(repr, self.classes.tolist()))}"
        if self.kind == "complete":
            return (
                f"{names} are separable: a hyperplane has every row on its side, the nearest at distance "
                f"{self.margin:.3g} (the largest margin is at least that)."
            )
        assert self.weights is not None
        assert self.span is not None
        proof = f"a convex combination of {len(self.weights)} rows proves it"
        if self.kind == "quasi":
            on_plane = f"{counted(len(self.on_plane))} {'lies' if len(self.on_plane) == 1 else 'lie'}"
            return (
                f"{names} are quasi-separable: a hyperplane has no row on the wrong side, but "
                f"{on_plane} on it, and none has every row on its side: {proof}."
            )
        return f"{names} are not separable: they overlap on every hyperplane; {proof}."

    def _check_plane(self) -> NDArray[np.int64]:
        if self.plane is None:
            if self.kind != "none":
                raise ProofFailed("the plane is missing")
            return np.empty((0, 2), dtype=np.int64)
        contests = self._contests
        swept = contests.sweep(contests.direction(self.plane), 1, zeros=self.kind == "quasi")
        if swept.worst != (1 if self.separable else 0):
            raise ProofFailed(f"the plane has rows on the {'wrong side' if swept.worst < 0 else 'plane itself'}")
        if self.kind == "quasi":
            if not np.array_equal(np.unique(swept.zeros[:, 0]), self.on_plane):
                raise ProofFailed("the rows on the plane are others")
            if len(swept.zeros) == swept.count:
                raise ProofFailed("all rows lie on the plane")
        return swept.zeros

    def _check_sum(self, combination: Combination) -> ChosenContests:
        """Check that a combination adds up to zero; return its contests."""
        contests = self._contests
        found = contests.numbered(combination.rows)
        common = lcm(*(value.denominator for value in combination.values))
        shares = [value.numerator * (common // value.denominator) for value in combination.values]
        if sum(shares) != common or min(shares) <= 0:
            raise ProofFailed("the weights of a combination are not positive, or do not add up to one")
        codes, rows = zip(*(found[number] for number in combination.rows.tolist()), strict=True)
        own = contests.class_index[list(codes)]
        rival = 1 - own
        if combination.rivals is not None:
            rival = np.array([self.classes.tolist().index(label) for label in combination.rivals.tolist()])
        if (own < 0).any() or (own == rival).any():
            raise ProofFailed("a row of a combination is not of these classes")
        x = np.array(rows)
        for column in (np.ones(len(x)), *x.T):
            ratios = [value.as_integer_ratio() for value in column.tolist()]
            finest = max(below for _, below in ratios)  # powers of two
            terms = [share * above * (finest // below) for share, (above, below) in zip(shares, ratios, strict=True)]
            for k in range(contests.k):
                total = sum(v * (int(a == k) - int(b == k)) for v, a, b in zip(terms, own, rival, strict=True))
                if total != 0:
                    raise ProofFailed("a combination does not vanish")
        return ChosenContests(combination.rows, own, rival, x[:, contests.scaling.columns])

    def _check_span(self, chosen: ChosenContests, zeros: NDArray[np.int64]) -> None:
        contests = self._contests
        vectors = contests.vectors(chosen)[0]
        if spans(vectors):
            return
        room = complement(vectors, contests.dimension)
        if not room.free:
            return
        inside = contests.inside(room)
        if not (inside.all() if self.kind == "none" else inside[zeros[:, 0], zeros[:, 1]].all()):
            raise ProofFailed("the rows of a combination do not span those that no plane gets right")


@dataclass(frozen=True)
class ManyClasses:
    """Separability of more than two classes: of every pair, and jointly.

    Parameters
    ----------
    classes : the labels.
    pairs : a `Separability` for every two labels, by (label, label).
    joint : that of the joint question (Kesler): weights w_k with w_i.x > w_j.x for every row of class i and every other
        class j. None where it was not asked, see `reason`.
    separable, kind, coef, intercept, margin, weights : those of the joint question. Where it was not asked, separable
        is False if some pair is not separable, else None.
    """

    classes: NDArray[Any]
    pairs: Mapping[tuple[Any, Any], Separability]
    joint: Separability | None
    reason: str = ""

    @property
    def separable(self) -> bool | None:
        """Whether K linear functions classify every row."""
        if self.joint is not None:
            return self.joint.separable
        return None if all(pair.separable for pair in self.pairs.values()) else False

    @property
    def kind(self) -> str | None:
        """Complete, quasi or none, jointly."""
        return None if self.joint is None else self.joint.kind

    @property
    def coef(self) -> Array | None:
        """Weights (K, D) of the joint solution."""
        return None if self.joint is None else self.joint.coef

    @property
    def intercept(self) -> Any:
        """Intercepts (K,) of the joint solution."""
        return None if self.joint is None else self.joint.intercept

    @property
    def margin(self) -> float:
        """Smallest distance of a row from a boundary between its class and another."""
        return 0.0 if self.joint is None else self.joint.margin

    @property
    def weights(self) -> Combination | None:
        """The convex combination that proves that the classes are not separable jointly."""
        return None if self.joint is None else self.joint.weights

    def verify(self) -> bool:
        """Check every proof; see `Separability.verify`."""
        return all(part.verify() for part in (*self.pairs.values(), *([] if self.joint is None else [self.joint])))

    def __str__(self) -> str:
        kinds = [pair.kind for pair in self.pairs.values()]
        text = f"Of {len(kinds)} pairs of classes {kinds.count('complete')} are separable"
        if kinds.count("quasi"):
            text += f" and {kinds.count('quasi')} quasi-separable"
        return f"{text}. Jointly: {self.reason if self.joint is None else self.joint}"
