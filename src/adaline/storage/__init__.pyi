from adaline.exporting.onnx import export_onnx as export_onnx
from adaline.storage.model_file import load as load
from adaline.storage.model_file import read_header as read_header
from adaline.storage.model_file import save as save
