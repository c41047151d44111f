"""Additive models: terms with quadratic penalties, whose strengths are chosen by the restricted likelihood (REML).

A model y = X beta + error, var(error) = phi, has blocks of coefficients with penalties beta' P(theta) beta / 2:
smooths, and random effects, for which P/phi is the inverse of their covariance. Everything is computed from second
moments: X'X, X'y and y'y of one pass.

    penalties    P(theta) with its derivatives: ratios of smooths, covariances of random effects
    criteria     REML, ML and GCV with their gradients and Hessians in theta, from a Cholesky factor of X'X + P
    ratios       Newton's method for theta, with the ratios at infinity (a variance of zero) noticed
"""
