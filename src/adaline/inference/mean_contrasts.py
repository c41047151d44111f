"""Contrasts of marginal means, their errors, and chances and intervals adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.inference.classical import judged
from adaline.inference.covariance import lengths
from adaline.inference.effects import MeanModel
from adaline.inference.means_grid import GridCells, MeansAsked, cell_name, name_list
from adaline.inference.simultaneous import adjusted_chances, joint_reach


class Averages(NamedTuple):
    """Means of cells (L,), outputs where they are linear in the coefficients, and roots (L, M) of their covariance."""

    value: Array
    root: Array


def contrast_rows(
    known: MeanModel, cells: GridCells, found: Averages, asked: MeansAsked, curved: bool
) -> list[dict[str, Any]]:
    """Return the rows of the contrasts of one target, for each group of cells alone."""
    within, by = name_list(asked.within), name_list(asked.by)
    groups: dict[str, list[int]] = {}
    for k, cell in enumerate(cells.values):
        groups.setdefault(cell_name(cell, within), []).append(k)
    ratio = known.ratio if curved else ""
    rows = []
    for group, members in groups.items():
        texts = [cell_name(cells.values[k], by) for k in members]
        names, matrix = _contrasts(asked.contrasts, texts, " / " if ratio else " - ")
        own = {"within": group} | {name: cells.values[members[0]][name] for name in within} if within else {}
        averages = Averages(_combined(matrix, found.value[members]), _combined(matrix, found.root[members]))
        rows += [own | row for row in _adjusted(known, names, averages, asked, len(members), ratio)]
    return rows


def _combined(matrix: Array, parts: Array) -> Array:
    """Return combinations of means, or of their roots; NaN where one has a part that is NaN."""
    lost = np.isnan(parts.reshape(len(parts), -1)).any(axis=1)
    out = matrix @ np.nan_to_num(parts)
    out[matrix[:, lost].any(axis=1)] = np.nan
    return np.asarray(out)


def _contrasts(wanted: Any, texts: Sequence[str], sign: str) -> tuple[list[str], Array]:
    """Return the names and coefficients (q, L) of contrasts of means with these texts."""
    count = len(texts)
    if wanted is None or not count or (count == 1 and isinstance(wanted, str)):
        return [], np.empty((0, count))
    one = np.eye(count)
    if isinstance(wanted, str):
        pairs = list(combinations(range(count), 2)) if wanted == "pairwise" else [(k, 0) for k in range(1, count)]
        names = [f"{_bracketed(texts[i], sign)}{sign}{_bracketed(texts[j], sign)}" for i, j in pairs]
        return names, np.array([one[i] - one[j] for i, j in pairs])
    for name, given in wanted.items():
        if np.shape(given) != (count,) or not np.isfinite(np.asarray(given, dtype=np.float64)).all():
            raise InvalidParameter(
                f"contrast {name!r} must have a finite number for each of {count} means ({', '.join(texts)}), got "
                f"{given!r:.60}"
            )
    return list(map(str, wanted)), np.array(list(wanted.values()), dtype=np.float64)


def _bracketed(text: str, sign: str) -> str:
    """Return a level that stands beside a sign, in brackets where it holds that sign."""
    return f"({text})" if sign in text else text


def _adjusted(
    known: MeanModel, names: Sequence[str], found: Averages, asked: MeansAsked, count: int, ratio: str
) -> list[dict[str, Any]]:
    """Return the rows of contrasts of `count` means; those that are not identified have no chance."""
    if not names:
        return []
    error = lengths(found.root)
    there = np.isfinite(error) & (error > 0)
    table = judged(found.value, error, asked.level, known.freedom)
    chance, reach = np.full(len(names), np.nan), np.nan
    if there.any():
        own = found.root[there], known.freedom, asked.adjustment, count
        chance[there] = adjusted_chances(table["statistic"][there], *own)
        reach = joint_reach(*own, asked.level)
    estimate, lower, upper = found.value, found.value - reach * error, found.value + reach * error
    if ratio:
        with np.errstate(over="ignore"):
            estimate, lower, upper = np.exp(estimate), np.exp(lower), np.exp(upper)
        error = estimate * error
    columns = {"ratio" if ratio else "estimate": estimate, "std_error": error, "lower": lower, "upper": upper}
    columns |= {"statistic": table["statistic"], "p_value": chance}
    return [
        {"contrast": name} | {column: float(values[k]) for column, values in columns.items()}
        for k, name in enumerate(names)
    ]
