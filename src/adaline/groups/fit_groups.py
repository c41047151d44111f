"""`fit_groups`: the same regression for every group of a table, as one frame of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, DataLike
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter, kept_warnings, warn
from adaline.estimator import clone, is_classifier
from adaline.fitted import AnySystem, has_summary
from adaline.groups.partitions import fit_partitions
from adaline.groups.regressions import STATES, GroupedRows, KernelLoss, regress
from adaline.groups.rows import GroupTable, read_group_table
from adaline.inference.summary import FrameBackend, frame_of_columns
from adaline.input.basis import columns_of
from adaline.lazy import nw
from adaline.parameters import COUNT, NONE, AnyOf, OneOf
from adaline.results import Status
from adaline.solvers.smooth.choose import SmoothSolver
from adaline.sources import TableSource
from adaline.sources.tables.spec import TableSpec, names_of
from adaline.systems import (
    AdditiveModel,
    GeneralizedLinear,
    InstrumentalVariables,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
)

SOLVED = Status.SOLVED.label
UNBOUNDED = (Status.SEPARATED, Status.QUASI_SEPARATED, Status.NO_MINIMUM)  # there are no coefficients
# what is said of groups in each state, about a column where one is named
WORDS = {
    "solved": SOLVED,
    "missing": "missing or infinite values in {name}",
    "few_rows": "fewer rows than coefficients",
    "constant": "rank-deficient: {name} is constant and left out",
    "dependent": "rank-deficient: {name} depends on columns before it and is left out",
    "no_freedom": "no standard errors: as many rows as coefficients",
    "exact": "exact fit: no tests",
    "one_class": "one class",
    "separated": Status.SEPARATED.label,
    "unbounded": Status.NO_MINIMUM.label,
}


CLOSED_FORM = {"positive": (False,), "weights": ("frequency",), "basis": (None,)}
LIKELIHOOD = {"l1": (0,), "solver": get_args(SmoothSolver), "init": (None,), "basis": (None,)}
# what the kernel fits: systems, its loss, and the settings under which it is what they minimise
FITTED_BY_KERNEL: tuple[tuple[type, KernelLoss, dict[str, tuple[Any, ...]]], ...] = (
    (LinearRegression, "squared", CLOSED_FORM | {"solver": ("auto", "normal", "qr", "svd")}),
    (Ridge, "squared", CLOSED_FORM | {"standardize": (False, None)}),
    (
        LogisticRegression,
        "logistic",
        LIKELIHOOD | {"standardize": (False, None), "class_weight": (None,), "firth": (False,)},
    ),
    (
        GeneralizedLinear,
        "poisson",
        LIKELIHOOD
        | {
            "weights": ("frequency",),
            "activation": (None,),
            "loss": ("poisson",),
            "link": (None, "log"),
            "dispersion": (None,),
        },
    ),
)
# systems whose parameters are not an intercept and a coefficient for each column
OTHER_PARAMETERS = (AdditiveModel, InstrumentalVariables, OrdinalRegression)
WINDOW = AnyOf(NONE, OneOf("expanding"), COUNT)
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
    target: str | None = None,
    by: str | Sequence[str] = (),
    features: Sequence[str] | None = None,
    weight: str | None = None,
    formula: str | None = None,
    window: int | Literal["expanding"] | None = None,
    order: str | None = None,
) -> Any:
    """Fit the same regression to every group of a table, and return a frame of coefficients.

    The rows are read once and sorted by group. `LinearRegression`, `Ridge`, `LogisticRegression` of two classes and
    `GeneralizedLinear("poisson")`, with a number as penalty or none, are fitted to all groups by one kernel, on all
    threads; any other system with a `summary` is fitted to one group after the other. Coefficients, standard errors and
    tests are those that `fit` and `summary` find from the rows of the group.

    Parameters
    ----------
    system : a system with a `summary`, as LinearRegression(); it is not changed
        What is fitted to every group: an intercept, unless a formula says "- 1", and a coefficient for each column.
    data : frame, path, pattern of paths, SQL query, dictionary of columns, or what open_table returns
        The table. Texts and declared categories become columns by one coding, learned from all groups. A table that is
        open brings its own target, features and weight, and its policy for missing values. Groups of a Dask or Spark
        data frame of numbers are fitted by its workers; labels, texts, formulas and windows are collected first.
        Otherwise a group with missing values has no coefficients, and `fit_groups` warns;
        `open_table(data, target=..., missing="drop")` leaves out only the rows with missing values.
        `adaline fit --by` reads a table as `adaline fit` does.
    target : name
        The column to predict.
    by : name, or list of names
        The columns whose values say to which group a row belongs. A missing value is a group of its own. It may be
        left out where there are windows.
    features : list of names, or None
        Columns to learn from; None: all but target, keys and weight.
    weight : name, or None
        Column of weights: how often a row was observed.
    formula : text, or None
        Instead of target and features, as in "log(sold) ~ price + C(season)"; scales and levels are those of all rows.
        Offsets, absorbed effects, instruments, curves and `lag()` are refused.
    window : number of rows, "expanding", or None
        Fit every run of so many rows of a group that follow each other, or every run that begins with its first row and
        has more rows than coefficients, instead of all its rows. Least squares and ridge take the same time for windows
        of any length: rows that come and go update their sums, and the windows whose sums have drifted are read again.
    order : name, or None
        The column that says in which order the rows of a group follow each other; None: as they come.

    Returns
    -------
    frame
        Of the kind of `data` where that is a frame, else of pandas where it is installed. For each group, sorted by
        key, it has one row a coefficient, with the columns of `by`, of windows `order` of their last row (or `row`, its
        place in the table, from 0), `name` ("intercept" or the column), `estimate`,
        `std_error`, `statistic`, `p_value`, `rows` of the group, `status`, and `digits`: the correct digits of the
        group's worst coefficient, a proven bound. `status` is "solved", or says why there are no numbers (missing
        values, too few rows, separated classes), why some are missing (a column that is constant or depends on others
        is left out, as in R), or what the certificate of the fit says. Numbers that do not exist are NaN.

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
    Lecture S0, section 5.1, (5.8), and S2, IRLS, for every group. One pass over the rows.
    """
    _check_system(system)
    given = {"target": target, "features": features, "weight": weight, "formula": formula}
    if isinstance(data, TableSource) and any(value is not None for value in given.values()):
        raise InvalidParameter("the table is open: name target, features and weight in open_table")
    keys = names_of(by)
    if not keys and window is None:
        raise InvalidParameter("by must name a column, or window a number of rows")
    WINDOW.check("window", window)
    if order is not None and window is None:
        raise InvalidParameter("order is of windows: give window= too")
    if window is None and formula is None and target is not None and not is_classifier(system):
        columns = None if features is None else [*names_of(features), target, *names_of(weight or ())]
        apart = partial(fit_groups, system, by=keys, **given)  # type: ignore[arg-type]
        found = fit_partitions(data, keys, columns, apart)
        if found is not None:
            return found
    table = read_group_table(data, TableSpec.of(**given), keys, is_classifier(system), order)
    if not table.intercept:
        system = clone(system)
        system.set_params(fit_intercept=False)
    if window is not None:
        least = len(table.names) + bool(getattr(system, "fit_intercept", True)) + 1
        table = table.of_windows(None if isinstance(window, str) else int(window), least)
    found = _fit_all(system, table)
    _warn_of_gaps(found, table)
    if not getattr(system, "fit_intercept", True):
        return _frame(table, found.without_intercept(), table.names)
    return _frame(table, found, ["intercept", *table.names])


def _check_system(system: AnySystem) -> None:
    """Refuse what has no summary, or other parameters than an intercept and a coefficient for each column."""
    if isinstance(system, type):
        raise InvalidParameter(f"system is the class {system.__name__}: write {system.__name__}()")
    name = type(system).__name__
    if not has_summary(system):
        raise InvalidParameter(f"fit_groups takes systems with a summary, and {name} has none: take LinearRegression()")
    if isinstance(system, OTHER_PARAMETERS):
        raise InvalidParameter(f"fit_groups has an intercept and a coefficient for each column, and {name} has others")
    if getattr(system, "basis", None) is not None:
        raise InvalidParameter("fit_groups takes no basis: write its terms in a formula, as in 'y ~ poly(x, 2)'")


def _fit_all(system: AnySystem, groups: GroupTable) -> Found:
    """Return what is found of every group."""
    rows, names, target = groups.rows, groups.names, groups.target
    loss = _kernel_loss(system)
    if loss is not None:
        penalty: Any = getattr(system, "penalty", 0)
        found = regress(rows, system.fit_intercept, np.full(len(names), float(penalty)) if penalty else None, loss)
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


def _warn_of_gaps(found: Found, table: GroupTable) -> None:
    """Warn that groups have no coefficients because values are missing, and say how to leave out such rows alone."""
    words = [WORDS["missing"].format(name=name) for name in (*table.names, table.target)]
    void = int(np.isin(found.status, words).sum())
    if void:
        groups = "windows" if table.windows else "groups"
        warn(
            f"{void:,} of {table.grouping.groups:,} {groups} have no coefficients, for missing or infinite values "
            f"(status); open_table(..., missing='drop') leaves out only the rows with missing values",
            AdalineWarning,
        )


def _kernel_loss(system: AnySystem) -> KernelLoss | None:
    """Return the loss by which the kernel fits what this system fits; None for other systems and settings."""
    for kind, loss, settings in FITTED_BY_KERNEL:
        given = {name: getattr(system, name) for name in settings} if type(system) is kind else None
        if given is not None and all(
            isinstance(value, str | int | float | None) and value in settings[name] for name, value in given.items()
        ):
            return loss if isinstance(getattr(system, "penalty", 0), int | float) else None
    return None


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
        except AdalineError as error:
            return str(error)
        found.digits[group] = model.certificate_.digits
        try:
            table = model.summary()
        except AdalineError as error:  # estimates without errors, as with positive=True
            found.estimate[group] = np.append(model.intercept_, model.coef_)
            return str(error)
    if model.certificate_.status in UNBOUNDED:
        return str(model.certificate_.status)
    places = {"intercept": 0} | {str(name): 1 + j for j, name in enumerate(columns_of(model))}
    for row in table.to_dict()["coefficients"]:
        if "left_out" not in row:
            for name in STATISTICS:
                getattr(found, name)[group, places[row["name"]]] = row[name]
    return str(model.certificate_.status)


def _frame(groups: GroupTable, found: Found, names: list[str]) -> Any:
    """Return the frame of coefficients, of the kind of the table where it is a frame."""
    keys, grouping = groups.keys, groups.grouping
    numbered = ["row"] if groups.windows and groups.order is None else []
    if taken := [name for name in keys.columns if name in (*RESULTS, *numbered)]:
        raise InvalidParameter(f"the key {taken[0]!r} has the name of a column of the result: rename it, as by a query")
    last = np.repeat(grouping.last_rows, len(names))
    columns: dict[str, Any] = dict.fromkeys(numbered, last) | {"name": names * grouping.groups}
    columns |= {name: getattr(found, name).ravel() for name in STATISTICS}
    columns["rows"] = np.repeat(grouping.sizes, len(names))
    columns |= {name: np.repeat(getattr(found, name), len(names)) for name in ("status", "digits")}
    kind: Any = str(keys.implementation)
    if not groups.native or kind not in get_args(FrameBackend):
        return frame_of_columns({name: keys[name][last].to_list() for name in keys.columns} | columns)
    if not keys.columns:
        return frame_of_columns(columns, kind)
    made = [nw.new_series(name, values, backend=kind) for name, values in columns.items()]
    return nw.maybe_reset_index(keys[last]).with_columns(made).to_native()  # keys keep their types
