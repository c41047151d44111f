"""Smooths: curves and surfaces with quadratic penalties on their wiggliness, as in generalized additive models.

A smooth is f(x) = sum_k beta_k b_k(x), with penalties beta' S_j beta that a fit weights by ratios of variances.
Functions of one column are cubic regression splines (`CubicSpline`), cyclic ones (`CyclicSpline`), P-splines
(`PenalizedSpline`) and thin plate splines (`ThinPlate`, of several columns too); `TensorProduct` multiplies them, with
one penalty a margin. Columns, knots and constraints are those of R's mgcv, so that restricted likelihoods agree
to rounding.

All penalties of a smooth become diagonal in coordinates that `diagonal_form` finds once, whatever the ratios:
eigenvectors of S under the constraint where there is one penalty, products of the margins' eigenvectors where there
are several.
Log-determinants of penalties and their derivatives are then sums over numbers, without the loss of digits that
matrices of very different ratios bring.

References: S. Wood, Generalized Additive Models (2nd ed., 2017), sections 5.3 to 5.6.
"""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
