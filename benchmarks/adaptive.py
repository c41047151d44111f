"""Adaptive filters beside padasip: time a sample, the error reached on real signals, and ten million samples of RLS.

The signals are read from the folder that ADALINE_DATA names (by default ../shared/data); what is not there is said.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import wavfile

from benchmarks.peers import Array
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS, TAPS = "adaline", 20
DATA = Path(os.environ.get("ADALINE_DATA", Path(__file__).parents[2] / "shared" / "data"))

RULES: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "lms": ({"rule": "lms", "rate": 0.01}, "FilterLMS", {"mu": 0.01}),
    "nlms": ({"rule": "nlms", "rate": 0.5, "eps": 1e-3}, "FilterNLMS", {"mu": 0.5, "eps": 1e-3}),
    "rls": ({"rule": "rls", "forgetting": 0.999, "regularization": 0.1}, "FilterRLS", {"mu": 0.999, "eps": 0.1}),
}
"""Ours, and padasip's of the same rule: its mu of RLS is the forgetting, its eps the regularization."""


@benchmark("adaptive")
def adaptive(settings: Settings) -> Section:
    """LMS, NLMS and RLS, block by block."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal(settings.rows(100_000))
    d = np.convolve(x, rng.standard_normal(TAPS))[: len(x)] + 0.1 * rng.standard_normal(len(x))
    tables = [_speed(x, d, settings), _errors(), _references(), _endurance(settings)]
    return Section(
        "Adaptive filters",
        f"padasip gets the rows of the delay line ({TAPS} taps), which are made outside the clock; we get the signal.",
        [table for table in tables if table is not None],
    )


def _speed(x: Array, d: Array, settings: Settings) -> Table:
    import adaline

    U, rows = _line(x, TAPS), []
    for rule, (ours, _, _) in RULES.items():
        found = race(
            {
                OURS: lambda ours=ours: adaline.AdaptiveFilter(taps=TAPS, **ours).filter(x, d).error,
                "padasip": lambda rule=rule: _padasip(rule, U, d),
            },
            rounds=min(settings.rounds, 3),
        )
        mine, theirs = (found[name].seconds / len(x) for name in (OURS, "padasip"))
        gap = np.abs(found[OURS].result - found["padasip"].result).max()
        rows.append([rule, seconds(mine), seconds(theirs), ratio(theirs / mine), f"{gap:.1e}"])
    return Table(
        f"{len(x)} samples, {TAPS} taps", ["", "ours, a sample", "padasip", "peer / ours", "outputs differ"], rows
    )


def _errors() -> Table | None:
    """Mean squared errors on the ECG (one step ahead) and on speech (one step ahead, and an echo)."""
    import adaline

    rows = []
    for name, x, d, delay in _signals():
        for rule, (ours, _, _) in RULES.items():
            if rule == "lms":  # its rate depends on the units
                continue
            mine = adaline.AdaptiveFilter(taps=TAPS, delay=delay, **ours).filter(x, d).error
            theirs = _padasip(rule, _line(np.r_[np.zeros(delay), x[: len(x) - delay]], TAPS), d)
            pair = [float(np.mean(error**2)) for error in (mine, theirs)]
            rows.append([f"{name}, {rule}", *(f"{v:.6e}" for v in pair), f"{pair[0] / pair[1] - 1:+.0e}"])
    return Table("mean squared error, same parameters", ["", "ours", "padasip", "difference"], rows) if rows else None


def _references() -> Table | None:
    """Weights computed outside, in 80 bits."""
    import adaline

    if not (DATA / "reference" / "adaptive.json").exists():
        return Table(f"references: {DATA.name}/reference is not there", ["", "largest relative difference"], [])
    cases = json.loads((DATA / "reference" / "adaptive.json").read_text())["cases"]
    rows = []
    for name, case in cases.items():
        if "final_w" not in case:
            continue
        held = np.load(DATA / case["file"])
        scale = 1 / 32768 if name.startswith("aec") else 1.0
        if "refs" in held:
            x, d, taps = held["refs"], held["d"], 8
        elif "d" in held:
            x, d, taps = held["x"] * scale, held["d"] * scale, case["L"]
        elif name.startswith("ecg"):
            x, d, taps = held["x"][:-1], held["x"][1:], case["L"]
        else:
            continue
        kind = {"rule": "rls", "forgetting": case["lam"], "regularization": case["delta"]} if "lam" in case else {
            "rule": case["kind"].lower(), "rate": case["mu"], "eps": case["eps"]}  # fmt: skip
        model = adaline.AdaptiveFilter(taps=taps, **kind)
        error = model.filter(x, d).error
        w, mse = np.array(case["final_w"]), case.get("mse_all", case.get("mse_a_priori"))
        gap = max(np.abs(model.coef_ - w).max() / np.abs(w).max(), abs(np.mean(error**2) / mse - 1))
        rows.append([name, f"{gap:.1e}"])
    return Table("weights and error against references", ["", "largest relative difference"], rows)


def _endurance(settings: Settings) -> Table:
    """RLS on coloured noise that swells and fades, with long silences."""
    import adaline

    rng, rows = np.random.default_rng(6), []
    size, blocks = settings.rows(1_000_000), 10
    for forgetting in (1.0, 0.999, 0.98):
        model, least, spent = adaline.AdaptiveFilter(rule="rls", taps=TAPS, forgetting=forgetting), np.inf, 0.0
        for block in range(blocks):
            x = np.cumsum(rng.standard_normal(size)) * 1e-3 if block % 3 == 1 else rng.standard_normal(size)
            x[size // 2 : size // 2 + size // 4] = 0.0
            d = np.convolve(x, np.arange(TAPS))[:size] + rng.standard_normal(size)
            model.partial_fit(x, d)
            spent += model.certificate_.seconds
            S = model._adaptation.covariance_root
            values = np.linalg.svd(S, compute_uv=False)
            least = min(least, float(values[-1]) if np.isfinite(S).all() else -np.inf)
        rows.append([f"forgetting {forgetting}", seconds(spent / model.rows_seen_), f"{least:.2e}"])
    return Table(
        f"RLS over {size * blocks} samples, {TAPS} taps", ["", "a sample", "least singular value of S, P = S S'"], rows
    )


def _padasip(rule: str, U: Array, d: Array) -> Array:
    import padasip

    _, name, settings = RULES[rule]
    return np.asarray(getattr(padasip.filters, name)(n=U.shape[1], w="zeros", **settings).run(d, U)[1])


def _line(x: Array, taps: int) -> Array:
    padded = np.r_[np.zeros(taps - 1), x]
    return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1])


def _signals() -> list[tuple[str, Array, Array, int]]:
    """Name, input, desired signal and delay; at most 20,000 samples each, as padasip takes its time."""
    folder, out = DATA / "signals", []
    if not folder.exists():
        return out
    if (DATA / "cases" / "ecg_pred.npz").exists():
        ecg = np.load(DATA / "cases" / "ecg_pred.npz")["x"][:20_000]
        out.append(("ECG, one step ahead", ecg, ecg, 1))
    with gzip.open(folder / "foetal_ecg.dat.gz", "rt") as file:
        foetal = np.loadtxt(file)
    out.append(("foetal ECG, mother out of the abdomen", foetal[:, 6], foetal[:, 1], 0))
    speech = wavfile.read(folder / "cmu_arctic_us_aew_a0001.wav")[1][:20_000] / 32768
    out.append(("speech, one step ahead", speech, speech, 1))
    far, near = (wavfile.read(folder / f"pyaec_{name}.wav")[1][:20_000] / 32768 for name in "xd")
    out.append(("speech, echo", far, near, 0))
    return out
