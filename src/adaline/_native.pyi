"""The C++ kernels. Arrays are never copied; outputs are written in place."""

from typing import overload

import numpy as np
import numpy.typing as npt

from adaline.block import Columns

Reals = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]
Rows = Floats | Columns
Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int32]

# enums, whose members are those of native/codes.hpp
class GroupState: ...
class Loss: ...
class MomentMode: ...
class Rule: ...
class ScanState: ...
class Schedule: ...
class Second: ...
class TallyIndex: ...

def isa() -> str: ...
def isas() -> list[str]: ...
def use_isa(name: str) -> None: ...
def moments_dense(
    state: Reals,
    D: int,
    K: int,
    x: Rows,
    t: Reals,
    weight: Reals | None,
    centred: bool,
    exponent: Reals | None,
    chosen: Indices | None = None,
) -> bool: ...
def moments_csr(
    state: Reals,
    D: int,
    K: int,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    t: Reals,
    weight: Reals | None,
    exponent: Reals,
) -> bool: ...
def moments_merge(a: Reals, b: Reals, D: int, K: int) -> None: ...
def moments_subtract(a: Reals, b: Reals, D: int, K: int) -> None: ...
def residual_dense(
    g: Reals, x: Rows, t: Reals, weight: Reals | None, theta_hi: Reals, theta_lo: Reals, exponent: Reals
) -> None: ...
def residual_csr(
    g: Reals,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    t: Reals,
    weight: Reals | None,
    theta_hi: Reals,
    theta_lo: Reals,
    exponent: Reals,
) -> None: ...
def hash_texts(out: Hashes, data: Bytes, offsets: Integers, seed: int) -> None: ...
def hash_pairs(out: Hashes, first: Hashes, second: Hashes) -> None: ...
def buckets(codes: Codes, signs: Reals, hashes: Hashes, width: int) -> None: ...
def index_texts(table: Hashes, data: Bytes, offsets: Integers) -> None: ...
def find_texts(
    codes: Codes, data: Bytes, offsets: Integers, known_data: Bytes, known_offsets: Integers, table: Hashes
) -> None: ...
def index_numbers(table: Hashes, known: Reals) -> None: ...
def find_numbers(codes: Codes, values: Reals, known: Reals, table: Hashes) -> None: ...
def distinct_texts(
    codes: Codes, data: Bytes, offsets: Integers, weights: Indices | None
) -> tuple[Indices, Indices]: ...
def order_texts(order: Indices, data: Bytes, offsets: Integers) -> None: ...
def take_texts(data: Bytes, offsets: Integers, which: Indices) -> tuple[Bytes, Indices]: ...
def list_texts(data: Bytes, offsets: Integers) -> list[str]: ...
def words(data: Bytes, offsets: Integers, longest: int) -> tuple[Bytes, Indices, Indices]: ...
def count_rows(counts: Indices, codes: Codes, starts: Indices) -> None: ...
def join_entries(starts: Indices, codes: Codes, values: Reals) -> int: ...
def join_parts(
    indptr: Codes,
    indices: Codes,
    data: Reals,
    starts: list[Indices | None],
    which: list[Codes | None],
    codes: list[Codes],
    values: list[Reals | None],
    bases: list[int],
    D: int,
) -> int: ...
def refine_start(
    hi: Reals, lo: Reals, size: Reals, mean_hi: Reals, mean_lo: Reals, length: Reals, u: Reals, intercept: bool
) -> None: ...
def refine_gradient(
    sums: Reals, hi: Reals, lo: Reals, mean_hi: Reals, mean_lo: Reals, pull: Reals, data: Reals, centred: Reals
) -> None: ...
def refine_step(
    hi: Reals,
    lo: Reals,
    step: Reals,
    sums: Reals,
    data: Reals,
    centred: Reals,
    mean: Reals,
    pull: Reals,
    length: Reals,
    down: Reals,
    reach: Reals,
    progress: Reals,
    error: Reals,
    weight: float,
    intercept: bool,
    contraction: float,
    condition: float,
) -> bool: ...
def equilibrate(
    state: Reals,
    D: int,
    K: int,
    intercept: bool,
    pull: Reals,
    length: Reals,
    alive: npt.NDArray[np.bool_],
    relative: Reals,
    c: Reals,
) -> tuple[int, float]: ...
def sums_residual(left: Reals, state: Reals, pull: Reals, u: Reals) -> None: ...
def row_lengths(out: Reals, matrix: Reals) -> None: ...
def raw_solution(
    raw: Reals,
    unit: Reals,
    total: Reals,
    state: Reals,
    theta: Reals,
    error: Reals,
    exponent: Reals,
    length: Reals,
    pull: Reals,
    squares: Reals,
    gradient: Reals,
    gap: Reals,
    weight: float,
) -> tuple[float, float, float, float]: ...
def digits(error: Reals, theta: Reals, length: Reals) -> float: ...
def clusters_dense(
    sums: Reals, x: Rows, weight: Reals | None, points: Reals, scale: Reals, offset: Reals, nearest: Reals | None
) -> None: ...
def mixture_dense(
    sums: Reals,
    x: Rows,
    weight: Reals | None,
    constants: Reals,
    means: Reals,
    factors: Reals,
    scale: Reals,
    offset: Reals,
) -> None: ...
def twofold_exp(hi: Reals, lo: Reals) -> None: ...
def twofold_outputs(z: Reals, v: Reals, hi: Reals, lo: Reals, offset: Reals) -> None: ...
def spread_dense(sums: Reals, x: Rows, weight: Reals | None) -> float: ...
def objective_dense(
    sums: Reals,
    x: Rows,
    loss: Loss,
    parameter: float,
    t: Reals,
    weight: Reals | None,
    theta: Reals,
    scale: Reals,
    offset: Reals,
    second: Second,
) -> None: ...
def objective_csr(
    sums: Reals,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    loss: Loss,
    parameter: float,
    t: Reals,
    weight: Reals | None,
    theta: Reals,
    scale: Reals,
    offset: Reals,
    second: Second,
    units: Codes | None = None,
    starts: Codes | None = None,
) -> None: ...
def product_dense(
    sums: Reals,
    x: Rows,
    loss: Loss,
    parameter: float,
    t: Reals,
    weight: Reals | None,
    theta: Reals,
    scale: Reals,
    offset: Reals,
    direction: Reals,
) -> None: ...
def product_csr(
    sums: Reals,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    loss: Loss,
    parameter: float,
    t: Reals,
    weight: Reals | None,
    theta: Reals,
    scale: Reals,
    offset: Reals,
    direction: Reals,
    units: Codes | None = None,
    starts: Codes | None = None,
) -> None: ...
def margins_dense(z: Reals, x: Rows, theta: Reals, scale: Reals, offset: Reals) -> None: ...
def margins_csr(
    z: Reals,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    theta: Reals,
    scale: Reals,
    offset: Reals,
    units: Codes | None = None,
    starts: Codes | None = None,
) -> None: ...
def gather_dense(sums: Reals, x: Rows, slope: Reals, curvature: Reals | None, scale: Reals, offset: Reals) -> None: ...
def gather_csr(
    sums: Reals,
    data: Floats,
    indices: Integers,
    indptr: Integers,
    slope: Reals,
    curvature: Reals | None,
    scale: Reals,
    offset: Reals,
    units: Codes | None = None,
    starts: Codes | None = None,
) -> None: ...
def descend(H: Reals, g: Reals, w: Reals, l1: Reals, sweeps: int, enough: float) -> float: ...
def group_regressions(
    theta: Reals,
    error: Reals,
    statistic: Reals,
    facts: Reals,
    state: Codes,
    column: Codes,
    x: list[Reals],
    t: Reals,
    weight: Reals | None,
    order: Codes | None,
    begins: Indices,
    ends: Indices,
    pull: Reals | None,
    intercept: bool,
    loss: Loss,
    first: int,
    last: int,
) -> None: ...
def cubic_pieces(
    out: Reals, x: Reals, exponent: int, knots: Reals, values: Reals, curvature: Reals, periodic: bool
) -> None: ...
@overload
def merge_totals(keys: Reals, values: Reals, a: Reals, of_a: Reals, b: Reals, of_b: Reals) -> int: ...
@overload
def merge_totals(keys: Indices, values: Reals, a: Indices, of_a: Reals, b: Indices, of_b: Reals) -> int: ...
def keyed_products(out: Reals, codes: Indices, weight: Reals, z: Reals, y: Reals) -> None: ...
def level_sums(out: Reals, codes: Integers, x: Reals | None, weight: Reals | None) -> None: ...
def level_subtract(x: Reals, codes: Integers, effects: Reals) -> None: ...
def level_order(order: Integers, starts: Indices, codes: Integers) -> None: ...
def level_pairs(
    starts: Indices, cells: Integers, weight: Reals | None, levels: int
) -> tuple[Indices, Integers, Reals] | None: ...
def level_product(
    out: Reals, v: Reals, starts: Indices, cells: Integers, weight: Reals | None, inverse: Reals
) -> None: ...
def level_components(codes: Integers, levels: int) -> int: ...
def level_factor(
    codes: Integers, levels: int, weight: Reals | None
) -> tuple[Integers, Indices, Integers, Reals, Reals]: ...
def level_precondition(
    x: Reals, order: Integers, starts: Indices, targets: Integers, shares: Reals, pivots: Reals
) -> None: ...

class Scan:
    def __init__(
        self,
        rule: Rule,
        theta: Reals,
        good: Reals,
        tally: Reals,
        lag: Reals,
        root: Reals,
        parameters: Reals,
        intercept: bool,
        average: int,
        period: int,
        schedule: Schedule,
        rate: float,
        tau: float,
        power: float,
    ) -> None: ...
    def run_dense(
        self,
        x: Rows,
        t: Reals,
        weight: Reals | None,
        chosen: Indices | None,
        order: Indices | None,
        rates: Reals | None,
        outputs: Reals | None,
    ) -> None: ...
    def run_csr(
        self,
        data: Floats,
        indices: Integers,
        indptr: Integers,
        t: Reals,
        weight: Reals | None,
        chosen: Indices | None,
        order: Indices | None,
        rates: Reals | None,
        outputs: Reals | None,
    ) -> None: ...
    def learn(self, x: Reals, t: float | Reals) -> float: ...
    def read_rows_by(self, names: object | None, targets: object | None) -> None: ...
    def take(self, x: object, y: object) -> bool: ...
    def take_into(self, x: object, y: object, best: Reals, record: Reals, streak: Reals) -> bool: ...
    def last(self) -> list[float]: ...

class CoordinateScan:
    def __init__(
        self,
        loss: Loss,
        state: Reals,
        tally: Reals,
        D: int,
        K: int,
        held: bool,
        intercept: bool,
        penalty: float,
        l1: float,
    ) -> None: ...
    def run_dense(
        self,
        x: Rows,
        t: Reals,
        weight: Reals | None,
        chosen: Indices | None,
        order: Indices | None,
        rates: Reals | None,
        outputs: Reals | None,
    ) -> None: ...
    def run_csr(
        self,
        data: Floats,
        indices: Integers,
        indptr: Integers,
        t: Reals,
        weight: Reals | None,
        chosen: Indices | None,
        order: Indices | None,
        rates: Reals | None,
        outputs: Reals | None,
    ) -> None: ...
    def learn(self, x: Reals, t: float | Reals) -> float: ...
    def read_rows_by(self, names: object | None, targets: object | None) -> None: ...
    def take(self, x: object, y: object) -> bool: ...
    def last(self) -> list[float]: ...

def parse_libsvm(
    text: bytes,
    highest: int,
    data: Reals,
    indices: npt.NDArray[np.int32],
    starts: Indices,
    labels: Reals,
) -> tuple[int, int, int]: ...
def parse_vw(
    text: bytes,
    width: int,
    data: Reals,
    indices: npt.NDArray[np.int32],
    starts: Indices,
    labels: Reals,
) -> tuple[int, int, int]: ...
