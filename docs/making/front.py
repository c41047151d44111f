"""The front page: a table that becomes a report, a certificate and a chart, all made when the site is built.

`index.md` holds a comment, such as `<!-- certificate -->`, where each of them goes. The report is what
`adaline compare` writes; the page shows it small, in a frame. The chart shows the figures of `benchmarks.md`; `make
recordings` writes it as `assets/least-squares.svg`, too, for the README.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DOCS = Path(__file__).parents[1]
BENCHMARKS = DOCS / "benchmarks.md"
SHAPE = "1000000 x 100"
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
CHART = DOCS / "assets" / "least-squares.svg"
WIDTH, BAR, LABELS, LONGEST = 640, 26, 210, 350  # of the chart: all of it, a row, the names, the longest bar
STYLE = """
svg{--i:#1b1e23;--s:#5b6470;--p:#fff;--a:#0072b2;--b:#a5adb8}
@media(prefers-color-scheme:dark){svg{--i:#e8eaed;--s:#a5adb8;--p:#1d2126;--a:#56b4e9;--b:#5b6470}}
text{fill:var(--i);font:14px sans-serif}.n{fill:var(--s)}.o{fill:var(--a)}.p{fill:var(--b)}.w{font-weight:bold}
"""

REPORT = """<a class="report" href="report.html" title="Open the report">\
<iframe src="report.html" title="The report" tabindex="-1" scrolling="no"></iframe></a>"""


def on_files(files: Any, config: Any) -> Any:
    """Add the report."""
    from mkdocs.structure.files import File

    from adaline import compare

    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        compare("penguins", target="body_mass_g").report(path)
        files.append(File.generated(config, "report.html", content=path.read_text(encoding="utf-8")))
    return files


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """Fill the front page."""
    if page.file.src_uri != "index.md":
        return text
    made = {"table": table, "report": lambda: REPORT, "certificate": certificate, "chart": chart}
    return re.sub(r"<!-- (\w+) -->", lambda found: made[found[1]](), text)


def table(rows: int = 8) -> str:
    """Return the first columns and rows of the bundled table, as they are in the file."""
    from adaline import datasets

    lines = datasets.path("penguins").read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines]
    columns = [cells[0].index(name) for name in ("species", "sex", "bill_depth_mm", "body_mass_g")]
    shown = [",".join(row[i] for i in columns) for row in [cells[0], *cells[1 : 40 * rows : 40]]]
    return "```text\n" + "\n".join(shown) + f"\n... {len(lines) - 1 - rows} more\n```"


def certificate() -> str:
    """Return what the certificate of a fit says, of a data set that few programs compute well."""
    from adaline import LinearRegression, datasets

    data = datasets.load("longley")
    proof = LinearRegression().fit(data.X, data.y).certificate_
    said = {
        "status": proof.status.value,
        "digits": f"{proof.digits:.1f}",
        "condition": f"{proof.condition:.0f}",
        "rank": f"{proof.rank} of {data.X.shape[1]}",
        "gap": f"{proof.gap:.0e}",
        "passes": proof.passes,
        "advice": proof.advice,
    }
    rows = "".join(f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in said.items())
    return f'<dl class="certificate">{rows}</dl>'


def chart() -> str:
    """Return bars of the seconds that programs take for one fit, the fastest first."""
    seconds = sorted(times(BENCHMARKS.read_text(encoding="utf-8"), SHAPE).items(), key=lambda pair: pair[1])
    slowest = seconds[-1][1]
    rows = [
        f"<dt>{name}</dt><dd{' class=ours' if name.startswith('adaline') else ''}>"
        f'<span style="width: {74 * value / slowest:.2f}%"></span>{value:.2g} s</dd>'
        for name, value in seconds
    ]
    return f'<dl class="chart">{"".join(rows)}</dl>'


def picture() -> str:
    """Return the chart as SVG."""
    seconds = sorted(times(BENCHMARKS.read_text(encoding="utf-8"), SHAPE).items(), key=lambda pair: pair[1])
    rows, columns = (f"{int(number):,}" for number in SHAPE.split(" x "))
    title = f"Least squares, {rows} rows x {columns} columns: seconds for one fit, 2 threads"
    height = BAR * (len(seconds) + 1) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{title}">\n<title>{title}</title>\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" rx="8" style="fill:var(--p)"/>\n'
        f'<text class="n" x="12" y="22">{title}</text>\n'
    ]
    for k, (name, value) in enumerate(seconds):
        length = max(2.0, LONGEST * value / seconds[-1][1])
        top, ours = BAR * (k + 1) + 6, name.startswith("adaline")
        parts.append(
            f'<text class="{"w" if ours else "t"}" x="{LABELS - 10}" y="{top + 15}" text-anchor="end">{name}</text>'
            f'<rect class="{"o" if ours else "p"}" x="{LABELS}" y="{top}" width="{length:.1f}" height="{BAR - 6}"/>'
            f'<text class="n" x="{LABELS + length + 6:.1f}" y="{top + 15}">{value:.3g} s</text>\n'
        )
    return "".join([*parts, "</svg>\n"])


def times(page: str, shape: str) -> dict[str, float]:
    """Return the seconds of each program for a shape of least squares, as the page of benchmarks states them.

    statsmodels has no fit without standard errors, so it stands beside ours with them.
    """
    section = page.split("\n## Least squares\n")[1].split(f"**{shape}**")[1].split("**")[0]
    rows = re.findall(r"^\| (\S.*?) +\| +([\d.]+) (us|ms|s) \|", section, re.MULTILINE)
    found = {name: float(number) * UNITS[unit] for name, number, unit in rows}
    return {name.replace(", standard errors", " + errors"): value for name, value in found.items()}


if __name__ == "__main__":
    CHART.write_text(picture(), encoding="utf-8")
