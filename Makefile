# Every target makes the environment that it needs; a second run finds it ready.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench warmup docs clean test-quick test-pythons test-minimum test-extras check-package wheel fuzz

# Levels of the CPU that a platform wheel has kernels for (docs/decisions/0017-shipped-kernels.md).
LEVELS ?= x86-64-v2 x86-64-v3 x86-64-v4

# What `test-pythons` runs on, and the oldest of them, which has the oldest versions of everything else.
PYTHONS ?= 3.10 3.12 3.13
OLDEST := 3.10

# Compiled kernels live below this, in a directory named by a hash of the kernel sources (weald.runtime.cache).
NUMBA_CACHE_DIR ?= $(CURDIR)/.cache/numba
export NUMBA_CACHE_DIR

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.installed-test $(VENV)/.installed

demo: $(VENV)/.installed  ## train on the Adult census data and compare with scikit-learn
	$(BIN)/python -m weald.demo

lint: $(VENV)/.installed-dev  ## ruff, import-linter and mypy
	$(BIN)/ruff check src tests benchmarks examples tools
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

test: lint  ## lint, then the whole test suite (PYTEST_ARGS="-k name" narrows it)
	$(BIN)/weald warmup --jobs 2 --quiet
	$(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile $(PYTEST_ARGS)

test-quick: $(VENV)/.installed-test  ## the quick part of the test suite
	$(BIN)/python -m tools.suite

test-pythons:  ## the quick part on other Pythons, in fresh environments (PYTHONS="3.10 3.12")
	$(PYTHON) -m tools.suite --python $(PYTHONS)

test-minimum:  ## the quick part with the oldest versions of all that is required
	$(PYTHON) -m tools.suite --python $(OLDEST) --minimum

test-extras:  ## every extra of the wheel, in a fresh environment of its own (EXTRAS="plots arrow")
	$(PYTHON) -m tools.extras $(EXTRAS)

fuzz: $(VENV)/.installed-test  ## random fits (some with every index checked) and damaged model files; each must end in a result or in our error
	$(BIN)/weald warmup --quiet
	$(BIN)/python -m tools.fuzz fits --cases 5000
	$(BIN)/python -m tools.fuzz files --cases 10000
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.cache/bounds $(BIN)/python -m tools.fuzz fits --seed 1 --cases 2000 --patience 600

check-package:  ## build the sdist and the pure wheel into dist/, and check both
	$(PYTHON) -m tools.check_package

wheel:  ## build a pure wheel, and one with compiled kernels for this platform and Python, into dist/ (LEVELS=...)
	$(PYTHON) -m tools.wheel $(LEVELS)

docs: $(VENV)/.installed-test  ## check the documentation: links, examples, pages that programs write
	$(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile tests/docs

bench: $(VENV)/.installed-dev  ## benchmarks against the peers, as ratios (BENCH_ARGS are passed on)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

warmup: $(VENV)/.installed  ## compile all kernels ahead of their first use
	$(BIN)/weald warmup

clean:  ## remove the environment, caches and builds
	rm -rf $(VENV) .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples tools -type d -name __pycache__ -prune -exec rm -rf {} +
