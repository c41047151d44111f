"""The command line in process: its commands are built once for each file of tests."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def built_once(quick_typer: None) -> None:
    """Commands are built once."""
