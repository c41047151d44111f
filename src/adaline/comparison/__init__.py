"""Comparison: every system that suits a target, side by side, and what a user should know about the data."""
