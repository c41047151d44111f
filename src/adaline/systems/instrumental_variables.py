"""Least squares with instruments: two-stage least squares and limited information maximum likelihood."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline import inference
from adaline.arrays import Array, RowsLike, beside, is_device, is_sparse, namespace
from adaline.basis.base import Basis
from adaline.block import Shape
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, warn
from adaline.fitted import has_absorbed
from adaline.forms import Floats, Integers
from adaline.inference.instruments import InstrumentalSummary, InstrumentTests, test_instruments
from adaline.inference.sample import Counted, WeightKind
from adaline.input import Meter
from adaline.input.columns import InputColumns
from adaline.input.drafts import snapshot
from adaline.lazy import nw
from adaline.parameters import NONE, AnyOf, Check, one_of
from adaline.penalties import no_penalty
from adaline.results import some
from adaline.solvers.least_squares.choose import solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.factor import moments_scaling
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.least_squares.k_class import (
    KClassFit,
    KClassMethod,
    Roles,
    k_class_moments,
    liml_kappa,
    project,
    scaled_slopes,
    score_rotation,
    solve_k_class,
)
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource, Removal
from adaline.state import FittedAttribute, FittedWith
from adaline.sums import FittedDesign, Moments
from adaline.systems.families.least_squares_state import (
    LeastSquaresState,
    LinearSettings,
    OpenedRegression,
    SolvedRegression,
    with_effects,
)
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.families.named import named_system

if TYPE_CHECKING:  # inference is imported by the methods that need it, and tables are slow to import
    from adaline.inference.covariance import JudgedRegression
    from adaline.inference.hypotheses import HypothesisTest
    from adaline.inference.regression import Summary
    from adaline.inference.view import InferenceView
    from adaline.sources import TableSource


class ColumnList(Check):
    """Names or indices of columns: one, or a list of them, each once."""

    wanted = "names or indices of columns, each once"

    def accepts(self, value: object) -> bool:
        if not isinstance(value, str | int | np.integer | Collection):
            return False
        listed = _listed(value)
        return all(isinstance(one, str | int | np.integer) and not isinstance(one, bool) for one in listed) and len(
            {*listed}
        ) == len(listed)


def _listed(value: Any) -> list[Any]:
    """Return the names or indices that a parameter gives, one or several."""
    return [] if value is None else [value] if isinstance(value, str | int | np.integer) else list(value)


@dataclass(frozen=True, eq=False)
class InstrumentDesign:
    """Which of the columns given are regressors, and which are instruments.

    Parameters
    ----------
    given : the record of all columns, of which there is one.
    regressors, instruments : (D,) and (L,) indices among the columns given, ascending; instruments are no regressors.
    endogenous : (E,) indices among the regressors.
    """

    given: tuple[InputColumns, ...]
    regressors: Annotated[NDArray[np.intp], Integers("D")]
    instruments: Annotated[NDArray[np.intp], Integers("L")]
    endogenous: Annotated[NDArray[np.intp], Integers("E")]

    @property
    def roles(self) -> Roles:
        """What the columns are, regressors first."""
        return Roles(len(self.regressors), self.endogenous)

    @property
    def order(self) -> list[int]:
        """The indices of the columns given, regressors first."""
        return [*map(int, self.regressors), *map(int, self.instruments)]

    def regressors_first(self, total: Moments) -> Moments:
        """Return moments of the columns given with the regressors first."""
        features, targets = total.shape
        return total.among(self.order, range(features, features + targets))

    def as_given(self, moments: Moments) -> Moments:
        """Return moments of columns whose regressors are first in the order in which they were given."""
        features, targets = moments.shape
        return moments.among(np.argsort(self.order).tolist(), range(features, features + targets))


@dataclass(frozen=True, kw_only=True)
class InstrumentedRows(OpenedRegression):
    """The rows of a fit; `columns` are those of the regressors, and `design` is None where none is endogenous."""

    design: InstrumentDesign | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SolvedWithInstruments(SolvedRegression):
    """What a fit with instruments finds.

    Parameters
    ----------
    design : which columns are which; None where none is endogenous.
    kappa : (K,) the k of the estimator for each target.
    tests : tests of the instruments.
    redundant : instruments that are combinations of others, in words.
    """

    design: InstrumentDesign | None = None
    kappa: Annotated[Array, Floats("K")] | None = None
    tests: InstrumentTests | None = None
    redundant: list[str] | None = None


@dataclass(frozen=True)
class InstrumentalSettings(LinearSettings):
    """The settings that a regression with instruments is read with."""

    method: KClassMethod


@dataclass(frozen=True, kw_only=True, eq=False)
class InstrumentalVariablesState(LeastSquaresState, SolvedWithInstruments):
    """What a regression with instruments has learned.

    Parameters
    ----------
    fitted_with : the settings of the fit.
    joint : the moments of all columns, regressors first, of which instruments count as targets; none without them.
    """

    fitted_with: InstrumentalSettings
    joint: tuple[Moments, ...] = ()


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class InstrumentalVariables(LinearSystem):
    """Least squares with instruments: minimises (y - Xw)'(1 - M)(y - Xw), the squares of projected residuals.

    It is for columns of X that are related to the errors, so that least squares is biased. With X = [x d], d these
    endogenous columns, and Z = [x z] the exogenous ones and the instruments, the coefficients solve

        X'(1 - k M)(y - Xw) = 0,      M = 1 - Z (Z'Z)^-1 Z'

    Two-stage least squares has k = 1: d is replaced by its regression on Z. LIML, limited information maximum
    likelihood, has the smallest k at which [y d]'(M_x - k M)[y d] is singular, M_x that of x alone; it has less bias
    where instruments are weak, and is the same where there are as many instruments as endogenous columns. One pass.

    Columns are named by a formula, `open_table(data, formula="y ~ x | firm | d ~ z")`, whose middle part has the
    effects to absorb, or 0; or by `endogenous` and `instruments`. Instruments are columns that the model does not
    predict from. Without endogenous columns the fit is that of least squares.

    Parameters
    ----------
    method : "2sls" or "liml"
        Two-stage least squares, or limited-information maximum likelihood.
    endogenous : names or indices of columns of X, or None
        Those that are related to the errors.
    instruments : names or indices of columns of X, or None
        Those that explain the endogenous ones, at least as many, and that the target depends on through them alone. All
        other columns are regressors, and their own instruments.
    fit_intercept : bool
        Whether the model has a constant w0.
    weights : "frequency" or "precision"
        What sample_weight means, as in `LinearRegression`.
    basis : a basis of `adaline.basis`, or None
        phi, for fits without endogenous columns; beside these a formula has functions of columns.

    Attributes
    ----------
    coef_, intercept_ : of the regressors, the columns of X that are no instruments;
    `certificate_`, `rank_`, `aliased_`, `dependencies_`, `estimable_`, `absorbed_`, `effects_` : as elsewhere;
    `kappa_` : (K,) k for each target; absent without endogenous columns.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import InstrumentalVariables
    >>> rng = np.random.default_rng(0)
    >>> z, error = rng.normal(size=(2, 500))
    >>> d = z + error
    >>> y = 2.0 * d + 3.0 * error
    >>> model = InstrumentalVariables(endogenous=0, instruments=1).fit(np.column_stack([d, z]), y)
    >>> model.coef_.round(2)
    array([2.01])
    >>> [row["test"] for row in model.summary().to_dict()["tests"]]
    ['weak instruments', 'Wu-Hausman', 'Anderson-Rubin']

    References
    ----------
    Lecture S0, section 5.1, (5.8): least squares, here of projections. T. W. Anderson and H. Rubin, Ann. Math. Statist.
    20 (1949), 46-63; H. Theil, Economic Forecasts and Policy (1958);
    J. H. Stock and M. Yogo, in Identification and Inference for Econometric Models (2005), 80-108.
    """

    takes_instruments: ClassVar[bool] = True
    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # which columns are endogenous is for the user to say

    method: Annotated[KClassMethod, one_of(KClassMethod)] = "2sls"
    endogenous: Annotated[str | int | Sequence[str | int] | None, AnyOf(NONE, ColumnList())] = None
    instruments: Annotated[str | int | Sequence[str | int] | None, AnyOf(NONE, ColumnList())] = None
    fit_intercept: bool = True
    weights: WeightKind = "frequency"

    basis: Basis | None = None

    positive = False

    learns = InstrumentalVariablesState
    _fitted_with = FittedWith(InstrumentalSettings)
    kappa_ = FittedAttribute[Array]()

    def _solve(self, rows: OpenedRegression, moments: Moments) -> SolvedWithInstruments:
        design, intercept = _design(rows), bool(self.fit_intercept)
        if design is None:
            none = no_penalty(moments.shape.features)
            if rows.source is None:
                return SolvedWithInstruments(fits=(solve_sums(moments, intercept, none),))
            fit = solve_least_squares(rows.source, moments, intercept, none)
            return SolvedWithInstruments(fits=(self._beside_effects(fit, rows.source),))
        joint, names = design.regressors_first(moments), rows.columns.coefficient_names()
        found = solve_k_class(joint, design.roles, intercept, self.method)
        every = [design.given[0].coefficient_names()[j] for j in design.order]
        redundant = _redundant_texts(joint, design, intercept, every)
        spare = f"instruments that are combinations of others add nothing: {some(redundant, '; ')}" if redundant else ""
        if rows.source is not None and not found.identified:
            raise InvalidData(_not_identified(found, design, names) + (f". {spare.capitalize()}" if spare else ""))
        if spare and rows.source is not None:
            warn(spare, AdalineWarning)
        absorbed = 0.0
        if isinstance(rows.source, AbsorbedSource):
            found = found._replace(fits=tuple(_beside_effects(fit, rows.source, design, joint) for fit in found.fits))
            absorbed = float(rows.source.absorption.freedom)
        tests = test_instruments(
            joint,
            design.roles,
            scaled_slopes(found.fits),
            np.concatenate([fit.squares for fit in found.fits]),
            intercept,
            rows.observations(moments.weight),
            absorbed,
        )
        return SolvedWithInstruments(
            fits=found.fits, design=design, kappa=found.kappa, tests=tests, redundant=redundant
        )

    def _solve_wide(self, rows: OpenedRegression, source: Source) -> SolvedWithInstruments:
        if _design(rows) is not None:
            raise InvalidData(
                f"{source.count_rows()} rows have too few numbers for {source.shape.features} columns and instruments: "
                "name fewer of them"
            )
        fit = solve_wide(source, bool(self.fit_intercept), no_penalty(source.shape.features))
        return SolvedWithInstruments(fits=(fit,))

    def _absorb(self, table: TableSource) -> AbsorbedSource:
        """Return the rows of a table without the effects that it absorbs."""
        from adaline.solvers.absorb.absorb import absorb  # tables are slow to import

        if not self.fit_intercept:
            raise InvalidParameter("absorbed effects hold a constant: leave fit_intercept=True")
        return absorb(table, self.weights == "frequency")

    def _opened(self, source: Source, columns: InputColumns) -> InstrumentedRows:
        rows = super()._opened(source, columns)
        design = read_design(columns, _listed(self.endogenous), _listed(self.instruments))
        if design is None and columns.coding is not None and (absorbed := columns.coding.effects):
            named = " + ".join(effect.name for effect in absorbed)
            raise InvalidParameter(
                f"{named} after the bar of the formula is absorbed, and no column is endogenous: write "
                f"'y ~ x | 0 | d ~ z' for the instruments z of d, or 'y ~ x | {named} | d ~ z'"
            )
        if design is not None and columns.basis is not None:
            raise InvalidParameter(
                "basis is for fits without endogenous columns: leave it out, and write functions of columns in a "
                "formula, as in 'y ~ poly(x, 2) | 0 | d ~ z'"
            )
        own = columns if design is None else regressors_of(columns, design)
        return InstrumentedRows(
            columns=own, source=source, flat=rows.flat, like=rows.like, counted=rows.counted, design=design
        )

    def _counting(self, counted: Counted | None) -> InstrumentedRows:
        rows = super()._counting(counted)
        return InstrumentedRows(
            columns=rows.columns, source=None, flat=rows.flat, like=rows.like, counted=counted, design=self._own_design
        )

    def _found(
        self,
        rows: OpenedRegression,
        solved: SolvedRegression,
        total: Moments | None,
        meter: Meter,
        read: Source | None = None,
    ) -> InstrumentalVariablesState:
        design = _design(rows)
        state = super()._found(rows, solved, total if design is None else None, meter, read)
        assert isinstance(state, InstrumentalVariablesState)
        if design is None or total is None:
            return state
        return replace(state, joint=(_as_stored(design.regressors_first(total), len(design.regressors)),))

    def _with_effects(self, state: LeastSquaresState, source: AbsorbedSource) -> LeastSquaresState:
        assert isinstance(state, InstrumentalVariablesState)
        design, theta = state.design, state.fits[0].solution.theta[0]
        if design is None:
            return super()._with_effects(state, source)
        every = np.zeros(1 + source.shape.features)
        every[0], every[1 + design.regressors] = theta[0], theta[1:]
        effects, coding = source.fitted_effects(every), state.columns.coding
        assert coding is not None
        given = design.given[0]._replace(coding=replace(source.coding, effects=effects))
        return with_effects(replace(state, design=replace(design, given=(given,))), coding, effects, source)

    @property
    def _own_design(self) -> InstrumentDesign | None:
        """Which columns are which; None where none is endogenous."""
        return None if self._state is None else self._learned.design

    @property
    def _learned(self) -> InstrumentalVariablesState:
        """What a fitted model has learned."""
        assert isinstance(self._state, InstrumentalVariablesState)
        return self._state

    def _own_sums(self, verb: str) -> Moments:
        design = self._own_design
        if design is None or has_absorbed(self):
            return super()._own_sums(verb)
        joint = self._joint()
        if joint.centred != bool(self.fit_intercept):
            raise InvalidParameter(f"cannot {verb}: fit_intercept was changed since the model was fitted; refit")
        return design.as_given(joint)

    def _joint(self) -> Moments:
        """Return the moments of all columns, regressors first, and the targets."""
        design = self._learned.design
        assert design is not None
        stored, instruments = self._learned.joint[0], len(design.instruments)
        features, targets = stored.shape
        return Moments(Shape(features + instruments, targets - instruments), stored.buffer)

    def _solved_sums(self, total: Moments, fits: int) -> list[Moments]:
        design, intercept = self._own_design, bool(self.fit_intercept)
        if design is None or not fits:
            return super()._solved_sums(total, fits)
        joint, roles = design.regressors_first(total), design.roles
        features, targets = joint.shape
        columns = [*map(int, roles.endogenous), *range(features, features + targets)]
        first = project(joint, intercept, roles.instruments(features), columns)
        if fits == 1 and self.method == "2sls":
            return [k_class_moments(joint, roles, first, list(range(targets)))]
        without = project(joint, intercept, roles.exogenous(), columns)
        each = [liml_kappa(first, without, k, len(roles.endogenous)) for k in range(targets)]
        return [k_class_moments(joint, roles, first, [k], *found) for k, found in enumerate(each)]

    def _check_alike(self, other: Self) -> None:
        mine, theirs = self._own_design, other._own_design
        if (mine is None) != (theirs is None) or (
            mine is not None
            and theirs is not None
            and (mine.order != theirs.order or [*mine.endogenous] != [*theirs.endogenous])
        ):
            raise InvalidData("cannot merge models whose endogenous columns or instruments are not the same")

    def _reader(self) -> InstrumentalVariables:
        design = self._own_design
        if design is None:
            return self
        out = snapshot(self)
        assert out._state is not None
        out._state = replace(out._state, columns=design.given[0])
        return out

    def _design_of(self, k: int, fit: Fit, precision: bool) -> FittedDesign:
        design = self._own_design
        own = super()._design_of(k, fit, precision)
        if design is None:
            return own
        assert self._learned.kappa is not None
        joint, order = self._joint(), design.order
        rotation = score_rotation(
            joint, design.roles, bool(self._fitted_with.fit_intercept), float(self._learned.kappa[k]), own.rotation
        )
        slopes = np.zeros((len(own.slopes), len(order)))
        slopes[:, design.regressors] = own.slopes
        scaling = moments_scaling(design.as_given(joint), bool(self._fitted_with.fit_intercept))
        places = [*range(len(order)), *range(len(order) + k, len(order) + k + len(own.slopes))]
        return own._replace(
            rotation=rotation[np.argsort(order)],
            slopes=slopes,
            mean_hi=scaling.mean_hi[places],
            mean_lo=scaling.mean_lo[places],
            exponent=scaling.exponent[places],
        )

    def _summarise(
        self, asked: InferenceView[Summary, HypothesisTest, JudgedRegression], level: float
    ) -> InstrumentalSummary:
        table = super()._summarise(asked, level)
        tests, design = self._learned.tests, self._learned.design
        if tests is None or design is None:
            return InstrumentalSummary.of(table, [])
        names = [table.names[j] for j in design.endogenous]
        return InstrumentalSummary.of(table, [tests.rows(k, names) for k in range(len(table.parts))])

    def _notes(self, errors: str) -> list[str]:
        state, out = self._learned, super()._notes(errors)
        if state.design is None or state.tests is None:
            return [*out, "no column is endogenous: this is least squares"]
        given = state.design.given[0].coefficient_names()
        endogenous = [given[state.design.regressors[j]] for j in state.design.endogenous]
        out.append(f"endogenous: {some(endogenous)}; instruments: {some([given[j] for j in state.design.instruments])}")
        if state.redundant:
            out.append(f"instruments that are combinations of others add nothing: {some(state.redundant, '; ')}")
        if state.fitted_with.method == "liml" and state.kappa is not None:
            out.append(f"LIML with kappa {', '.join(f'{one:.6g}' for one in state.kappa)}")
        if errors != "classical":
            out.append("the tests of the instruments assume independent rows of equal variance")
        return out + inference.weak_notes(state.tests, endogenous)

    def _has_fixed_design(self) -> bool:
        return self._own_design is None

    def _sums_suffice(self) -> bool:
        return not _listed(self.endogenous) and super()._sums_suffice()

    def _regressors(self, X: RowsLike) -> RowsLike:
        design = self._own_design
        if design is None or isinstance(X, Source):
            return X
        given = design.given[0]
        if isinstance(X, np.ndarray) or is_sparse(X) or is_device(X):
            if getattr(X, "ndim", 2) != 2 or X.shape[1] != given.count:
                return X
            if not is_device(X):
                return X[:, design.regressors]
            xp = namespace(X)
            return xp.take(X, beside(X, design.regressors.astype(np.int64)), axis=1)
        if given.coding is not None:
            return X
        frame = nw.from_native(X, pass_through=True, eager_only=True)
        if not isinstance(frame, nw.DataFrame):
            return self._regressors(np.asarray(X)) if isinstance(X, list | tuple) else X
        if given.names is None and len(frame.columns) == given.count:
            return frame[:, design.regressors.tolist()].to_native()
        if given.names is None or not {*given.names} <= {*frame.columns}:
            return X
        return frame.select([given.names[j] for j in design.regressors]).to_native()


def _design(rows: OpenedRegression) -> InstrumentDesign | None:
    return rows.design if isinstance(rows, InstrumentedRows) else None


def _as_stored(joint: Moments, regressors: int) -> Moments:
    """Return moments whose instruments count as targets, so that their features are those of the model."""
    features, targets = joint.shape
    return Moments(Shape(regressors, features - regressors + targets), joint.buffer)


def read_design(columns: InputColumns, endogenous: list[Any], instruments: list[Any]) -> InstrumentDesign | None:
    """Return which columns are endogenous, and which are instruments, as they are named; None where none is.

    A name is that of a column, or of a raw column whose levels or functions are several; an index that of a column.
    """
    parts = _terms_of(columns)
    if columns.coding is not None and columns.coding.endogenous:
        if endogenous or instruments:
            raise InvalidParameter(
                "the formula of the table names endogenous columns and instruments: leave out endogenous= and "
                "instruments="
            )
        last = len(parts) - columns.coding.instruments
        inner, outer = [*range(last - columns.coding.endogenous, last)], [*range(last, len(parts))]
    else:
        inner, outer = (_named_parts(parts, given, what) for given, what in _named_by(endogenous, instruments))
    if not inner and not outer:
        return None
    if not inner:
        raise InvalidParameter(
            f"{_count(outer, 'instrument')} without an endogenous column: name the columns that they are for, in "
            "endogenous= or after the last bar of the formula, as in 'y ~ x | 0 | d ~ z'"
        )
    if both := [one for one in inner if one in outer]:
        raise InvalidParameter(f"column {parts[both[0]][0]!r} is endogenous, and an instrument: name it in one of both")
    ends, outside = (sorted(j for k in chosen for j in parts[k][1]) for chosen in (inner, outer))
    if len(outside) < len(ends):
        raise InvalidData(
            f"{len(ends)} endogenous column{'s' * (len(ends) > 1)} ({some([parts[k][0] for k in inner])}) need"
            f"{'s' * (len(ends) == 1)} at least as many instruments, and there {'is' if len(outside) == 1 else 'are'} "
            f"{len(outside)}: name more instruments, columns that explain the endogenous ones and that the target "
            "depends on through these alone"
        )
    regressors = [j for _, own in parts for j in own if j not in {*outside}]
    places = {j: k for k, j in enumerate(regressors)}
    return InstrumentDesign(
        (columns,),
        np.array(regressors, dtype=np.intp),
        np.array(outside, dtype=np.intp),
        np.array([places[j] for j in ends], dtype=np.intp),
    )


def _named_by(endogenous: list[Any], instruments: list[Any]) -> list[tuple[list[Any], str]]:
    return [(endogenous, "endogenous"), (instruments, "instruments")]


def _count(found: Sequence[Any], what: str) -> str:
    return f"{len(found)} {what}{'s' * (len(found) > 1)}"


def _terms_of(columns: InputColumns) -> list[tuple[str, list[int]]]:
    """Return the names of what columns can be named by, each with the indices of its columns."""
    if columns.coding is None:
        return [(name, [j]) for j, name in enumerate(columns.given_names())]
    terms = zip(columns.coding.terms, columns.coding.term_columns(), strict=True)
    return [(":".join(factor.text for factor in term.factors), own) for term, own in terms]


def _named_parts(parts: list[tuple[str, list[int]]], named: list[Any], what: str) -> list[int]:
    """Return which of the parts of the columns are named, ascending."""
    names = [name for name, _ in parts]
    out: list[int] = []
    for one in named:
        found = names.index(one) if isinstance(one, str) and one in names else None
        if not isinstance(one, str):
            count = sum(len(own) for _, own in parts)
            j = int(one) + count if int(one) < 0 else int(one)
            found = next((k for k, (_, own) in enumerate(parts) if j in own), None)
        if found is None:
            near = get_close_matches(one, names, n=1) if isinstance(one, str) else []
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidParameter(
                f"{what} must be names or indices of columns of X, got {one!r}: X has no column {one!r}.{meant} There "
                f"are: {some(names)}"
            )
        out.append(found)
    return sorted({*out})


def regressors_of(columns: InputColumns, design: InstrumentDesign) -> InputColumns:
    """Return the record of the regressors alone."""
    chosen, names = design.regressors, columns.names
    own = None if names is None else tuple(names[j] for j in chosen)
    if columns.coding is None:
        places = () if names is not None else tuple(map(int, chosen))
        return InputColumns(len(chosen), own, chosen=places)
    kept = {*map(int, chosen)}
    coding = columns.coding.only([k for k, own in enumerate(columns.coding.term_columns()) if kept.issuperset(own)])
    return InputColumns(len(chosen), own, coding)


def _not_identified(found: KClassFit, design: InstrumentDesign, names: Sequence[str]) -> str:
    """Return why the instruments do not identify the coefficients, and what to do."""
    more = "give instruments that explain each of them differently, or leave out a column"
    for fit in found.fits:
        if fit.factor is None:
            continue
        depends = fit.factor.dependence
        if texts := depends.texts(names):
            return (
                "the instruments do not tell the columns apart: as far as they and the exogenous columns explain them, "
                f"{some(texts, '; ')}: {more}"
            )
        if none := [names[j] for j in np.flatnonzero(depends.constant).tolist() if j in design.endogenous]:
            return f"the instruments explain nothing of {some(none)} beside the exogenous columns: {more}"
    return f"the instruments do not tell the columns apart: {more}"


def _redundant_texts(joint: Moments, design: InstrumentDesign, intercept: bool, names: Sequence[str]) -> list[str]:
    """Return which instruments are combinations of exogenous columns and instruments before them, or constant."""
    places = design.roles.instruments(joint.shape.features)
    depends = project(joint, intercept, places, []).factor.dependence
    own = [names[j] for j in places]
    outside = len(design.roles.exogenous())
    texts = [text for j, text in zip(depends.left_out, depends.texts(own), strict=True) if j >= outside]
    return texts + [f"{own[j]} is constant" for j in np.flatnonzero(depends.constant) if j >= outside]


def _beside_effects(fit: Fit, source: AbsorbedSource, design: InstrumentDesign, joint: Moments) -> Fit:
    """Return a fit with the digits and parameters that it has beside effects that were absorbed from its rows.

    What is left of effects in the instruments reaches the endogenous columns through the first stage.
    """
    from adaline.solvers.absorb.absorb import certified  # tables are slow to import

    roles, own = design.roles, np.append(design.regressors, source.shape.features)
    features = joint.shape.features
    instruments = roles.instruments(features)
    first = project(joint, True, instruments, list(map(int, roles.endogenous)))
    scale = joint.exponent.astype(np.int64)
    through = np.abs(np.ldexp(first.u, scale[roles.endogenous][:, None] - scale[instruments]))
    given = np.array(design.order)[instruments]

    def reached(values: Array) -> Array:
        out: Array = values[own].copy()
        out[roles.endogenous] = np.maximum(out[roles.endogenous], through @ values[given])
        return out

    removal: Removal = source.removal
    removal = replace(removal, left=reached(removal.left), rounding=reached(removal.rounding), mean=removal.mean[own])
    return certified(fit, source, removal)
