"""The roofline of each kernel: its time beside what the memory and the multiply-adds of the machine allow.

`python -m benchmarks.roofline` takes about a minute and writes the section "Measured" of docs/how-it-is-fast.md; with
`--print` it only prints it. The bandwidth of the memory and the rate of multiply-adds are measured in the same run,
before and after, by `peaks.c`, which the C compiler of the machine compiles.

    limit = max(bytes / bandwidth, operations / rate),   share = limit / time

Bytes are those of the rows, read once. An operation is a fused multiply-add, or an addition or product alone: what one
lane of the processor's units does in a cycle. Counted is what the mathematics needs, not what a kernel does beside it;
exponentials and logarithms are not counted.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy

import adaline
from adaline.block import Shape
from adaline.losses import Logistic, Poisson, Softmax
from adaline.scans import LMSRule, PerceptronRule
from adaline.sources import SparseSource
from adaline.sources.array import ArraySource
from adaline.sources.tables.sparse_lines import parse_lines
from adaline.sums import (
    Centres,
    ClassMoments,
    Clusters,
    Components,
    MixtureMoments,
    Moments,
    Objective,
    Point,
    Residual,
    Theta,
    View,
)
from benchmarks.report import Section, Table, processor, seconds

PAGE = Path(__file__).parents[1] / "docs" / "how-it-is-fast.md"
ROWS, NARROW, WIDE = 1_000_000, 20, 100  # rows x 20, a fifth of them x 100: 160 MB, more than caches hold
CLASSES, CENTRES, FILLED = 10, 8, 30  # FILLED entries a sparse row, of 10,000 columns
DOUBLE = 9  # operations of a product added in double-double
LINES = 60_000  # lines of text
TURNS, ENOUGH = 7, 1.5  # runs of which the best counts, fewer after so many seconds
Array = np.ndarray[Any, Any]


class Peaks(NamedTuple):
    """Bytes and operations a second."""

    bandwidth: float
    rate: float


class Work(NamedTuple):
    """A pass of a kernel: what it is, its shape, bytes and operations, whether it takes all threads, and itself."""

    kernel: str
    shape: str
    bytes: float
    operations: float
    threaded: bool
    run: Callable[[], Any]


def best(run: Callable[[], Any], turns: int = TURNS) -> float:
    """Return the seconds of the best of some runs."""
    found, start = [], perf_counter()
    while len(found) < turns and (len(found) < 2 or perf_counter() - start < ENOUGH):
        before = perf_counter()
        run()
        found.append(perf_counter() - before)
    return min(found)


def peaks(folder: Path, threads: int) -> dict[int, Peaks]:
    """Return what one thread, and what so many, can do."""
    library = folder / "peaks.so"
    source = Path(__file__).with_name("peaks.c")
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", source, "-o", library], check=True
    )
    native = ctypes.CDLL(str(library))
    native.read_all.argtypes, native.read_all.restype = [ctypes.c_void_p, ctypes.c_long], ctypes.c_double
    native.multiply_add.argtypes, native.multiply_add.restype = [ctypes.c_long], ctypes.c_double
    native.chains.restype = ctypes.c_long
    x, steps = np.ones(ROWS * NARROW), 20_000_000
    out = {}
    for count in {1, threads}:
        part = len(x) // count
        with ThreadPoolExecutor(count) as pool:

            def read(count: int = count, part: int = part, pool: Any = pool) -> None:
                list(pool.map(lambda i: native.read_all(x[i * part :].ctypes.data, part), range(count)))

            def multiply(count: int = count, pool: Any = pool) -> None:
                list(pool.map(lambda i: native.multiply_add(steps), range(count)))

            out[count] = Peaks(8 * part * count / best(read), native.chains() * steps * count / best(multiply))
    return out


def works() -> Iterator[Work]:
    """Return a pass of each kernel, over rows of its own."""
    rng = np.random.default_rng(0)
    for n, d in ((ROWS, NARROW), (ROWS // 5, WIDE)):
        yield from _dense(rng.standard_normal((n, d)), rng)
    yield _sparse(rng)
    yield _text(rng)


def _dense(x: Array, rng: np.random.Generator) -> Iterator[Work]:
    (n, d), shape = x.shape, f"{x.shape[0]} x {x.shape[1]}"
    view, size, t = View(np.ones(d), np.zeros(d)), 8.0 * x.size, rng.standard_normal((n, 1))
    codes = {k: rng.integers(0, k, (n, 1)).astype(np.float64) for k in (2, CLASSES)}
    numbers, two, many = (ArraySource(x, one) for one in (t, codes[2], codes[CLASSES]))
    small = 0.1 * rng.standard_normal((CLASSES, 1 + d)) / np.sqrt(d)

    def objective(rows: Any, loss: Any, outputs: int = 1, second: str = "none") -> Callable[[], Any]:
        known = {"outputs": outputs, "coupled": outputs > 1, "second": second}
        return lambda: rows.sum(Objective, Point(loss, small[:outputs], view), **known)

    squares = (d + 1) * (d + 2) / 2  # products of pairs of columns, the target and the squares included
    yield Work("moments, X'X and X't", shape, size, n * squares, True, lambda: numbers.sum(Moments))
    yield Work("moments of 2 classes", shape, size, n * squares, True, lambda: two.sum(ClassMoments, classes=2))
    yield Work("logistic, gradient", shape, size, 2.0 * n * d, True, objective(two, Logistic()))
    yield Work(
        "logistic, second derivatives", shape, size, n * (2 * d + squares), True, objective(two, Logistic(), 1, "all")
    )
    yield Work("Poisson, gradient", shape, size, 2.0 * n * d, True, objective(two, Poisson()))
    yield Work(
        f"softmax of {CLASSES}, gradient",
        shape,
        size,
        2.0 * n * d * CLASSES,
        True,
        objective(many, Softmax(), CLASSES),
    )
    theta = Theta(small[:1], np.zeros((1, 1 + d)), np.zeros(d + 1))
    work = 2.0 * DOUBLE * n * d
    yield Work("residual, double-double", shape, size, work, True, lambda: numbers.sum(Residual, theta))
    centres = Centres(x[:CENTRES].copy(), view)
    yield Work(
        f"k-means, {CENTRES} centres",
        shape,
        size,
        n * d * (CENTRES + 1.0),
        True,
        lambda: numbers.sum(Clusters, centres, clusters=CENTRES),
    )
    densities = Components(np.zeros(CENTRES), x[:CENTRES].copy(), np.tile(np.eye(d), (CENTRES, 1, 1)), view)
    yield Work(
        f"mixture, {CENTRES} full covariances",
        shape,
        size,
        n * CENTRES * (d * (d + 1) / 2 + squares),
        True,
        lambda: numbers.sum(MixtureMoments, densities, components=CENTRES, whole=True),
    )
    lms, perceptron = LMSRule.start(Shape(d, 1), rate=1e-4), PerceptronRule.start(Shape(d, 1))
    signs = ArraySource(x, 2 * codes[2] - 1)
    yield Work("scan, LMS", shape, size, 2.0 * n * d, False, lambda: numbers.scan(lms))
    yield Work("scan, perceptron", shape, size, 2.0 * n * d, False, lambda: signs.scan(perceptron))


def _sparse(rng: np.random.Generator) -> Work:
    n, d = ROWS // 2, 10_000
    indices = np.sort(rng.integers(0, d, (n, FILLED)), axis=1).astype(np.int32).ravel()
    starts = np.arange(n + 1, dtype=np.int64) * FILLED
    x = scipy.sparse.csr_array((rng.standard_normal(len(indices)), indices, starts), shape=(n, d))
    rows = SparseSource(x, rng.integers(0, 2, (n, 1)).astype(np.float64))
    point = Point(Logistic(), np.zeros((1, 1 + d)), View(np.ones(d), np.zeros(d)))
    return Work(
        "logistic, gradient, sparse",
        f"{n} x {d}, {FILLED} entries a row",
        float(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes),
        2.0 * x.nnz,
        True,
        lambda: rows.sum(Objective, point, outputs=1),
    )


def _text(rng: np.random.Generator) -> Work:
    values = rng.random((LINES, FILLED)).tolist()
    columns = (1 + FILLED * rng.integers(0, 300, (LINES, FILLED)) + np.arange(FILLED)).tolist()
    rows = (zip(sorted(at), row, strict=True) for at, row in zip(columns, values, strict=True))
    text = "".join(f"1 {' '.join(f'{j}:{v:.6g}' for j, v in row)}\n" for row in rows).encode()
    return Work("reading LIBSVM text", f"{LINES} lines", float(len(text)), 0.0, False, lambda: parse_lines(text))


def section(threads: int) -> Section:
    """Measure, and return the table."""
    adaline.set_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        before = peaks(Path(folder), threads)
        measured = [(work, best(work.run)) for work in works()]
        after = peaks(Path(folder), threads)
    known = {count: Peaks(*map(max, before[count], after[count])) for count in before}
    rows = []
    for work, taken in measured:
        able = known[threads if work.threaded else 1]
        by_memory, by_units = work.bytes / able.bandwidth, work.operations / able.rate
        limit = max(by_memory, by_units)
        bound = "memory" if by_memory > by_units else "multiply-adds"
        size = (f"{work.bytes / 1e6:.3g} MB", f"{work.operations / 1e9:.3g}e9" if work.operations else "")
        rows.append((work.kernel, work.shape, *size, seconds(taken), seconds(limit), bound, f"{limit / taken:.0%}"))
    capable = [
        (str(count), f"{one.bandwidth / 1e9:.3g} GB/s", f"{one.rate / 1e9:.3g}e9 a second")
        for count, one in sorted(known.items())
    ]
    heads = ("kernel", "rows", "bytes", "operations", "time", "limit", "bound by", "share of the limit")
    text = f"{processor()}, {threads} threads; scans and the reading of text take one. The best of some runs."
    return Section(
        "Measured",
        text,
        [Table("", ("threads", "memory read", "multiply-adds"), capable), Table("", heads, rows)],
    )


def main() -> None:
    """Read the command line, measure, and write the section into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.roofline", description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=2, help="threads of the kernels (2)")
    parser.add_argument("--print", action="store_true", help="print the section, and leave the page as it is")
    given = parser.parse_args()
    found = section(given.threads)
    print(f"\n{found}")
    if not given.print:
        before = PAGE.read_text(encoding="utf-8").partition(f"## {found.title}")[0]
        PAGE.write_text(f"{before}{found}\n", encoding="utf-8")
        print(f"\nwritten: {PAGE}")


if __name__ == "__main__":
    main()
