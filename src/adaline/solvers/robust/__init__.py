"""Robust criteria: M-estimates with their scale, and quantiles by linear programs."""
