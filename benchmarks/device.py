"""Fits to rows on a CUDA device, beside torch: `python -m benchmarks.device --out docs/benchmarks-device.md`.

Times are wall-clock, the device waited for, the best of several after one that compiles. Bytes are those of X, which a
pass has to read once. `--profile NAME` prints where the time of one fit goes.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import io
import platform
import pstats
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Measured(NamedTuple):
    """What was measured: its name, the best time in seconds, and a remark."""

    name: str
    seconds: float
    remark: str


def best(torch: Any, work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the best time of several runs, after one that is not counted."""
    found = float("inf")
    for turn in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found = found if turn == 0 else min(found, time.perf_counter() - start)
    return found


NOTES = """
A fit's rate counts X once for each pass, and all of its time: the small problems on the host and what a single call
takes by itself (weights packed, kernels started, sums fetched) are part of it.

What stops the rest: a fused pass over few columns is bound by what a call takes and by the latency of its small tiles,
not by memory; rows of float32 are converted for float64 products, whose work is then the limit; matrices of second
derivatives and X'X are bound by float64 products; `GaussianClassifier` copies the rows of each class before it
multiplies them.
"""


class Rows:
    """Rows of independent normal columns on the device, with targets of several kinds."""

    size = 0
    """Bytes of the rows that were made last."""

    def __init__(self, torch: Any, n: int, d: int, dtype: Any = None) -> None:
        self.torch, self.generator = torch, torch.Generator("cuda").manual_seed(0)
        self.x = self.normal(n, d).to(dtype or torch.float64)
        Rows.size = self.x.numel() * self.x.element_size()
        self.w = self.normal(d) / d**0.5
        self.z = self.x.double() @ self.w

    def normal(self, *shape: int) -> Any:
        """Return normal numbers."""
        return self.torch.randn(*shape, dtype=self.torch.float64, device="cuda", generator=self.generator)

    def amounts(self) -> Any:
        """Return z + 1 + noise."""
        return self.z + 1 + self.normal(len(self.z))

    def classes(self) -> Any:
        """Return labels of two classes with log odds z."""
        drawn = self.torch.rand(self.z.shape, dtype=self.z.dtype, device="cuda", generator=self.generator)
        return (drawn < self.torch.sigmoid(self.z)).long()

    def counts(self) -> Any:
        """Return counts of mean exp(z / 2)."""
        return self.torch.poisson(self.torch.exp(0.5 * self.z), generator=self.generator)

    def with_outliers(self) -> Any:
        """Return z + noise of which every tenth is ten times as large."""
        noise = self.normal(len(self.z))
        noise[::10] *= 10
        return self.z + noise


def passes(torch: Any) -> Iterator[Measured]:
    """Measure single passes: plain sums, torch's own products, and the fused kernels."""
    from adaline import fused

    for d in (20, 50, 100):
        for dtype in (torch.float64, torch.float32):
            n = 10_000_000
            rows = Rows(torch, n, d, dtype)
            x, size = rows.x, rows.x.numel() * rows.x.element_size()
            t = rows.classes().double()
            theta = np.concatenate([[0.1], rows.w.cpu().numpy()])[None]
            at = ("logistic", 0.0, theta, np.ones(d), np.zeros(d))
            name = f"{n:,} x {d} {str(dtype)[6:]}"
            plain = best(torch, lambda x=x: x.sum())
            yield Measured(f"sum of all numbers, {name}", plain, f"{size / plain / 1e12:.2f} TB/s")
            fast = best(torch, lambda x=x, t=t, at=at: fused.objective(x, t, None, *at, "none", near=True))
            yield Measured(f"fused logistic value and gradient, {name}", fast, f"{size / fast / 1e12:.2f} TB/s")
            few = best(torch, lambda x=x, t=t, at=at: fused.objective(x[:1000], t[:1000], None, *at, "none", near=True))
            yield Measured(f"the same of 1,000 rows, {d} columns", few, "what a call takes by itself")
            if dtype is torch.float64:
                gram = best(torch, lambda x=x: x.T @ x)
                yield Measured(f"torch X'X, {name}", gram, f"{2 * n * d * d / gram / 1e12:.1f} TFLOP/s")
            second = best(torch, lambda x=x, t=t, at=at: fused.objective(x, t, None, *at, "alone", near=True))
            yield Measured(f"with second derivatives, {name}", second, f"{size / second / 1e12:.2f} TB/s")
            spread = best(torch, lambda x=x: fused.spread(x, None, x[0].double()))
            yield Measured(f"fused spread of the columns, {name}", spread, f"{size / spread / 1e12:.2f} TB/s")
            del rows, x, t
            gc.collect()
            torch.cuda.empty_cache()


def problems(torch: Any) -> dict[str, Callable[[], tuple[Callable[[], Any], str]]]:
    """Return the fits, by name: each makes its rows, and returns what to time and a remark."""
    import adaline

    def regression(d: int) -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 10_000_000, d)
        y = rows.amounts()
        return lambda: adaline.LinearRegression().fit(rows.x, y), f"10,000,000 x {d}"

    def gaussian() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 10_000_000, 50)
        y = (rows.x[:, 0] > 0).long() + (rows.x[:, 1] > 0.5).long()
        return lambda: adaline.GaussianClassifier().fit(rows.x, y), "10,000,000 x 50, 3 classes"

    def logistic() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 10_000_000, 50)
        y = rows.classes()
        return lambda: adaline.LogisticRegression(tol=1e-6).fit(rows.x, y), "10,000,000 x 50"

    def poisson() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 10_000_000, 50)
        y = rows.counts()
        return lambda: adaline.GeneralizedLinear(loss="poisson", tol=1e-6).fit(rows.x, y), "10,000,000 x 50"

    def huber() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 10_000_000, 50)
        y = rows.with_outliers()
        return lambda: adaline.RobustRegression(loss="huber").fit(rows.x, y), "10,000,000 x 50"

    def kmeans() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 2_000_000, 50)
        start = rows.x[:8].cpu().numpy()
        model = adaline.KMeans(n_clusters=8, init=start, max_iter=20, tol=0.0)
        return lambda: model.fit(rows.x), "2,000,000 x 50, K = 8, 20 iterations"

    def mixture() -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 1_000_000, 50)
        model = adaline.GaussianMixture(n_components=4, max_iter=10, tol=0.0)
        return lambda: model.fit(rows.x), "1,000,000 x 50, K = 4, 10 iterations of EM after k-means"

    def softmax(n: int) -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, n, 784)
        z = 3 * rows.x @ rows.normal(784, 10) / 28
        gumbel = -torch.log(-torch.log(torch.rand(z.shape, dtype=z.dtype, device="cuda", generator=rows.generator)))
        y = (z + gumbel).argmax(dim=1)
        return lambda: adaline.LogisticRegression(tol=1e-6).fit(rows.x, y), f"{n:,} x 784, 10 classes"

    return {
        "LinearRegression 50": lambda: regression(50),
        "LinearRegression 100": lambda: regression(100),
        "GaussianClassifier": gaussian,
        "LogisticRegression": logistic,
        "Poisson": poisson,
        "RobustRegression": huber,
        "KMeans": kmeans,
        "GaussianMixture": mixture,
        "softmax 60000": lambda: softmax(60_000),
        "softmax 600000": lambda: softmax(600_000),
    }


def told(model: Any, seconds: float) -> str:
    """Return passes and solver of a fit to the rows that were read last, and the rate at which it read X."""
    passes, size = model.certificate_.passes, Rows.size
    rate = passes * size / seconds / 1e12
    return f"; {passes} passes over {size / 1e9:.1f} GB: {rate:.2f} TB/s; {model.certificate_.solver}"


def fits(torch: Any, only: list[str], repeats: int) -> Iterator[Measured]:
    """Measure the fits of these names."""
    for name, make in problems(torch).items():
        if only and name not in only:
            continue
        try:
            work, remark = make()
            seconds = best(torch, work, repeats)
            yield Measured(name, seconds, remark + told(work(), seconds))
        except Exception as error:  # one problem that fails must not hide the others
            yield Measured(name, float("nan"), f"fails: {type(error).__name__}: {str(error)[:200]}")
        gc.collect()
        torch.cuda.empty_cache()


def peers(torch: Any) -> Iterator[Measured]:
    """Measure what a user of torch would write: least squares, and L-BFGS with autograd for logistic regression."""
    rows = Rows(torch, 10_000_000, 50)
    y, labels = rows.amounts(), rows.classes().double()
    try:
        seconds = best(torch, lambda: torch.linalg.lstsq(rows.x, y[:, None]), 2)
        yield Measured("torch.linalg.lstsq", seconds, "10,000,000 x 50")
    except RuntimeError as error:
        yield Measured("torch.linalg.lstsq", float("nan"), f"fails: {str(error).splitlines()[0][:80]}")

    def logistic() -> None:
        w = torch.zeros(51, dtype=torch.float64, device="cuda", requires_grad=True)
        optimizer = torch.optim.LBFGS([w], max_iter=100, tolerance_grad=1e-7, line_search_fn="strong_wolfe")

        def closure() -> Any:
            optimizer.zero_grad()
            z = rows.x @ w[1:] + w[0]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(z, labels)
            loss.backward()
            return loss

        optimizer.step(closure)

    yield Measured("torch LBFGS with autograd, logistic", best(torch, logistic, 2), "10,000,000 x 50")


def profiled(torch: Any, name: str) -> str:
    """Return where the time of a fit goes, by functions."""
    work, _ = problems(torch)[name]()
    work()
    torch.cuda.synchronize()
    profile = cProfile.Profile()
    profile.runcall(work)
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("cumulative").print_stats(45)
    return out.getvalue()


def main() -> None:
    """Measure, print a table, and write it where asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, help="where to write the page")
    parser.add_argument("--only", action="append", default=[], help="a fit by its name; passes and peers are left out")
    parser.add_argument("--profile", action="append", default=[], help="a fit whose time is told by functions")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device: nothing measured")
    warnings.simplefilter("ignore")
    for name in options.profile:
        print(f"== {name}\n{profiled(torch, name)}", flush=True)
    if options.profile:
        return
    import triton

    lines = [
        "# On a GPU",
        "",
        f"`python -m benchmarks.device` on one {torch.cuda.get_device_name()}, torch {torch.__version__}, triton "
        f"{triton.__version__}, Python {platform.python_version()}; float64 unless said, best of {options.repeats} "
        "after one that compiles. cuML cannot be had there and was not run.",
        "",
        "| what | time | |",
        "|---|---|---|",
    ]
    parts = [fits(torch, options.only, options.repeats)]
    parts = parts if options.only else [passes(torch), *parts, peers(torch)]
    for part in parts:
        for one in part:
            lines.append(f"| {one.name} | {1e3 * one.seconds:.2f} ms | {one.remark} |")
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n" + NOTES)


if __name__ == "__main__":
    main()
