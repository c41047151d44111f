# make demo   the main job on a bundled data set            make test   all tests, examples in docstrings included
# make lint   ruff, mypy, the import contract               make bench  side by side with the peers: docs/benchmarks.md
# make docs   the documentation with its gallery: site/     make clean  remove what these made
#
# Each target sets up .venv by itself. Another interpreter: make test PYTHON=python3.12

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
NATIVE := $(wildcard CMakeLists.txt native/* native/*/*)

export PYTHONUTF8 := 1

.PHONY: demo test lint bench docs clean check
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(BIN)/python -m adaline.faces.demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "documentation: site/index.html"

$(VENV)/.installed: pyproject.toml $(NATIVE)
	@$(MAKE) --no-print-directory check
	"$(PYTHON)" -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	ADALINE_REQUIRE_NATIVE=1 $(PIP) install --quiet --editable '.[app]' --group dev
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(PIP) install --quiet --group bench
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) install --quiet --group docs
	@touch $@

check:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Missing: Python 3.11 or newer. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "Missing: the venv module of $(PYTHON). Install it (Debian, Ubuntu: the package python3-venv)." >&2; exit 1; }
	@for c in $$CXX c++ g++ clang++; do command -v "$$c" >/dev/null 2>&1 && exit 0; done; \
		echo "Missing: a C++20 compiler. Install g++ or clang++ (Debian, Ubuntu: the package g++;" \
		"macOS: xcode-select --install), or name one: CXX=/path/to/c++ make" >&2; exit 1

clean:
	rm -rf $(VENV) build dist site docs/making/__pycache__ report.html .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -exec rm -rf {} +
