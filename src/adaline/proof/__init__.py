"""Proof: inference from the sums of a fit, and from its rows where they are given again."""

from adaline.proof.nested import Anova, anova

__all__ = ["Anova", "anova"]
