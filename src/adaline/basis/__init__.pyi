from adaline.basis.base import After as After
from adaline.basis.base import Basis as Basis
from adaline.basis.base import Beside as Beside
from adaline.basis.custom import Custom as Custom
from adaline.basis.fourier import Fourier as Fourier
from adaline.basis.polynomial import Polynomial as Polynomial
from adaline.basis.radial import Radial as Radial
from adaline.basis.spline import Spline as Spline
from adaline.lazy import Registry

BASES: Registry
