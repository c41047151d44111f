"""A board from a user's table: two of its columns, or the directions that explain most of the target.

Columns are centred and divided by their standard deviation, and what is shown of them is scaled to the board.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array, DataLike, as_dense
from adaline.comparison.open_data import DataRequest, open_data
from adaline.errors import InvalidData
from adaline.playground.boards import BOARD_CLASSES
from adaline.playground.traces import quiet
from adaline.systems import FisherDiscriminant, LinearRegression

MOST_TABLE_ROWS = 2000  # rows on the board; of longer tables, evenly spaced ones
MOST_AXES = 40  # columns offered as axes; doubling it makes the message larger
WIDTH, HEIGHT = 3.4, 2.5  # coordinates of the farthest points


def board_of_table(data: DataLike, target: str | None) -> dict[str, Any]:
    """Return the board of a table: a task, labels or numbers of its rows, and the axes that it can be looked at by.

    The first two axes are what the page opens with: of labels Fisher's first two directions, or his one and the widest
    one across it; of numbers the direction of the least-squares fit. The others are principal directions and columns.

    Examples
    --------
    >>> from adaline.playground.table import board_of_table
    >>> board = board_of_table("penguins", "species")
    >>> board["task"], board["classes"], [axis["name"] for axis in board["axes"][:2]]
    ('classes', ['Adelie', 'Chinstrap', 'Gentoo'], ['Fisher direction 1', 'Fisher direction 2'])
    """
    opened = open_data(DataRequest.of(data, target=target, missing="drop"))
    source = opened.source
    classes = source.find_labels() if opened.labels else None
    rows = source if classes is None else source.encoded(classes)
    parts = list(rows.blocks())
    x = np.concatenate([np.asarray(as_dense(one.x), dtype=np.float64) for one in parts])
    t = np.concatenate([np.asarray(one.t, dtype=np.float64).reshape(len(one.x), -1)[:, 0] for one in parts])
    notes = list(opened.notes)
    if classes is None and _are_codes(codes := np.unique(t)):
        classes, t = codes.astype(int), np.searchsorted(codes, t).astype(np.float64)
    if classes is not None:
        counts = np.bincount(t.astype(int), minlength=len(classes))
        kept = np.sort(np.argsort(-counts, kind="stable")[:BOARD_CLASSES])
        if len(kept) < len(classes):
            notes.append(f"the board has the {BOARD_CLASSES} largest of {len(classes)} classes")
        chosen = np.isin(t, kept)
        x, t, classes = x[chosen], np.searchsorted(kept, t[chosen]).astype(np.float64), classes[kept]
    if len(x) > MOST_TABLE_ROWS:
        notes.append(f"the board has {MOST_TABLE_ROWS:,} of {len(x):,} rows, evenly spaced")
        places = np.linspace(0, len(x) - 1, MOST_TABLE_ROWS).round().astype(int)
        x, t = x[places], t[places]
    if len(x) < 2:
        raise InvalidData("the table has fewer than two rows without missing values")
    spread = x.std(axis=0)
    varying = spread > 0
    names = [str(name) for name, one in zip(source.names, varying, strict=True) if one]
    z = (x[:, varying] - x[:, varying].mean(axis=0)) / spread[varying]
    if not names:
        raise InvalidData("no column of the table varies")
    axes = _directions(z, t, classes is not None) + list(zip(names, z.T, strict=True))
    extent = WIDTH if classes is None else HEIGHT
    return {
        "task": "numbers" if classes is None else "classes",
        "title": opened.request.title,
        "target": opened.target,
        "classes": None if classes is None else [str(one) for one in classes],
        "labels": None if classes is None else [int(one) for one in t],
        "values": None if classes is not None else _scaled(t, HEIGHT),
        "axes": [{"name": name, "values": _scaled(values, extent)} for name, values in axes[:MOST_AXES]],
        "notes": notes,
    }


def _are_codes(values: Array) -> bool:
    """Whether the values of a target are codes of classes: 0, 1, 2 or 1, 2, 3, of as many classes as a board has."""
    count = len(values)
    return 1 < count <= BOARD_CLASSES and values[0] in (0, 1) and bool((values == values[0] + np.arange(count)).all())


def _directions(z: Array, t: Array, labels: bool) -> list[tuple[str, Array]]:
    """Return the directions that explain most of the target, then the principal ones, each with the rows' places."""
    out: list[tuple[str, Array]] = []
    with quiet():
        if labels and len(np.unique(t)) > 1 and z.shape[1] > 1:
            found = np.asarray(FisherDiscriminant().fit(z, t.astype(int)).transform(z))
            out += [(f"Fisher direction {k + 1}", found[:, k]) for k in range(min(found.shape[1], 2))]
        if not labels and z.shape[1] > 1:
            out.append(("least-squares direction", np.asarray(LinearRegression().fit(z, t).predict(z))))
    if z.shape[1] > 1:
        rest = z
        if len(out) == 1 and labels:  # what is left across Fisher's one direction
            f = out[0][1] - out[0][1].mean()
            rest = z - np.outer(f, f @ z) / max(float(f @ f), 1e-300)
        _, _, basis = np.linalg.svd(rest, full_matrices=False)
        out += [(f"principal direction {k + 1}", rest @ basis[k]) for k in range(min(len(basis), 2))]
    return out


def _scaled(values: Array, extent: float) -> list[float]:
    """Return values about their middle, the farthest at `extent`."""
    middle = (values.max() + values.min()) / 2
    half = (values.max() - values.min()) / 2
    return [round(float(one), 3) for one in (values - middle) * (extent / half if half > 0 else 1.0)]
