"""Least squares and the Gaussian classifier on a CUDA device, beside torch's own X'X: `python -m benchmarks.device`."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any


def best(torch: Any, work: Callable[[], Any], repeats: int = 7) -> float:
    """Best wall-clock time of several runs, the device waited for."""
    found = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found = min(found, time.perf_counter() - start)
    return found


def main() -> None:
    """Time the fits and print ratios to torch's X'X."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=100)
    options = parser.parse_args()
    import torch

    from adaline import GaussianClassifier, LinearRegression

    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device: nothing measured")
    warnings.simplefilter("ignore")

    n, d = options.rows, options.columns
    print(torch.cuda.get_device_name(), f"torch {torch.__version__}", f"{n} x {d} float64")
    generator = torch.Generator("cuda").manual_seed(0)
    x = torch.randn(n, d, dtype=torch.float64, device="cuda", generator=generator)
    w = torch.randn(d, dtype=torch.float64, device="cuda", generator=generator)
    y = x @ w + 1 + torch.randn(n, dtype=torch.float64, device="cuda", generator=generator)
    gram = best(torch, lambda: x.T @ x)
    print(f"torch X'X                   {1e3 * gram:8.2f} ms")
    model = LinearRegression()
    fit = best(torch, lambda: model.fit(x, y))
    print(f"LinearRegression.fit        {1e3 * fit:8.2f} ms  {fit / gram:.2f} of X'X")
    print(f"  {model.certificate_}")
    print(f"  largest error of a coefficient {float((model.coef_ - w).abs().max()):.2e} (noise 1, {n} rows)")
    try:
        lstsq = best(torch, lambda: torch.linalg.lstsq(x, y[:, None]), 1)
        print(f"torch.linalg.lstsq          {1e3 * lstsq:8.2f} ms")
    except RuntimeError as error:
        print(f"torch.linalg.lstsq fails: {str(error).splitlines()[0][:100]}")
    labels = (x[:, 0] > 0).to(torch.int64) + (x[:, 1] > 0.5).to(torch.int64)
    classifier = GaussianClassifier()
    gaussian = best(torch, lambda: classifier.fit(x, labels), 3)
    print(f"GaussianClassifier.fit      {1e3 * gaussian:8.2f} ms  {gaussian / gram:.2f} of X'X, 3 classes")


if __name__ == "__main__":
    main()
