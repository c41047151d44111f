"""`open_table`: a table of any kind as a source of rows."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from adaline.arrays import AnyArray, DataLike, GroupsLike, refuse_masked
from adaline.coding.coding import MissingPolicy, UnseenPolicy
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources.array import ArraySource, read_weights
from adaline.sources.base import Source
from adaline.sources.engine import Engine
from adaline.sources.runners import HERE, SentToDevice
from adaline.sources.streamed import read_device
from adaline.sources.tables.altered import with_dates, with_texts
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.parts import FileParts, TableParts
from adaline.sources.tables.pipes import is_pipe, open_pipe
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.sparse_files import open_sparse, refuse_options, sparse_suffix
from adaline.sources.tables.spec import SingletonRows, TableSpec, read_spec
from adaline.sources.targets import RowTargets

ENGINES = {"dask": "dask", "distributed": "dask", "pyspark": "spark"}
"""Modules of engines, by the package of a data frame or a client."""
SPARK = ("spark://", "local[", "yarn")
"""How addresses of clusters of Spark begin; others are of Dask."""
ADDRESS = re.compile(r"://|:\d+$|^local\[|^yarn$")


def open_table(
    data: DataLike,
    *,
    target: Any = None,
    features: Any = None,
    weight: str | None = None,
    offset: str | None = None,
    categories: Any = None,
    hashed: Any = None,
    words: Any = None,
    dates: Any = None,
    missing: MissingPolicy = "error",
    unseen: UnseenPolicy = "error",
    formula: str | None = None,
    absorb: Any = None,
    singletons: SingletonRows = "keep",
    table: str | None = None,
    sheet: str | int | None = None,
    decimal: str | None = None,
    na: Any = (),
    encoding: str | None = None,
    progress: bool | None = None,
    cluster: GroupsLike = None,
    device: Any = None,
) -> Source:
    """Open a table of any size to fit systems to: rows are streamed, small tables held in memory.

    Numbers are taken as they are, booleans as 0 and 1, texts with few different values and declared categories by
    reference coding: a column for each level but the first, named "carrier[T.UA]". The coding is stored with the model
    and used again for prediction. Columns of prose, dates and other types are refused by name. Where there are more
    than 500 columns of X and at most an eighth of their numbers differ from zero, rows are sparse (CSR).

    Parameters
    ----------
    data : path, glob, folder, list of paths, SQL query, frame, dictionary of columns, array, or data of Dask or Spark
        CSV, TSV, JSON lines (also compressed), Parquet, Arrow, a spreadsheet, a file of Stata, SPSS or SAS, a DuckDB or
        SQLite file, "-" for standard input (told by its content, kept in a temporary file, as named pipes are), "SELECT
        ...", a pandas, polars or Arrow frame, or the name of a bundled data set. Empty fields, NA, NaN, NULL, ? and the
        like are missing values of text files. Titles, units, totals, row numbers, encodings and numbers in local
        notation are recognised; `notes` of what is returned says so. A query is one SELECT and reads the files that it
        names as tables, as in "FROM 'rows.csv'", and no others; a query or a view of a database reads nothing but that
        database. Files of sparse rows, LIBSVM (.libsvm, .svm, .svmlight) and Vowpal Wabbit (.vw), bring their own
        target and weights. Of a NumPy array (n, D), target is an array (n,) or (n, K) of numbers, and weight one
        (n,).
    target : name, list of names, or None
        What to predict; numbers for regression (several for several targets), anything for classification. None to
        predict only.
    features : list of names or None
        Columns to learn from; None: all but target, weight and offset.
    weight : name or None
        Column of weights.
    offset : name, expression, or None
        A known part of the output of each row, for GeneralizedLinear: a column, or an expression such as "log(days)".
    categories : list of names, or dictionary from names to levels
        Columns to code by levels whatever they hold, 2^20 at most. Levels given, the first is the reference; other ones
        are refused.
    hashed : list of names, or dictionary from names to widths
        Columns of ids, of any number of levels, none of which is learned: each value becomes 1 or -1 in one of `width`
        columns (a power of two, 2^18 in a list), chosen by a hash of it. A product with one, in a formula, is hashed
        too. Of a VW file, the number of columns that all of its names are hashed to, 2^18 without it.
    words : list of names, or dictionary from names to options
        Columns of texts whose words are counted: two or more letters, digits or underscores, in lower case. Options, a
        dictionary or the weighting alone: weighting ("counts", "binary", "tfidf"), ngrams (neighbours that make a
        word), least (rows that a word must be in), width (to hash words to; 0: a column for each).
    dates : list of names
        Date and time columns to use as numbers, days since 1970.
    missing : "error", "drop", "mean" or "indicator"
        What to do about missing values: refuse them, leave such rows out, fill in the mean (of categories: the shares
        of the levels), or fill in the mean and say so in a column of its own (of categories: a level of its own).
        Rows without a target are left out except under "error".
    unseen : "error" or "other"
        What to do in prediction about a level that is not in this table: refuse it, or code it as an average one.
    formula : text or None
        Instead of target and features, as in "y ~ x1 + C(x2) + x1:x3" or "log(y) ~ x1 * ns(x2, df=4) + I(x3^2)", as R
        writes it: poly, bs, ns, scale, cut, lag, contrasts, offset(log(t)), cbind(won, lost). Booleans are categories
        of two levels in it, named as in "ok[T.True]". Nothing in it is executed.
    absorb : list of names, or None
        Columns of any number of levels whose effects are absorbed (fixed effects): LinearRegression, Ridge and
        ElasticNet at a given penalty, and GeneralizedLinear(loss="poisson") fit the other columns as if there were a
        column for every level, without a penalty. In a formula they stand after a bar: "y ~ x1 + x2 | firm + year".
    singletons : "keep" or "drop"
        Whether rows that are the only one of a level of an absorbed column take part. They say nothing about
        coefficients, but count in degrees of freedom; to drop some may make others single, which then go too.
    table : name or query
        Which table of a database; needed where it holds several.
    sheet : name or number
        Which sheet of a spreadsheet, 1 for the first; without it, the first that holds a table.
    decimal : "," or "."
        The decimal sign of numbers in text files, where it cannot be told from them.
    na : word or list of words
        What stands for a missing value in any column, besides the usual words. With "" among them only these words and
        empty fields do, so that NA or None may be a level of a category.
    encoding : name
        The encoding of text files; without it UTF-8, or else what the file looks like.
    progress : bool or None
        Whether long reads show rows, speed and time left on stderr; None: where that is a terminal.
    cluster : Client of dask.distributed, SparkSession, or the address of a scheduler such as "spark://host:7077"
        Where Parquet files, or files of text, are read and summed: every worker must see them under the same names. A
        data frame or array of Dask, and a data frame of Spark, is on the cluster that it was made for. Fits are those
        of one machine, to the bit.
    device : "cuda", "cuda:1" ... or None
        The device that dense rows are sent to, block by block, to be summed there: each is copied while the one before
        is summed, and rows may be more than the device has memory for. It needs adaline-learn[gpu]. Coefficients and
        what is predicted are on the host, as the rows are.

    Examples
    --------
    >>> from adaline import LinearRegression, open_table
    >>> penguins = open_table("penguins", target="body_mass_g")
    >>> model = LinearRegression().fit(penguins)
    >>> model.feature_names_in_[:3].tolist()
    ['species[T.Chinstrap]', 'species[T.Gentoo]', 'island[T.Dream]']
    >>> round(model.score(penguins), 3)
    0.877

    References
    ----------
    Lecture S1: attributes that are not numbers. One pass for levels and means where there are any, then as many as the
    system takes.
    """
    place = None if device is None else read_device(device)
    reading = FileOptions.of(table, sheet, decimal, na, encoding)
    if isinstance(data, np.ndarray):
        options = {"features": features, "offset": offset, "categories": categories, "hashed": hashed, "words": words}
        options |= {"dates": dates, "formula": formula, "absorb": absorb, "cluster": cluster}
        return open_array(data, target, weight, place, options | reading.given())
    data = open_pipe(data) if isinstance(data, str) and is_pipe(data) else data
    if sparse_suffix(data) is not None:
        if place is not None:
            raise InvalidParameter("a file of sparse rows is summed on the host: leave device= out")
        refuse_options(target=target, features=features, weight=weight, offset=offset, categories=categories)
        refuse_options(words=words, dates=dates, formula=formula, absorb=absorb, **reading.given(), cluster=cluster)
        refuse_options(singletons=None if singletons == "keep" else singletons)
        return open_sparse(data, hashed=hashed, unseen=unseen, progress=progress)
    relation, parts, target = open_relation(data, reading, cluster, target)
    if place is not None and parts is not None:
        raise InvalidParameter("rows on a cluster are summed there: leave device= out")
    spec = TableSpec.of(
        target=target,
        features=features,
        weight=weight,
        offset=offset,
        categories=categories,
        hashed=hashed,
        words=words,
        dates=dates,
        missing=missing,
        unseen=unseen,
        formula=formula,
        absorb=absorb,
        singletons=singletons,
    )
    relation = with_texts(relation, spec.whole)  # as they are written in files of text
    relation = with_dates(relation, spec.dates) if parts is None else relation
    parts = None if parts is None else parts.of(relation)
    here = HERE if place is None else SentToDevice(place)
    source = TableSource(TableRows(relation, parts, progress, here), read_spec(relation, spec))
    if not spec.targets and formula is None:
        return source  # rows to predict, or to cluster: a fitted model has its own coding
    return source.keep()


def open_array(x: AnyArray, target: Any, weight: AnyArray, device: Any, options: dict[str, Any]) -> Source:
    """Return the source of an array x (n, D) with targets (n,) or (n, K), or None, and weights (n,), or None."""
    for name, value in options.items():
        if value is not None:
            raise InvalidParameter(f"{name}= is for tables, whose columns have names: leave it out for an array")
    if x.ndim != 2 or 0 in x.shape or x.dtype.kind not in "iubf":
        raise InvalidData(f"an array of rows is (n, D), of numbers, and not {x.dtype} of shape {x.shape}")
    refuse_masked(x, "data")
    refuse_masked(target, "target")
    given = {"target": target, "weight": weight}
    for name, values in given.items():
        if values is not None and (not isinstance(values, np.ndarray) or values.dtype.kind not in "iubf"):
            raise InvalidParameter(f"{name} of an array is an array of numbers, one for each row")
        if values is not None and (len(values) != len(x) or values.ndim > (2 if name == "target" else 1)):
            raise InvalidData(f"{name} has shape {values.shape}, and the rows are {len(x)}")
    weight = None if weight is None else read_weights(weight, len(x), "weight")
    if target is None:
        return ArraySource(x, np.empty((len(x), 0)), weight, device=device)
    t = np.ascontiguousarray(target, dtype=np.float64).reshape(len(x), -1)
    targets = replace(RowTargets.held(t, weight), flat=target.ndim == 1, labels=target.dtype)
    return ArraySource(x, t, device=device).retargeted(targets)


def open_relation(
    data: DataLike, reading: FileOptions, cluster: GroupsLike = None, target: Any = None
) -> tuple[Relation, TableParts | None, Any]:
    """Return a table, its parts where it is on a cluster, and its target: an array of Dask becomes a column."""
    if _package(data) in ENGINES:
        found: tuple[Relation, TableParts, Any] = _engine(data).open_frame(data, cluster, target)
        return found
    relation = Relation(data, reading)
    return relation, None if cluster is None else FileParts(choose_engine(cluster), relation), target


def choose_engine(cluster: GroupsLike) -> Engine:
    """Return the engine of a cluster: a client of Dask, a session of Spark, an address, or an engine itself."""
    if isinstance(cluster, Engine):
        return cluster
    if not is_address(cluster) and _package(cluster) not in ENGINES:
        raise InvalidParameter(
            "cluster is a Client of dask.distributed, a SparkSession, or an address such as 'tcp://host:8786' or "
            f"'spark://host:7077', not {repr(cluster) if isinstance(cluster, str) else type(cluster).__name__}"
        )
    found: Engine = _engine(cluster).engine_of(cluster)
    return found


def is_address(cluster: GroupsLike) -> bool:
    """Whether a text is the address of a cluster, and no name of a column.

    Examples
    --------
    >>> from adaline.sources.tables.open_table import is_address
    >>> [is_address(one) for one in ("tcp://host:8786", "local[2]", "region")]
    [True, True, False]
    """
    return isinstance(cluster, str) and ADDRESS.search(cluster) is not None


def _engine(given: Any) -> Any:
    """Return the module of the engine that a data frame, a client or an address is of."""
    name = ("spark" if given.startswith(SPARK) else "dask") if isinstance(given, str) else ENGINES[_package(given)]
    return import_module(f"adaline.sources.engines.{name}")


def _package(given: Any) -> str:
    """Return the name of the package that the type of an object is from."""
    return type(given).__module__.partition(".")[0]
