"""Sums over rows: monoids that run on blocks in threads, out of core or on a device, and merge."""

from adaline.sums.base import Sum
from adaline.sums.leave_one_out import LeaveOneOut, Ridges
from adaline.sums.moments import Moments
from adaline.sums.residual import Residual, Theta
from adaline.sums.triangle import Triangle

SUMS: dict[str, type[Sum]] = {cls.__name__: cls for cls in (Moments, Triangle, Residual, LeaveOneOut)}

__all__ = ["SUMS", "LeaveOneOut", "Moments", "Residual", "Ridges", "Sum", "Theta", "Triangle"]
