"""The C++ kernels. Arrays are never copied; outputs are written in place."""

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32] | npt.NDArray[np.int64]

def isa() -> str: ...
def isas() -> list[str]: ...
def use_isa(name: str) -> None: ...
def moments_dense(
    state: Reals,
    D: int,
    K: int,
    x: Floats,
    t: Reals,
    weight: Reals | None,
    centred: bool,
    exponent: Reals | None,
    chosen: npt.NDArray[np.int64] | None = None,
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
    g: Reals,
    x: Floats,
    t: Reals,
    weight: Reals | None,
    theta_hi: Reals,
    theta_lo: Reals,
    exponent: Reals,
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

class Scan:
    def __init__(
        self,
        rule: int,
        theta: Reals,
        good: Reals,
        tally: Reals,
        lag: Reals,
        root: Reals,
        parameters: Reals,
        intercept: bool,
        of_classes: bool,
        average: int,
        period: int,
        schedule: int,
        rate: float,
        tau: float,
        power: float,
    ) -> None: ...
    def run_dense(
        self,
        x: Floats,
        t: Reals,
        weight: Reals | None,
        chosen: npt.NDArray[np.int64] | None,
        order: npt.NDArray[np.int64] | None,
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
        chosen: npt.NDArray[np.int64] | None,
        order: npt.NDArray[np.int64] | None,
        rates: Reals | None,
        outputs: Reals | None,
    ) -> None: ...
    def learn(self, x: Reals, t: float | Reals) -> float: ...
