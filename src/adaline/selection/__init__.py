"""Choosing the richness of a family: error on new rows, by formula or by folds, and its curves."""
