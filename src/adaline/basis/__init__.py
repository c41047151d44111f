"""Bases: functions phi(x) of the columns, in which every system can be linear. BASES lists them by name."""

from adaline.basis.base import Basis
from adaline.basis.combined import After, Beside
from adaline.basis.custom import Custom
from adaline.basis.fourier import Fourier
from adaline.basis.polynomial import Polynomial
from adaline.basis.radial import Radial
from adaline.basis.spline import Spline

BASES: dict[str, type[Basis]] = {
    cls.__name__: cls for cls in (Polynomial, Spline, Fourier, Radial, Custom, Beside, After)
}

__all__ = ["BASES", "After", "Basis", "Beside", "Custom", "Fourier", "Polynomial", "Radial", "Spline"]
