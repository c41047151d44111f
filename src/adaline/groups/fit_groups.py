"""`fit_groups`: the same regression for every group of a table, as one frame of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, DataLike, framed
from adaline.coding import Column
from adaline.coding.frames import collected, learn_from_frame
from adaline.coding.reading import is_missing
from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, kept_warnings
from adaline.estimator import clone, is_classifier
from adaline.fitted import AnySystem
from adaline.groups.keys import Grouping, group_rows
from adaline.groups.regressions import STATES, GroupedRows, regress
from adaline.inference.summary import FrameBackend, frame_of_columns
from adaline.input.basis import columns_of
from adaline.lazy import nw
from adaline.results import Status, some
from adaline.systems import LinearRegression

SOLVED = Status.SOLVED.label
# what is said of groups in each state, about a column where one is named
WORDS = {
    "solved": SOLVED,
    "missing": "missing values in {name}",
    "few_rows": "fewer rows than coefficients",
    "constant": "rank-deficient: {name} is constant and left out",
    "dependent": "rank-deficient: {name} depends on columns before it and is left out",
    "no_freedom": "no standard errors: as many rows as coefficients",
    "exact": "exact fit: no tests",
}


STATISTICS = ("estimate", "std_error", "statistic", "p_value")
RESULTS = ("name", *STATISTICS, "rows", "status", "digits")


@dataclass(frozen=True)
class Found:
    """What was found of G groups: statistics (G, 1 + D), intercept first, NaN where there are none; digits, status."""

    estimate: Array
    std_error: Array
    statistic: Array
    p_value: Array
    digits: Array
    status: NDArray[np.object_]

    @classmethod
    def none(cls, groups: int, width: int) -> Self:
        """Return nothing about groups."""
        statistics = {name: np.full((groups, width), np.nan) for name in STATISTICS}
        return cls(**statistics, digits=np.full(groups, np.nan), status=np.full(groups, SOLVED, dtype=object))

    def without_intercept(self) -> Self:
        """Return the same of the other coefficients alone."""
        return replace(self, **{name: getattr(self, name)[:, 1:] for name in STATISTICS})


def fit_groups(
    system: AnySystem,
    data: DataLike,
    *,
    target: str,
    by: str | Sequence[str],
    features: Sequence[str] | None = None,
    weight: str | None = None,
) -> Any:
    """Fit the same regression to every group of a table, and return a frame of coefficients.

    The rows are read once and sorted by group. `LinearRegression` is fitted to all groups by one kernel, on all
    threads; any other system with a `summary` is fitted to one group after the other. Coefficients, standard errors and
    tests are those that `fit` and `summary` find from the rows of the group.

    Parameters
    ----------
    system : a system with a `summary`, as LinearRegression(); it is not changed
        What is fitted to every group.
    data : frame of pandas, polars or Arrow
        The table. Texts and declared categories become columns by one coding, learned from all groups.
    target : name
        The column to predict.
    by : name, or list of names
        The columns whose values say to which group a row belongs. A missing value is a group of its own.
    features : list of names, or None
        Columns to learn from; None: all but target, keys and weight.
    weight : name, or None
        Column of weights: how often a row was observed.

    Returns
    -------
    frame
        Of the kind of `data`: for each group, sorted by key, one row a coefficient, with the columns of `by`, `name`
        ("intercept" or the column), `estimate`, `std_error`, `statistic`, `p_value`, `rows` of the group, `status`, and
        `digits`: the correct digits of the group's worst coefficient, a proven bound. `status` is "solved", or says why
        there are no numbers (missing values, too few rows), why some are missing (a column that is constant or depends
        on others is left out, as in R), or what the certificate of the fit says. Numbers that do not exist are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, fit_groups
    >>> sales = pd.DataFrame(
    ...     {"store": ["a", "a", "a", "b", "b", "b"], "price": [1, 2, 3, 1, 2, 3], "sold": [9, 7, 6, 4, 4, 1]}
    ... )
    >>> found = fit_groups(LinearRegression(), sales, target="sold", by="store")
    >>> print(found[["store", "name", "estimate", "std_error"]].round(3).to_string(index=False))
    store      name  estimate  std_error
        a intercept    10.333      0.624
        a     price    -1.500      0.289
        b intercept     6.000      1.871
        b     price    -1.500      0.866

    References
    ----------
    Lecture S0, section 5.1, (5.8), for every group. One pass over the rows.
    """
    frame = _as_frame(data)
    keys = _names(frame, "by", [by] if isinstance(by, str) else by)
    used = _names(frame, "features", features) if features is not None else None
    for what, name in (("target", target), ("weight", weight)):
        if name is not None:
            _names(frame, what, [name])
    own = {target, *keys, *([] if weight is None else [weight])}
    if used is not None and (own & {*used}):
        raise InvalidParameter(f"features names {some(sorted(own & {*used}))}: leave out target, keys and weight")
    used = used if used is not None else [name for name in frame.columns if name not in own]
    if not used:
        raise InvalidData("there are no columns to learn from besides target, keys and weight")
    names, columns = _columns(frame.select(used))
    grouping = group_rows(frame, keys)
    rows = GroupedRows(columns, _targets(system, frame, target), _weights(frame, weight), grouping)
    found = _fit_all(system, rows, names, target)
    if not getattr(system, "fit_intercept", True):
        return _frame(frame, keys, grouping, found.without_intercept(), names)
    return _frame(frame, keys, grouping, found, ["intercept", *names])


def _as_frame(data: DataLike) -> nw.DataFrame[Any]:
    frame = framed(collected(data))
    if not isinstance(frame, nw.DataFrame):
        raise InvalidType(
            f"data must be a frame of pandas, polars or Arrow, not {type(data).__name__}: read the table into one"
        )
    if not len(frame):
        raise InvalidData("the table has no rows")
    return frame


def _names(frame: nw.DataFrame[Any], what: str, names: Sequence[str]) -> list[str]:
    """Return names of columns, which must be there, once each."""
    names = list(names)
    if not names:
        raise InvalidParameter(f"{what} must name a column")
    for i, name in enumerate(names):
        if name not in frame.columns:
            raise InvalidParameter(f"{what}: the table has no column {name!r}; it has {some(frame.columns)}")
        if name in names[:i]:
            raise InvalidParameter(f"{what} names {name!r} twice")
    return names


def _numbers(frame: nw.DataFrame[Any], name: str) -> Array:
    return np.ascontiguousarray(Column(name, "number").numbers(frame))


def _targets(system: AnySystem, frame: nw.DataFrame[Any], name: str) -> Array:
    """Return the targets as numbers; of a classifier, the place of each label among the sorted ones."""
    if not is_classifier(system):
        return _numbers(frame, name)
    labels = np.asarray(frame[name].to_list(), dtype=object)
    gaps = np.array([is_missing(label) for label in labels])
    classes, codes = np.unique(labels[~gaps], return_inverse=True)
    if len(classes) != 2:
        raise InvalidData(f"column {name!r} has {len(classes)} classes: fit_groups takes two")
    out = np.full(len(labels), np.nan)
    out[~gaps] = codes
    return out


def _weights(frame: nw.DataFrame[Any], name: str | None) -> Array | None:
    if name is None:
        return None
    weight = _numbers(frame, name)
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        raise InvalidData(f"column {name!r}, row {int(wrong.argmax())}: weights must be finite and not negative")
    return weight


def _columns(frame: nw.DataFrame[Any]) -> tuple[list[str], list[Array]]:
    """Return the columns of X by name; texts and categories are coded by what all rows hold."""
    coding = learn_from_frame(frame)
    if coding is None:
        return list(frame.columns), [_numbers(frame, name) for name in frame.columns]
    x = coding.code(frame)
    x = x.toarray() if coding.sparse else x
    return list(coding.names), [np.ascontiguousarray(one, dtype=np.float64) for one in x.T]


def _fit_all(system: AnySystem, rows: GroupedRows, names: list[str], target: str) -> Found:
    """Return what is found of every group."""
    if _is_plain(system):
        found = regress(rows, system.fit_intercept)
        words = np.array(
            [[WORDS[state].format(name=name) for name in (*names, target)] for state in WORDS], dtype=object
        )
        left = np.flatnonzero(found.state == STATES["undecided"])
        status = words[np.where(found.state == STATES["undecided"], 0, found.state), found.column]
        table = Found(found.estimate, found.std_error, found.statistic, found.p_values(), found.digits, status)
    else:
        table, left = Found.none(rows.grouping.groups, 1 + len(names)), np.arange(rows.grouping.groups)
    for g in left.tolist():
        table.status[g] = _fit_one(system, rows, g, names, target, table)
    return table


def _is_plain(system: AnySystem) -> bool:
    """Whether the kernel fits what this system fits."""
    return (
        type(system) is LinearRegression
        and system.solver in ("auto", "normal", "qr", "svd")
        and not system.positive
        and system.weights == "frequency"
        and system.basis is None
    )


def _fit_one(system: AnySystem, rows: GroupedRows, group: int, names: list[str], target: str, found: Found) -> str:
    """Fit the system to one group, fill in what its summary says, and return the status."""
    own = rows.grouping.rows(group)
    t, weight = rows.t[own], None if rows.weight is None else rows.weight[own]
    x = np.column_stack([one[own] for one in rows.columns])
    missing = np.flatnonzero(~np.isfinite(np.column_stack([x, t])).all(axis=0))
    if len(missing):
        return WORDS["missing"].format(name=[*names, target][int(missing[0])])
    if is_classifier(system) and (t == t[0]).all():
        return "one class"
    with kept_warnings():
        try:
            model = clone(system).fit(x, t, **({} if weight is None else {"sample_weight": weight}))
            table = model.summary()
        except AdalineError as error:
            return str(error)
    places = {"intercept": 0} | {str(name): 1 + j for j, name in enumerate(columns_of(model))}
    for row in table.to_dict()["coefficients"]:
        if "left_out" not in row:
            for name in STATISTICS:
                getattr(found, name)[group, places[row["name"]]] = row[name]
    found.digits[group] = model.certificate_.digits
    return str(model.certificate_.status)


def _frame(frame: nw.DataFrame[Any], keys: Sequence[str], grouping: Grouping, found: Found, names: list[str]) -> Any:
    """Return the frame of coefficients, of the kind of the table."""
    first = np.repeat(grouping.first_rows, len(names))
    columns: dict[str, Any] = {name: frame[name][first] for name in keys}
    columns["name"] = names * grouping.groups
    columns |= {name: getattr(found, name).ravel() for name in STATISTICS}
    columns["rows"] = np.repeat(grouping.sizes, len(names))
    columns |= {name: np.repeat(getattr(found, name), len(names)) for name in ("status", "digits")}
    twice = next((name for name in keys if [*columns].count(name) > 1 or name in RESULTS), None)
    if twice is not None:
        raise InvalidParameter(f"the key {twice!r} has the name of a column of the result: rename it")
    kind: Any = str(frame.implementation)
    return frame_of_columns(columns, kind if kind in get_args(FrameBackend) else None)
