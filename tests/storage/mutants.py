"""Model files with something wrong: bytes altered, or fields altered and the checksums made good again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from adaline.storage import container

Random = np.random.Generator

VALUES: list[Any] = [
    *(None, True, 0, -1, 3, 2**70, 1e300, "", "os.system", "builtins.eval", "__class__", [], {}, [1, 2]),
    {"tensor": "coef_"},
    {"tensor": "nothing"},
    {"tensor": {"name": "coef_", "axes": [2, 2], "gaps": False}},
    {"same": 0},
    {"same": 10**6},
    {"float": "nan"},
    {"float": "1e5"},
    {"tuple": [1, 2]},
    {"dict": [[[1], 2]]},
    {"dict": 3},
    {"scalar": ["float64", "x"]},
    {"scalar": ["object", 1]},
    {"array": {"dtype": "<U9999999", "shape": [2], "values": ["a", "b"]}},
    {"array": {"dtype": "object", "shape": [10**9, 10**9], "values": []}},
    {"array": {"dtype": "float64", "shape": [2], "values": [1.0, "a"]}},
    {"array": {"dtype": "datetime64[evil]", "shape": [1], "values": [1]}},
    {"Status": "DROP"},
    {"Moments": {"shape": {"Shape": {"features": 2, "targets": 1}}, "buffer": {"tensor": "coef_"}}},
    {"Moments": {}},
    {"ClassMoments": {"parts": []}},
    {"os.system": "true"},
    {"__reduce__": ["os.system", ["true"]]},
]


def altered_bytes(rng: Random, content: bytes) -> bytes:
    """Return the file with bits flipped, bytes deleted, inserted or repeated, cut short, or its length altered."""
    data = bytearray(content)
    header = 8 + int.from_bytes(content[:8], "little")
    place = int(rng.integers(header if rng.random() < 0.6 else len(data)))
    match int(rng.integers(9)):
        case 0 | 1:
            for at in [place, *rng.integers(len(data), size=int(rng.integers(3)))]:
                data[at] ^= 1 << int(rng.integers(8))
        case 2:
            del data[place : place + int(rng.integers(1, 40))]
        case 3:
            data[place:place] = rng.bytes(int(rng.integers(1, 40)))
        case 4:
            data[place:place] = data[place : place + int(rng.integers(1, 200))]
        case 5:
            data = data[:place]
        case 6:
            data[:8] = _length(rng, header, place)
        case 7:
            data[place] = int(rng.choice(list(b'{}[]",:\\ 0e-.')))
        case 8:
            data += rng.bytes(int(rng.integers(1, 40)))
    return bytes(data)


def _length(rng: Random, header: int, place: int) -> bytes:
    lengths = [0, 1, 2, 2**31, 2**63 - 1, 2**64 - 1, 99_999_999, header, header - 9, place]
    return lengths[int(rng.integers(len(lengths)))].to_bytes(8, "little")


def spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Give every container in a tree with each of its keys."""
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        yield tree, key
        if isinstance(value, dict | list):
            yield from spots(value)


def altered_fields(rng: Random, head: dict[str, Any], tensors: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and tensors with fields replaced, swapped, renamed, dropped, tensors of other types and shapes."""
    head, tensors = copy.deepcopy(head), dict(tensors)
    for _ in range(int(rng.integers(1, 3))):
        places = list(spots(head))
        inside, key = places[int(rng.integers(len(places)))]
        where, other = places[int(rng.integers(len(places)))]
        match int(rng.integers(6)):
            case 0 | 1:
                inside[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
            case 2:
                inside[key], where[other] = copy.deepcopy(where[other]), copy.deepcopy(inside[key])
            case 3:
                del inside[key]
            case 4 if isinstance(inside, dict):
                inside[str(rng.choice(["predict", "__class__", "__init__", "x", "fit", "Fit", "tensor"]))] = inside.pop(
                    key
                )
            case _:
                name = str(rng.choice(sorted(tensors)))
                array = tensors[name]
                tensors[name] = [
                    np.clip(array, -9, 9).astype(np.float32),
                    np.nan_to_num(np.clip(array, -9, 9)).astype(np.int8),
                    array.ravel()[:-1].copy(),
                    array[None],
                    np.full(array.shape, np.nan),
                    np.zeros((0, 3)),
                ][int(rng.integers(6))]
    return head, tensors


def nested(depth: int) -> bytes:
    """Return a container whose header is a deep nest of lists."""
    text = json.dumps({"__metadata__": {container.KEY: "[" * depth + "]" * depth}}).encode()
    return len(text).to_bytes(8, "little") + text
