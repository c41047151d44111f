"""How many small changes of the source the tests notice: `make mutants`."""
