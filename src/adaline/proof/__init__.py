"""Proof: inference from the sums of a fit, and from its rows where they are given again."""

from adaline.proof.deviance import Deviances, LikelihoodRatio, likelihood_ratio
from adaline.proof.nested import Anova, anova

__all__ = ["Anova", "Deviances", "LikelihoodRatio", "anova", "likelihood_ratio"]
