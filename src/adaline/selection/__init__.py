"""Model selection: the error on new rows, by formula or by cross-validation, and its curves."""
