"""The targets; importing this fills the registry."""

from tests.fuzz.attacks import inputs, kernels, models, tables, texts  # noqa: F401
