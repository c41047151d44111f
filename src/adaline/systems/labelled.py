"""Rows with labels, from arrays, frames or tables: the classes first, then the places of the labels among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from adaline.errors import InvalidData
from adaline.namespaces import beside, is_device
from adaline.sources import Source, TableSource
from adaline.sources.targets import Codebook
from adaline.systems.expanding import learn_basis, seen
from adaline.systems.labels import Labels, encode, read_labels
from adaline.systems.reading import given_names, open_given, read_rows, read_weights, source_of, unlabelled_source


class Labelled(NamedTuple):
    """Rows with labels.

    guess : returns the classes, or those of some rows where finding all costs a read of all.
    all_classes : returns the classes.
    encoded : the source of the rows, through the system's basis, with the places of their labels among classes given.
    numbered : the source of rows whose labels are numbered as they are met, and the book that one read fills; None
        where the classes are known without a read.
    """

    guess: Callable[[], Labels]
    all_classes: Callable[[], Labels]
    encoded: Callable[[Labels], Source]
    numbered: Callable[[], tuple[Source, Codebook]] | None = None


def open_labelled(system: Any, x: Any, y: Any, sample_weight: Any, *, reset: bool) -> Labelled:
    """Return the classes that rows have, and their source once it is known which classes there are in all."""
    if isinstance(x, Source):
        source = open_given(system, x, y, sample_weight, reset=reset)
        if reset:
            learn_basis(system, source)

        def numbered() -> tuple[Source, Codebook]:
            assert isinstance(source, TableSource)
            rows, book = source.numbered()
            return seen(system, rows), book

        unknown = isinstance(source, TableSource) and source.streamed and not source.knows_labels
        return Labelled(
            lambda: source.find_labels(guess=True),
            source.find_labels,
            lambda classes: seen(system, source.encoded(classes)),
            numbered if unknown else None,
        )
    rows = read_rows(system, x, reset=reset)
    if reset:
        learn_basis(system, unlabelled_source(system, rows, sample_weight))
    labels: Labels = read_labels(y)
    if labels.shape[0] != rows.shape[0]:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {rows.shape[0]}, "
            f"y has {labels.shape[0]}"
        )
    found, codes = encode(labels, None)

    def encoded(classes: Labels) -> Source:
        places = codes if classes is found else encode(labels, classes)[1]
        return seen(system, coded_source(system, rows, places, sample_weight))

    return Labelled(lambda: found, lambda: found, encoded)


def coded_source(system: Any, rows: Any, codes: Any, sample_weight: Any) -> Source:
    """Return the source of rows whose targets are the places of their labels."""
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    targets = beside(codes, codes) if is_device(codes) else codes.astype(float)
    return source_of(rows, targets[:, None], weight, given_names(system))
