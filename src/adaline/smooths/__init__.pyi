from adaline.smooths.cubic import CubicSpline as CubicSpline
from adaline.smooths.cubic import CyclicSpline as CyclicSpline
from adaline.smooths.diagonal import DiagonalForm as DiagonalForm
from adaline.smooths.diagonal import diagonal_form as diagonal_form
from adaline.smooths.penalized import PenalizedSpline as PenalizedSpline
from adaline.smooths.smooth import Smooth as Smooth
from adaline.smooths.tensor import TensorProduct as TensorProduct
from adaline.smooths.thin_plate import ThinPlate as ThinPlate
