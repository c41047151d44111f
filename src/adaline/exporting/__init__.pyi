from adaline.exporting.export import export as export
from adaline.exporting.model_card import card as card
from adaline.exporting.onnx import export_onnx as export_onnx
from adaline.exporting.prediction import Prediction as Prediction
from adaline.exporting.prediction import expression as expression
from adaline.exporting.sklearn_estimators import to_sklearn as to_sklearn
from adaline.exporting.sklearn_models import from_sklearn as from_sklearn
