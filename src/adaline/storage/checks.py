"""What a tree must hold before objects are made of it: exactly the fields, types and sizes that fit together."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.block import Shape
from adaline.scans import SCANS, Scan, Schedule
from adaline.sums import ClassMoments, Moments


def typed(value: Any, kind: type[Any]) -> Any:
    """Return a value of exactly this type; refuse others."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def fields_of(inner: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return an object with exactly these fields; refuse others."""
    if set(typed(inner, dict)) != set(names):
        raise ValueError(f"expected the fields {', '.join(names)}")
    return {name: inner[name] for name in names}


def check(made: Any) -> None:
    """Refuse sums that do not fit together: native code reads their buffers."""
    if isinstance(made, Moments):
        q = typed(made.shape, Shape).features + made.shape.targets
        buffer = typed(made.buffer, np.ndarray)
        if buffer.dtype != np.float64 or buffer.shape != (3 + 4 * q + q * q,) or not buffer.flags.c_contiguous:
            raise ValueError("moments of the wrong size")
    elif isinstance(made, ClassMoments):
        shapes = {typed(part, Moments).shape for part in typed(made.parts, list)}
        if len(shapes) != 1:
            raise ValueError("classes of different shape")
    elif isinstance(made, Scan):
        _check_scan(made)
    elif isinstance(made, Shape) and not all(type(n) is int and 0 <= n < 2**31 for n in made):
        raise ValueError("a shape has whole numbers")


def _check_scan(made: Scan) -> None:
    """Refuse a scan whose arrays do not fit together, or that says of itself what its class would not."""
    theta = typed(made.theta, np.ndarray)
    if theta.ndim != 2 or theta.shape[1] < 1:
        raise ValueError("weights must be (K, 1 + D)")
    shape = Shape(theta.shape[1] - 1, len(theta))
    named = {name: typed(value, str) for name, value in vars(made).items() if name in ("variant", "activation")}
    plain = type(made).start(shape, **({"classes": len(theta)} if made.classes else {}), **named)
    for name, mine in vars(plain).items():
        value = getattr(made, name)
        if isinstance(mine, np.ndarray):
            lags = name == "lag" and made.average is not None
            size = theta.shape if lags else mine.shape
            array = typed(value, np.ndarray)
            if array.dtype != np.float64 or array.shape != size or not array.flags.c_contiguous:
                raise ValueError(f"{name} of a scan has the wrong size")
    typed(made.schedule, Schedule)
    known = {cls.__name__: cls for cls in SCANS.values()}
    if known[type(made).__name__] is not type(made) or made.rule != plain.rule or type(made.intercept) is not bool:
        raise ValueError("a scan that no rule starts")
