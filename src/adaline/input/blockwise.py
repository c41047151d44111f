"""Methods that return a value for each row, such as predict, block by block: for sources, and where rows are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from adaline.arrays import RowsLike, host, is_device, is_sparse
from adaline.block import Block
from adaline.errors import InvalidData, with_row
from adaline.fitted import AnySystem
from adaline.input.basis import basis_of, width_of
from adaline.input.coded import as_coded, coded, is_coded, offset_of
from adaline.input.drafts import snapshot
from adaline.input.open import array_source, read_offset, read_rows, refuse_nonfinite
from adaline.sources import Source, is_table
from adaline.sources.expanded import PIECE, piece_rows
from adaline.sources.runners import each_block

BY_ROW = ("offset", "exposure")  # arguments that have a value for each row
LARGE = 2**20  # numbers of X beyond which blocks on all threads are faster than all rows at once

KNOWN = ("",)  # stands for targets that are the known part of outputs, effects that were absorbed

Method = TypeVar("Method", bound=Callable[..., Any])


def by_blocks(method: Method) -> Method:
    """Let a method from rows (n, D) to values (n, ...) take a source: it is called for each block, in order.

    It sees a snapshot of the model.
    """
    quietly = np.errstate(all="ignore")(method)  # values that are not finite are refused by the method
    return _reading(method, quietly, quietly, snapshot)


def in_blocks(method: Method) -> Method:
    """Let a private method take a source, as `by_blocks` does, whose caller sees a snapshot of the model already."""
    return _reading(method, method, np.errstate(all="ignore")(method), lambda model: model)


def _reading(method: Method, at_once: Method, by_block: Method, seen: Callable[[Any], Any]) -> Method:
    """Return a method that calls `at_once` for rows in memory that are few, and `by_block` for each block of others."""
    own_arguments = signature(method)

    @wraps(method)
    def reading(self: Any, X: RowsLike, *args: Any, **kwargs: Any) -> Any:
        self = seen(self)
        if not isinstance(X, np.ndarray):
            column = column_of(self, method.__name__, (X, *args), kwargs)
            if column is not None:
                return column
        source = _source(self, X)
        if source is None:
            return at_once(self, X, *args, **kwargs)
        apart = source.runner.apart  # functions of rows travel to their parts
        own = partial(_named, method.__qualname__) if apart else by_block
        known: tuple[str, ...] = KNOWN if is_table(source) and source.targets.offset else ()
        if not known and "offset" in own_arguments.parameters:
            bound = own_arguments.bind(self, X, *args, **kwargs)
            source, known = _beside_offset(self, X, source, bound.arguments)
            args, kwargs = bound.args[2:], bound.kwargs
        values = partial(_values, self, own, known, args, kwargs)
        try:
            found = [value for values in each_block(source, values) for value in values]
        except ValueError:
            if not isinstance(X, Source):
                refuse_nonfinite(
                    self, read_rows(self, X)
                )  # which counts rows from the first one, not from that of the block
            raise
        return joined_values(found)

    reading.on_snapshot = True  # type: ignore[attr-defined]
    return cast(Method, reading)


def _beside_offset(
    system: AnySystem, X: RowsLike, source: Source, given: dict[str, Any]
) -> tuple[Source, tuple[str, ...]]:
    """Return rows with their offset as target, and its name; it is taken out of the arguments `given`."""
    offset = given.get("offset")
    if offset is None and getattr(system, "_with_offset", None):
        offset = offset_of(system, X)
    if offset is None or np.ndim(offset) == 0:
        return source, ()
    given.pop("offset", None)
    known = read_offset(offset, None, source.count_rows())
    assert known is not None
    return source.with_targets(known), ("offset",)


def _values(
    system: AnySystem, method: Any, by_row: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any], block: Block
) -> list[Any]:
    """Return method(rows) of the pieces of a block, whose targets are the arguments `by_row`; rows count from it."""
    out = []
    for piece in _pieces(system, block):
        known = piece.t if by_row == KNOWN else None
        rows = piece.x if is_device(piece.x) else as_coded(piece.x, known)
        own = {name: piece.t[:, k] for k, name in enumerate(by_row) if known is None}
        try:
            out.append(method(system, rows, *args, **kwargs, **own))
        except InvalidData as error:
            raise with_row(error, lambda row, first=piece.first_row: f"row {first + row}") from None  # type: ignore[misc]
    return out


def _named(name: str, system: AnySystem, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a system by its qualified name, such as "KMeans.predict"."""
    owner, _, own = name.rpartition(".")
    return getattr(next(cls for cls in type(system).__mro__ if cls.__qualname__ == owner), own)(system, *args, **kwargs)


def _called(name: str, system: AnySystem, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a system by its name: methods that only some models have cannot be sent to a worker."""
    return getattr(system, name)(*args, **kwargs)


def column_of(system: AnySystem, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a method's values for the rows of a table on an engine as a column of that; None for other rows.

    The rows are the first argument, or X: data of Dask, or a table. An offset and an exposure may be columns of the
    table, by their names; then the rows may be those of any table.
    """
    X = as_table(system, args[0] if args else kwargs.get("X"))
    if not is_table(X):
        return None
    given = dict(signature(getattr(type(system), name)).bind(system, *args, **kwargs).arguments)
    del given[next(iter(given))], given["X"]
    by_row = {key: given.pop(key) for key in BY_ROW if key in given and _is_by_row(given[key], X.rows.on_engine)}
    if not X.rows.on_engine and not by_row:
        return None
    source = coded(system, X, targets=False)
    assert is_table(source)
    offset = source.coding.offset
    known = any(one.get(key) is not None for one in (given, by_row) for key in BY_ROW)
    if getattr(system, "_with_offset", None) and offset is not None and not known and not source.coding.effects:
        given.pop("offset", None)
        by_row = {"offset": offset}
    if source.coding.effects and not by_row:
        source, function = source.known_parts(), partial(_column, system, name, KNOWN, given)
    else:
        source, function = source.beside(by_row), partial(_column, system, name, tuple(by_row), given)
    column = source.runner.column(source, function)
    return function(source) if column is None and by_row else column


def as_table(system: AnySystem, X: RowsLike) -> Any:
    """Return data of Dask as a table; an array where the names of the model are those of arrays; others as they are."""
    if type(X).__module__.partition(".")[0] != "dask" or getattr(X, "ndim", 2) != 2:
        return X
    names = getattr(system, "feature_names_in_", None)
    if hasattr(X, "chunks") and names is not None and [*names] != [f"x{j}" for j in range(len(names))]:
        return X
    from adaline.sources.tables.open_table import open_table  # tables are slow to import

    return open_table(X)


def _is_by_row(given: Any, on_engine: bool) -> bool:
    """Whether an argument is a column of a table, or one beside a table on an engine, and no number for all rows."""
    return isinstance(given, str) or (on_engine and given is not None and np.ndim(given) > 0)


def _column(system: AnySystem, name: str, by_row: tuple[str, ...], given: dict[str, Any], source: Source) -> Any:
    """Return a method's values for all rows of a source, those of some parts of a table."""
    values = partial(_values, system, partial(_called, name), by_row, (), given)
    return joined_values([value for some in each_block(source, values) for value in some])


def joined_values(found: list[Any]) -> Any:
    """Return the values of runs of rows, arrays or tuples of them, as those of all rows."""
    if isinstance(found[0], tuple):
        return type(found[0])(*(np.concatenate(part) for part in zip(*found, strict=True)))
    return np.concatenate(found)


def _source(system: AnySystem, X: RowsLike) -> Source | None:
    """Return the source of rows that are to be read block by block; None where they are taken at once."""
    if (type(X) is np.ndarray and X.size <= LARGE and basis_of(system) is None) or is_coded(X):
        return None
    if isinstance(X, Source):
        source = coded(system, X, targets=False)
        absorbed = is_table(source) and source.coding.effects
        return source.known_parts() if is_table(source) and absorbed else source
    if basis_of(system) is None and (not isinstance(X, np.ndarray) or X.size <= LARGE):
        return None
    x = read_rows(system, X)
    if x.shape[0] * width_of(system) <= PIECE:
        return None
    x = host(x) if is_device(x) else x
    return array_source(x)


def _pieces(system: AnySystem, block: Block) -> Iterator[Block]:
    """Return a block as it is; with a basis cut into pieces, dense, whose phi(x) is small."""
    if block.rows == 0:
        return
    if basis_of(system) is None:
        yield block
        return
    for piece in block.pieces(piece_rows(width_of(system)) * block.shape.features):
        yield replace(piece, x=piece.x.toarray()) if is_sparse(piece.x) else piece
