"""Separation: can a hyperplane separate the classes? Decided, with a proof either way."""
