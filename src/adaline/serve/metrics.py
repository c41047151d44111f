"""The metrics of a service, in the format of Prometheus: requests and their latency, rows, errors, drift, digits."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adaline.arrays import Array, is_sparse
from adaline.fitted import AnyModel, uses_basis
from adaline.input.basis import columns_of
from adaline.sums import ClassMoments, Moments

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the cells of a histogram of latencies."""
MOST_DRIFT_COLUMNS = 1000  # columns whose drift is measured; doubling it makes the metrics twice as long
# rows over which the mean of inputs is taken, with older ones counting 1/e; doubling it shows drift later, with less
# noise
DRIFT_ROWS = 10_000.0

GAUGES = {
    "adaline_rows_seen": "Rows that the model has learned from.",
    "adaline_certificate_digits": "Correct digits of the coefficients, by the certificate.",
    "adaline_progressive_error": "Mean square, or share of wrong labels, of rows predicted before they were learned.",
    "adaline_progressive_error_recent": "The same of about the last 1,000 rows.",
    "adaline_progressive_loss": "Mean of the model's own loss of these rows: squares, or log loss.",
    "adaline_progressive_loss_recent": "The same of about the last 1,000 rows.",
    "adaline_waiting_rows": "Rows that wait to be learned.",
    "adaline_journal_full": "1 where the last commit found no room on the disk.",
    "adaline_input_drift": "Mean of late inputs less that of the training, in standard deviations of the training.",
}


class Histogram:
    """Counts of latencies by cells."""

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Count a latency."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


@dataclass
class RequestMetrics:
    """Counts of requests by route, model and status. Only the thread of the event loop counts."""

    counts: dict[tuple[str, str, int], int] = field(default_factory=dict)
    latencies: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    rows: dict[tuple[str, str], int] = field(default_factory=dict)

    def observe(self, route: str, model: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = (route, model, status)
        self.counts[key] = self.counts.get(key, 0) + 1
        histogram = self.latencies.get(key[:2])
        if histogram is None:
            histogram = self.latencies[key[:2]] = Histogram()
        histogram.observe(seconds)

    def add_rows(self, route: str, model: str, count: int) -> None:
        """Count the rows of a request."""
        self.rows[route, model] = self.rows.get((route, model), 0) + count

    def plain(self) -> dict[str, Any]:
        """Return the counts as lists, for JSON."""
        return {
            "counts": [[*key, count] for key, count in self.counts.items()],
            "latencies": [[*key, one.counts, one.total] for key, one in self.latencies.items()],
            "rows": [[*key, count] for key, count in self.rows.items()],
        }

    def joined(self, others: Iterable[dict[str, Any]]) -> RequestMetrics:
        """Return these counts and those of others, as `plain` gives them, together."""
        out = RequestMetrics()
        for one in (self.plain(), *others):
            for *key, count in one["counts"]:
                out.counts[tuple(key)] = out.counts.get(tuple(key), 0) + count
            for *key, counts, total in one["latencies"]:
                histogram = out.latencies.setdefault(tuple(key), Histogram())
                histogram.counts = [a + b for a, b in zip(histogram.counts, counts, strict=True)]
                histogram.total += total
            for route, model, count in one["rows"]:
                out.add_rows(route, model, count)
        return out

    def lines(self) -> Iterator[str]:
        """Yield the counts in the format of Prometheus."""
        yield from head("adaline_requests_total", "counter", "Requests, by route, model and status.")
        for (route, model, status), count in self.counts.items():
            yield metric_line("adaline_requests_total", count, route=route, model=model, status=status)
        yield from head("adaline_request_seconds", "histogram", "Time from the first byte of a request to its answer.")
        for (route, model), histogram in self.latencies.items():
            below = 0
            for bound, count in zip((*SECONDS, math.inf), histogram.counts, strict=True):
                below += count
                yield metric_line(
                    "adaline_request_seconds_bucket", below, route=route, model=model, le=prometheus_number(bound)
                )
            yield metric_line("adaline_request_seconds_sum", histogram.total, route=route, model=model)
            yield metric_line("adaline_request_seconds_count", below, route=route, model=model)
        yield from head("adaline_rows_total", "counter", "Rows predicted or learned.")
        for (route, model), count in self.rows.items():
            yield metric_line("adaline_rows_total", count, route=route, model=model)


class Drift:
    """How far the inputs of late are from those of the training, column by column, in standard deviations.

    Parameters
    ----------
    names : of the coded columns.
    mean, deviation : of the training rows, (D,).
    """

    def __init__(self, names: Iterable[str], mean: Array, deviation: Array) -> None:
        self.names, self.mean, self.deviation = list(names), mean, deviation
        self.recent = mean.copy()
        self.rows = 0

    def observe(self, x: Any) -> None:
        """Take rows (n, D) into the running mean, in which a row counts by exp(-age / DRIFT_ROWS).

        Rows of an older version, of other columns, are left out.
        """
        if x.shape[1] != len(self.names) or is_sparse(x):
            return
        rows = x.shape[0]
        share = -math.expm1(-rows / DRIFT_ROWS) if self.rows >= DRIFT_ROWS else rows / (self.rows + rows)
        self.recent += share * ((x[0] if rows == 1 else x.mean(axis=0)) - self.recent)
        self.rows += rows

    def joined(self, others: Iterable[tuple[int, list[float]]]) -> Drift:
        """Return the drift of these inputs and of others, (rows, mean of late) each, together."""
        out = Drift(self.names, self.mean, self.deviation)
        for rows, told in ((self.rows, self.recent.tolist()), *others):
            if rows and len(told) == len(self.names):
                share = min(rows, DRIFT_ROWS) / (min(out.rows, DRIFT_ROWS) + min(rows, DRIFT_ROWS))
                out.recent += share * (np.array(told) - out.recent)
                out.rows += rows
        return out

    def values(self) -> dict[str, float]:
        """Return (mean of late - mean of the training) / deviation of each column; nothing before the first row."""
        if not self.rows:
            return {}
        with np.errstate(all="ignore"):
            away = (self.recent - self.mean) / self.deviation
        return {name: float(value) for name, value in zip(self.names, away, strict=True) if math.isfinite(value)}


def drift_of(model: AnyModel) -> Drift | None:
    """Return what measures drift for a model that holds the moments of its rows, of not too many columns, or None."""
    sums = getattr(model, "_sums", None)
    if isinstance(sums, ClassMoments):
        sums = sums.total()
    if (
        not isinstance(sums, Moments)
        or sums.shape.features > MOST_DRIFT_COLUMNS
        or uses_basis(model)
        or not sums.weight
    ):
        return None
    names = columns_of(model)
    centred, count = sums.about_mean(), len(names)
    exponent = centred.exponent[:count].astype(np.int64)
    mean = centred.first_hi[:count] + centred.first_lo[:count]
    with np.errstate(all="ignore"):
        deviation = np.ldexp(np.sqrt(np.diag(centred.second)[:count] / centred.weight), exponent)
    return Drift(names, mean, deviation)


def head(name: str, kind: str, text: str) -> tuple[str, str]:
    """Return the lines ahead of a metric."""
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def metric_line(name: str, value: float, **labels: Any) -> str:
    """Return a line of a metric.

    Examples
    --------
    >>> from adaline.serve.metrics import metric_line
    >>> metric_line("rows_total", 3, model="mass")
    'rows_total{model="mass"} 3'
    """
    inside = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {prometheus_number(value)}"


def model_lines(models: Mapping[str, Any], drifts: Mapping[str, Drift]) -> Iterator[str]:
    """Yield metrics of the models of a service (`ServedModel`) and of their inputs, in the format of Prometheus."""
    found: dict[str, list[str]] = {name: [] for name in GAUGES}

    def add(name: str, value: float | None, **labels: str) -> None:
        if value is not None:
            found[name].append(metric_line(name, value, **labels))

    for name, served in models.items():
        current = served.current
        proof = getattr(current, "certificate_", None)
        add("adaline_rows_seen", served.rows_seen(current), model=name)
        add("adaline_certificate_digits", None if proof is None else proof.digits, model=name)
        if served.learner is not None:
            for rival, score in served.learner.scores().items():
                add("adaline_progressive_error", score.mean, model=name, version=rival)
                add("adaline_progressive_error_recent", score.recent, model=name, version=rival)
                if not math.isnan(score.loss):  # which some classifiers have none of
                    add("adaline_progressive_loss", score.loss, model=name, version=rival)
                    add("adaline_progressive_loss_recent", score.recent_loss, model=name, version=rival)
            add("adaline_waiting_rows", served.learner.waiting, model=name)
            add("adaline_journal_full", int(served.learner.full), model=name)
        for column, value in drifts[name].values().items() if name in drifts else ():
            add("adaline_input_drift", value, model=name, column=column)
    for name, lines in found.items():
        if lines:
            yield from head(name, "gauge", GAUGES[name])
            yield from lines


def prometheus_number(value: float) -> str:
    """Return a number as Prometheus reads it."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
