"""Proof: inference from the sums of a fit."""
