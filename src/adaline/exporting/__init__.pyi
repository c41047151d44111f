from adaline.exporting.export import export as export
from adaline.exporting.prediction import Prediction as Prediction
from adaline.exporting.prediction import expression as expression
