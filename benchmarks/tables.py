"""Tables that do not fit in memory: a fit beside DuckDB's own sum of every column, and the memory it takes.

`python -m benchmarks.tables SYSTEM FILES TARGET THREADS` prints the peak of a process that fits one system, in bytes.
A full run writes 12 GB to a temporary folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.memory import peak
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import limit_threads, race

FEATURES, TARGETS = 18, {"LinearRegression": "y", "Ridge": "y", "GaussianClassifier": "g"}
SCAN = "DuckDB, sum of every column"


@benchmark("tables")
def tables(settings: Settings) -> Section:
    """Closed forms from Parquet and CSV."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.execute(f"SET threads TO {settings.threads}")
        parquet, csv = _write(connection, Path(folder), settings.rows(60_000_000), settings.rows(5_700_000))
        out = [
            _table(connection, "Parquet", parquet, f"read_parquet('{parquet}')", settings),
            _table(connection, "CSV", csv, f"read_csv('{csv}')", settings),
        ]
    return Section("Tables larger than memory", _TEXT, out)


def fit(name: str, files: str) -> Any:
    """Open a table and fit a system to it."""
    import adaline

    return getattr(adaline, name)().fit(adaline.open_table(files, target=TARGETS[name], progress=False))


def _table(connection: Any, kind: str, files: str, table: str, settings: Settings) -> Table:
    columns = [*(f"x{j}" for j in range(FEATURES)), "y", "g"]
    totals = ", ".join(f"sum({name})" for name in columns)
    contenders: dict[str, Callable[[], Any]] = {
        SCAN: lambda: connection.execute(f"SELECT {totals}, count(*) FROM {table}").fetchone()
    }
    contenders |= {name: lambda name=name: fit(name, files) for name in TARGETS}
    found = race(contenders, rounds=5)
    scan = found[SCAN]
    rows = [[SCAN, seconds(scan.seconds), "1", "", ""]]
    for name in TARGETS:
        command = [sys.executable, "-m", "benchmarks.tables", name, files, str(settings.threads)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        proof = found[name].result.certificate_
        time = found[name].seconds
        rows.append(
            [
                f"adaline {name}",
                seconds(time),
                ratio(time / scan.seconds),
                f"{int(output.split()[-1]) / 1e6:.0f} MB",
                f"{proof.digits:.1f}",
            ]
        )
    size = sum(path.stat().st_size for path in _files(files)) / 1e9
    heading = ["", "time", "times the scan", "peak of the process", "digits certified"]
    return Table(f"{kind}: {scan.result[-1]} rows, 20 columns, {size:.1f} GB", heading, rows)


def _files(pattern: str) -> list[Path]:
    path = Path(pattern)
    return sorted(path.parent.glob(path.name))


def _write(connection: Any, folder: Path, rows: int, text_rows: int) -> tuple[str, str]:
    """Write six Parquet files of random columns, with a target and a class, and one CSV of some of the rows."""
    columns = ", ".join(f"random() * {j + 1} + {j} AS x{j}" for j in range(FEATURES))
    target = " + ".join(f"{0.1 * j:.1f} * x{j}" for j in range(FEATURES))
    for i in range(6):
        made = f"SELECT {columns}, floor(random() * 4) AS g FROM range({rows // 6})"
        query = f"SELECT * EXCLUDE g, 1 + {target} + g + random() AS y, g FROM ({made})"
        connection.execute(f"COPY ({query}) TO '{folder}/part-{i}.parquet' (FORMAT parquet)")
    parquet, csv = f"{folder}/part-*.parquet", f"{folder}/rows.csv"
    connection.execute(f"COPY (SELECT * FROM read_parquet('{parquet}') LIMIT {text_rows}) TO '{csv}' (HEADER)")
    return parquet, csv


_TEXT = """
`adaline.NAME().fit(adaline.open_table(files, target=...))`, opening included, beside `SELECT sum(x0), sum(x1), ...` by
DuckDB over the same files. The peak is that of a process that does nothing else, libraries included. Files are in the
page cache, as they were read before.
"""

if __name__ == "__main__":
    limit_threads(int(sys.argv[3]))
    fit(sys.argv[1], sys.argv[2])
    print(peak())
