"""Fits to rows on a CUDA device, beside torch: `python -m benchmarks.device --out docs/benchmarks-device.md`.

Times are wall-clock, the device waited for, the best of several after one that compiles. Bytes are those of X, which a
pass has to read once. `--profile NAME` prints where the time of one fit goes.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import io
import os
import platform
import pstats
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Limits(NamedTuple):
    """What the device was seen to do: bytes read a second by a plain sum, float64 operations a second by a product."""

    bytes: float
    operations: float

    def seconds(self, size: float, work: float = 0.0) -> float:
        """Return the least time of a pass that reads so many bytes and does so many operations."""
        return max(size / self.bytes, work / self.operations)


class Measured(NamedTuple):
    """What was measured: its name, the best time, the least time by the limits (0: none), what was asked, a remark."""

    name: str
    seconds: float
    least: float
    asked: str
    remark: str

    def line(self) -> str:
        """Return it as a line of the table."""
        share = f"{100 * self.least / self.seconds:.0f} %" if self.least else ""
        time = "-" if self.seconds != self.seconds else f"{1e3 * self.seconds:.2f} ms"
        return f"| {self.name} | {time} | {share} | {self.asked} | {self.remark.replace('`', '')} |"


def limits(torch: Any) -> Limits:
    """Measure what the device does at most."""
    x = torch.randn(2**30, dtype=torch.float64, device="cuda")
    rate = 8 * len(x) / best(torch, x.sum)
    n = 8192
    a = x[: n * n].view(n, n)
    return Limits(rate, 2 * n**3 / best(torch, lambda: a @ a))


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


def longest_kernel(torch: Any, work: Callable[[], Any], repeats: int = 10) -> float:
    """Return the best time of the kernel that takes longest in a call, as the device tells it."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(repeats):
            work()
        torch.cuda.synchronize()
    times: dict[str, list[float]] = {}
    for event in seen.events():
        times.setdefault(event.name, []).append(1e-6 * event.device_time)
    return max(min(found) for found in times.values() if len(found) == repeats)


NOTES = """
The share is that of the limit: the least time that the device needs for the bytes of X and for the multiplications of
matrices, at the rates of the first two lines, over the time that was measured. Passes of a fit are those of its
certificate, each of which reads X once.

What stops the rest:

- A fused pass: rows in registers (logistic loss, 20 to 64 columns) are read at the rate of a plain sum where rows
  begin at multiples of 16 bytes: of 64 columns 4.4 TB/s in float64 and in float32, which takes half the time. Of 50
  columns of float32 32 threads share a row, and the shuffles that add up its output take as long as the read. Packed
  rows, of other losses and widths, wait for small tiles, of which a program has one at a time, and for the loss
  between two products; the tensor cores have the work of float64 for float32 too, of which one in 8 columns of a
  product is of use, and every number passes through shared memory three times. Fewer threads a row, by tiles of three
  dimensions, took longer. A call takes 0.15 to 0.5 ms besides, by the host. One division less in the loss gained
  nothing: of 200 certificates of logistic regression 3 then claimed up to 0.2 digits too many, and none where it
  stays.
- Residuals in double-double: some 40 operations a number, none of them on the tensor cores, and sums across threads.
- Matrices of second derivatives and moments: products of float64 by tensor cores at 40 to 60 % of the rate of a large
  product, as a tile of rows is multiplied with its own transpose once; of more than 63 columns rows are also stored and
  read again for second derivatives.
- Fits: small problems on the host between the passes, and the trips there and back; a sample of the rows, to which the
  same machine is fitted first, takes about as long as three passes. The share of a fit varies with the processor of the
  host: on others with the same device logistic regression took up to 30 ms, and Poisson regression 41 ms.
- `KMeans`: the two nearest centres are compared by exact differences, as rounding of the products could decide.
- `GaussianMixture`: responsibilities are stored, and moments read rows once for each component.
- Softmax of many columns: the passes take 1.5 ms in float32 and 2.0 in float64; the rest, about 0.1 s whatever the type
  of the rows, are the matrices of second derivatives, one a class, which go to the host and back.
- Rows on the host: the first pass also locks the pages of the array, at 40 to 45 GB/s with the copies, which slow down
  meanwhile: 56 to 63 % of the bus is left, whether one thread locks ahead or eight. Through page-locked buffers that
  threads fill every pass has 25 to 50 % of the bus, as threads copy 25 to 40 GB/s of memory here. Pages of a machine
  whose memory is slow to lock are copied to buffers.
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


def passes(torch: Any, top: Limits) -> Iterator[Measured]:
    """Measure single passes: plain sums, torch's own products, and the fused kernels."""
    from adaline import fused

    yield Measured("sum of all numbers, 2^30 float64", 2**33 / top.bytes, 0, "", f"{top.bytes / 1e12:.2f} TB/s")
    yield Measured(
        "product of 8192 x 8192 float64", 2 * 8192**3 / top.operations, 0, "", f"{top.operations / 1e12:.1f} TFLOP/s"
    )
    n = 10_000_000
    for d, least_rate in ((20, 2.1), (50, 2.5), (100, 2.5)):
        double = double_kernel = 0.0
        for dtype in (torch.float64, torch.float32):
            rows = Rows(torch, n, d, dtype)
            x, size = rows.x, rows.x.numel() * rows.x.element_size()
            t = rows.classes().double()
            theta = np.concatenate([[0.1], rows.w.cpu().numpy()])[None]
            at = ("logistic", 0.0, theta, np.ones(d), np.zeros(d))
            name = f"{n:,} x {d} {str(dtype)[6:]}"
            least = top.seconds(size)
            fast = best(torch, lambda x=x, t=t, at=at: fused.objective(x, t, None, *at, "none", near=True), 30)
            double = double or fast
            asked = f"{least_rate} TB/s" if dtype is torch.float64 else "1.4 times as fast as float64"
            remark = f"{size / fast / 1e12:.2f} TB/s" + (
                "" if double == fast else f"; {double / fast:.2f} times as fast"
            )
            kernel = longest_kernel(torch, lambda x=x, t=t, at=at: fused.objective(x, t, None, *at, "none", near=True))
            double_kernel = kernel if dtype is torch.float64 else double_kernel
            remark += f"; its kernel alone {1e3 * kernel:.2f} ms, {size / kernel / 1e12:.2f} TB/s" + (
                "" if double == fast else f", {double_kernel / kernel:.2f} times as fast"
            )
            yield Measured(f"fused logistic value and gradient, {name}", fast, least, asked, remark)
            few = best(torch, lambda x=x, t=t, at=at: fused.objective(x[:1000], t[:1000], None, *at, "none", near=True))
            yield Measured(f"the same of 1,000 rows, {d} columns", few, 0, "", "the overhead of a call")
            work = 2 * n * (d + 1) ** 2
            second = best(torch, lambda x=x, t=t, at=at: fused.objective(x, t, None, *at, "alone", near=True))
            remark = f"{size / second / 1e12:.2f} TB/s"
            yield Measured(f"with second derivatives, {name}", second, top.seconds(size, work), "", remark)
            spread = best(torch, lambda x=x: fused.spread(x, None, x[0].double()))
            yield Measured(
                f"fused spread of the columns, {name}", spread, least, "", f"{size / spread / 1e12:.2f} TB/s"
            )
            if dtype is torch.float64:
                gram = best(torch, lambda x=x: x.T @ x)
                remark = f"{2 * n * d * d / gram / 1e12:.1f} TFLOP/s"
                yield Measured(f"torch X'X, {name}", gram, top.seconds(size, 2 * n * d * d), "", remark)
                shift, scale = np.zeros(d + 1), np.ones(d + 1)
                own = best(torch, lambda x=x, t=t, s=(shift, scale): fused.moments(x, t[:, None], None, None, *s))
                remark = f"{2 * n * (d + 2) ** 2 / own / 1e12:.1f} TFLOP/s; {own / gram:.2f} times X'X"
                yield Measured(f"fused moments of (x, 1, t), {name}", own, top.seconds(size, work), "", remark)
                yield twofold_residuals(torch, x, t[:, None], name, least)
            del rows, x, t
            gc.collect()
            torch.cuda.empty_cache()


def twofold_residuals(torch: Any, x: Any, t: Any, name: str, least: float) -> Measured:
    """Measure a pass of refinement: residuals in double-double, beside the reference, operation by operation."""
    from adaline import fused
    from adaline.block import Block
    from adaline.sums.residual import Theta, residual_reference

    d = x.shape[1]
    hi, exponent = np.full((1, 1 + d), 0.1), np.zeros(d + 1)
    own = best(torch, lambda: fused.residual(x, t, None, hi, 0.0 * hi, exponent))
    few = Block(x[: len(x) // 10], t[: len(x) // 10])
    reference = best(torch, lambda: residual_reference(few, Theta(hi, 0.0 * hi, exponent)), 1)
    remark = (
        f"{d * 8 * len(x) / own / 1e12:.2f} TB/s; the reference takes {1e3 * reference:.0f} ms for a tenth of the rows"
    )
    return Measured(f"residuals in double-double, {name}", own, least, "", remark)


def streamed(torch: Any) -> Iterator[Measured]:
    """Measure rows on the host that are summed on the device, beside the rate of the bus."""
    import adaline
    from adaline.sums import Objective, Point, View

    n, d = 10_000_000, 50
    locked = torch.empty(2**27, dtype=torch.float64, pin_memory=True)
    there = torch.empty(2**27, dtype=torch.float64, device="cuda")
    bus = 2**30 / best(torch, lambda: there.copy_(locked, non_blocking=True))
    yield Measured("copy from page-locked memory, 1 GB", 2**30 / bus, 0, "", f"{bus / 1e9:.1f} GB/s")
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        x = np.tile(rng.standard_normal((n // 10, d), dtype=dtype), (10, 1))
        y = (x[:, 0] > rng.logistic(size=n)).astype(np.int64)
        source = adaline.open_table(x, target=y, device="cuda")
        point = Point(adaline.losses.Logistic(), np.zeros((1, 1 + d)), View(np.ones(d), np.zeros(d)))
        size, name = x.nbytes + 8 * n, f"{n:,} x {d} {np.dtype(dtype)} on the host"
        for number in ("first", "second", "third", "fourth"):
            start = time.perf_counter()
            source.sum(Objective, point, outputs=1)
            seconds = time.perf_counter() - start
            asked = "80 %" if number == "fourth" else ""
            remark = f"{size / seconds / 1e9:.1f} GB/s"
            yield Measured(f"{number} pass over {name}", seconds, size / bus, asked, remark)
        del source
        fitted: list[Any] = []

        def on_device(x: Any = x, y: Any = y, fitted: list[Any] = fitted) -> None:
            fitted.append(adaline.LogisticRegression(tol=1e-6).fit(adaline.open_table(x, target=y, device="cuda")))

        seconds = best(torch, on_device, 2)
        passes = fitted[-1].certificate_.passes
        remark = f"{passes} passes; pages locked and unlocked"
        yield Measured(f"LogisticRegression, {name}", seconds, passes * size / bus, "", remark)
        alone = best(torch, lambda x=x, y=y: adaline.LogisticRegression(tol=1e-6).fit(x, y), 2)
        yield Measured("the same without the device", alone, 0, "", f"{os.cpu_count()} cores")


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

    def mixture(iterations: int) -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, 1_000_000, 50)
        model = adaline.GaussianMixture(n_components=4, max_iter=iterations, tol=0.0)
        return lambda: model.fit(rows.x), f"1,000,000 x 50, K = 4, {iterations} iterations of EM after k-means"

    def softmax(n: int, dtype: Any = None) -> tuple[Callable[[], Any], str]:
        rows = Rows(torch, n, 784, dtype)
        z = 3 * rows.x.double() @ rows.normal(784, 10) / 28
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
        "GaussianMixture 10": lambda: mixture(10),
        "GaussianMixture 30": lambda: mixture(30),
        "softmax 60000": lambda: softmax(60_000),
        "softmax 600000": lambda: softmax(600_000),
        "softmax 600000 float32": lambda: softmax(600_000, torch.float32),
    }


class Asked(NamedTuple):
    """What a fit is asked for: in words, and the operations of the products of matrices in so many passes."""

    bar: str
    operations: Callable[[int], float]


MANY = 10_000_000
ASKED = {
    "LinearRegression 50": Asked("1.5 times X'X", lambda passes: 2 * MANY * 52**2),
    "LinearRegression 100": Asked("1.5 times X'X", lambda passes: 2 * MANY * 102**2),
    "GaussianClassifier": Asked("3 times X'X", lambda passes: 2 * MANY * 51**2),
    "LogisticRegression": Asked("25 ms", lambda passes: 2 * MANY * 51**2),
    "Poisson": Asked("35 ms", lambda passes: 2 * MANY * 51**2),
    "RobustRegression": Asked("150 ms", lambda passes: 2 * passes * MANY * 51**2),
    "KMeans": Asked("2 ms an iteration", lambda passes: 4 * passes * 2_000_000 * 50 * 8),
    "GaussianMixture 10": Asked("", lambda passes: 4 * 10 * 1_000_000 * 50**2 * 4),
    "GaussianMixture 30": Asked("12 ms an iteration", lambda passes: 4 * 30 * 1_000_000 * 50**2 * 4),
    "softmax 60000": Asked("400 ms", lambda passes: 4 * passes * 60_000 * 785 * 10),
    "softmax 600000": Asked("900 ms", lambda passes: 4 * passes * 600_000 * 785 * 10),
    "softmax 600000 float32": Asked("less than float64", lambda passes: 4 * passes * 600_000 * 785 * 10),
}


def told(model: Any, seconds: float, product: float) -> str:
    """Return passes and solver of a fit to the rows that were read last, and its time in other units."""
    certificate, size = model.certificate_, Rows.size
    out = f"; {certificate.passes} passes over {size / 1e9:.1f} GB; {certificate.solver}"
    return out if not product else f"{out}; {seconds / product:.2f} times X'X"


def fits(torch: Any, only: list[str], repeats: int, top: Limits) -> Iterator[Measured]:
    """Measure the fits of these names."""
    products, before = {}, 0.0
    for name, make in problems(torch).items():
        if only and name not in only:
            continue
        try:
            work, remark = make()
            d = {"LinearRegression 50": 50, "LinearRegression 100": 100, "GaussianClassifier": 50}.get(name, 0)
            if d and d not in products:
                x = torch.randn(MANY, d, dtype=torch.float64, device="cuda")
                products[d] = best(torch, lambda x=x: x.T @ x, repeats)
                del x
            seconds = best(torch, work, repeats)
            model = work()
            done = model.certificate_.passes
            least = top.seconds(done * Rows.size, ASKED[name].operations(done))
            remark += told(model, seconds, products.get(d, 0.0))
            if name == "KMeans":
                remark += f"; {1e3 * seconds / 20:.2f} ms an iteration"
            if name == "GaussianMixture 30":
                remark += f"; {1e3 * (seconds - before) / 20:.2f} ms an iteration, by the difference from 10"
            before = seconds
            yield Measured(name, seconds, least, ASKED[name].bar, remark)
        except Exception as error:  # one problem that fails must not hide the others
            yield Measured(name, float("nan"), 0, "", f"fails: {type(error).__name__}: {str(error)[:200]}")
        gc.collect()
        torch.cuda.empty_cache()


def peers(torch: Any) -> Iterator[Measured]:
    """Measure what a user of torch would write: least squares, and L-BFGS with autograd for logistic regression."""
    rows = Rows(torch, 10_000_000, 50)
    y, labels = rows.amounts(), rows.classes().double()
    try:
        seconds = best(torch, lambda: torch.linalg.lstsq(rows.x, y[:, None]), 2)
        yield Measured("torch.linalg.lstsq", seconds, 0, "", "10,000,000 x 50")
    except RuntimeError as error:
        yield Measured("torch.linalg.lstsq", float("nan"), 0, "", f"fails: {str(error).splitlines()[0][:80]}")

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

    yield Measured("torch LBFGS with autograd, logistic", best(torch, logistic, 2), 0, "", "10,000,000 x 50")


def other_peers(torch: Any) -> Iterator[Measured]:
    """Measure what users of jax and cupy would write: Newton's method, and normal equations."""
    rows = Rows(torch, 10_000_000, 50)
    y, labels = rows.amounts(), rows.classes().double()
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

    def by_jax() -> Callable[[], Any]:
        import jax

        jax.config.update("jax_enable_x64", True)
        x, t = (jax.numpy.from_dlpack(part) for part in (rows.x, labels))

        @jax.jit
        def step(w: Any) -> Any:
            p = jax.nn.sigmoid(x @ w[1:] + w[0])
            q = p * (1 - p)
            g = jax.numpy.concatenate([(p - t).sum()[None], (p - t) @ x])
            edge, inner = q @ x, (x * q[:, None]).T @ x
            h = jax.numpy.block([[q.sum()[None, None], edge[None]], [edge[:, None], inner]])
            return w - jax.numpy.linalg.solve(h, g)

        def fit() -> None:
            w = jax.numpy.zeros(51)
            for _ in range(6):
                w = step(w)
            w.block_until_ready()

        return fit

    def by_cupy() -> Callable[[], Any]:
        import cupy

        x, t = (cupy.from_dlpack(part) for part in (rows.x, y))
        return lambda: cupy.linalg.solve(x.T @ x, x.T @ t).get()

    for name, make in (("jax, Newton for logistic, 6 steps", by_jax), ("cupy, normal equations", by_cupy)):
        try:
            yield Measured(name, best(torch, make(), 2), 0, "", "10,000,000 x 50")
        except Exception as error:  # a peer that is not there, or fails
            yield Measured(name, float("nan"), 0, "", f"fails: {type(error).__name__}: {str(error)[:80]}")


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
        "| what | time | share of the limit | asked | |",
        "|---|---|---|---|---|",
    ]
    top = limits(torch)
    parts = [fits(torch, options.only, options.repeats, top)]
    parts = parts if options.only else [passes(torch, top), *parts, streamed(torch), peers(torch), other_peers(torch)]
    for one in chain.from_iterable(parts):
        lines.append(one.line())
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n" + NOTES)


if __name__ == "__main__":
    main()
