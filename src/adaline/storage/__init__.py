"""Storage: fitted systems as files. Model files keep every bit and run no code; ONNX is for other runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily

if TYPE_CHECKING:
    from adaline.storage.model_file import load, read_header, save
    from adaline.storage.onnx import export_onnx

__all__ = ["export_onnx", "load", "read_header", "save"]

__getattr__ = lazily(
    __name__,
    {
        "model_file": "load read_header save",
        "onnx": "export_onnx",
    },
)
