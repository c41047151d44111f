"""Storage: fitted systems as files. Model files keep every bit and run no code; ONNX is for other runtimes."""

from adaline.storage.model_file import load, read_header, save
from adaline.storage.onnx import export_onnx

__all__ = ["export_onnx", "load", "read_header", "save"]
