"""Separation: can a hyperplane tell the classes apart? Decided, with a proof either way."""
