"""Least squares from sums: direct, refined, wide, by descent."""
