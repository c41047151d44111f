"""Solvers: they ask a source for sums and do small dense algebra in between; they never see a row."""
