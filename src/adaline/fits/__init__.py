"""Fits: the drivers that pose a problem, choose a solver, certify the answer, and return it."""
