"""Every scan with all that its laws need: configurations, targets it can learn, and how closely two forms agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.scans import (
    AdaptiveRule,
    CoordinateRule,
    KeslerRule,
    LMSRule,
    PerceptronRule,
    RLSRule,
    Scan,
    Schedule,
    SigmoidRule,
    SoftmaxRule,
)
from tests.layouts import lay

Array = NDArray[Any]

FEATURES, CLASSES = 5, 3
DENSE = ("float64", "float32", "columns", "strided", "table")
SPARSE = ("csr", "csr32")


@dataclass(frozen=True)
class Example:
    """A scan, its configuration, the kind of its targets, the relative tolerance between two forms, and two first rows.

    Adaptive scans are told apart by more: before the rows determine the weights, its tiny prior magnifies rounding.
    """

    kind: type[Scan]
    config: Mapping[str, Any] = field(default_factory=dict)
    targets: str = "numbers"
    tolerance: float = 1e-12
    first: Any = ((1.0,), (-1.0,))

    def __str__(self) -> str:
        said = [v for v in self.config.values() if isinstance(v, str)]
        rate = self.config.get("rate")
        if isinstance(rate, Schedule):
            said.append("callable" if callable(rate.kind) else rate.kind.replace("/", "_"))
        said += [k for k in ("init", "wide", "l1", "average") if self.config.get(k) is not None]
        said += ["no-intercept"] if not self.config.get("intercept", True) else []
        return "-".join([self.kind.__name__, *said])

    @property
    def shape(self) -> Shape:
        return Shape(FEATURES, 1 if self.targets == "classes" else 2)

    def start(self) -> Scan:
        return self.kind.start(self.shape, **self.config)

    def rows(self, n: int, layout: str = "float64", seed: int = 0, weights: bool = True) -> Block:
        """Return n rows whose numbers float32 holds exactly, three in ten of them zero, some of weight zero."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, FEATURES)) * [1.0, 0.5, 2.0, 1.0, 0.25] + [0.0, 1.0, 0.0, -0.5, 0.0]
        x = np.where(rng.random(x.shape) < 0.3, 0.0, x).astype(np.float32).astype(np.float64)
        score = x @ rng.normal(size=(FEATURES, 2)) + 0.5 + rng.normal(size=(n, 2))
        t = {
            "numbers": score,
            "signs": np.where(score > 0, 1.0, -1.0),
            "bits": np.where(score > 0, 1.0, 0.0),
            "classes": (score @ [1.0, 0.5] // 2).clip(-1, 1)[:, None] + 1.0,
        }[self.targets]
        weight = np.round(rng.random(n) * 2, 3) * (rng.random(n) < 0.9) if weights else None
        return Block(lay(x, layout), np.ascontiguousarray(t), weight)


def slowing(t: int) -> float:
    return 0.1 / (1 + t)


SUBNORMAL = ((5e-324,), (2.0**-1060,))  # one over them is not finite
INIT = np.linspace(-1.0, 1.0, 2 * (1 + FEATURES)).reshape(2, -1)

EXAMPLES = [
    *(
        Example(LMSRule, {"variant": variant, "rate": 0.05, "eps": 0.1, "leak": 0.2})
        for variant in ("lms", "normalized", "leaky", "sign-error", "sign-data", "sign-sign")
    ),
    Example(LMSRule, {"rate": Schedule(0.1, "1/t")}),
    Example(LMSRule, {"rate": Schedule(0.1, "power", tau=20.0, power=0.6)}),
    Example(LMSRule, {"rate": Schedule(0.5, slowing), "intercept": False}),
    Example(LMSRule, {"variant": "leaky", "rate": 0.02, "leak": 0.5, "init": INIT}),
    Example(RLSRule, {"forget": 0.99, "delta": 0.1}),
    Example(RLSRule, {"intercept": False}),
    Example(PerceptronRule, {}, "signs"),
    Example(PerceptronRule, {"rate": Schedule(1.0, "1/t"), "init": INIT, "intercept": False}, "signs"),
    Example(KeslerRule, {"classes": CLASSES}, "classes"),
    Example(KeslerRule, {"classes": CLASSES, "rate": 0.3, "intercept": False}, "classes"),
    Example(SigmoidRule, {"activation": "tanh", "rate": 0.2}, "signs"),
    Example(SigmoidRule, {"activation": "logistic", "rate": 0.2}, "bits"),
    Example(SoftmaxRule, {"classes": CLASSES, "rate": 0.1}, "classes"),
    Example(SoftmaxRule, {"classes": CLASSES, "rate": 0.1, "intercept": False}, "classes"),
    Example(AdaptiveRule, {}, "numbers", 1e-8, SUBNORMAL),
    Example(AdaptiveRule, {"intercept": False, "init": INIT}, "numbers", 1e-8),
    Example(AdaptiveRule, {"activation": "tanh"}, "signs", 1e-8),
    Example(AdaptiveRule, {"wide": True}, "numbers"),
    Example(AdaptiveRule, {"activation": "tanh", "wide": True}, "signs"),
    Example(AdaptiveRule, {"activation": "logistic", "wide": True}, "bits"),
    Example(AdaptiveRule, {"activation": "softmax", "classes": CLASSES, "wide": True, "intercept": False}, "classes"),
    Example(AdaptiveRule, {"activation": "logistic"}, "bits", 1e-8, SUBNORMAL),
    Example(AdaptiveRule, {"activation": "softmax", "classes": CLASSES}, "classes", 1e-8),
    Example(CoordinateRule, {}, "bits", first=SUBNORMAL),
    Example(CoordinateRule, {"loss": "squared", "intercept": False}, "numbers", first=SUBNORMAL),
    Example(CoordinateRule, {"loss": "squared", "init": INIT}, "numbers", first=SUBNORMAL),
    Example(CoordinateRule, {"penalty": 2.0, "l1": 3.0}, "bits", first=SUBNORMAL),
    Example(CoordinateRule, {"l1": 1.0, "average": True}, "bits", first=SUBNORMAL),
    Example(CoordinateRule, {"loss": "tanh_squared"}, "signs", first=SUBNORMAL),
    Example(CoordinateRule, {"loss": "sigmoid_squared"}, "bits", first=SUBNORMAL),
    Example(CoordinateRule, {"loss": "softmax", "classes": CLASSES, "l1": 1.0}, "classes", first=SUBNORMAL),
]
