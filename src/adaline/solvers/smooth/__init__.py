"""Smooth objectives: Newton, L-BFGS, truncated and proximal Newton, and the gaps they prove."""
