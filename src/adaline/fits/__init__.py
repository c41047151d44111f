"""Fits: the drivers that start, have a problem solved, certify the answer, and return it."""
