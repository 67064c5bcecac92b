# Every target makes the environment that it needs; a second run finds it ready.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench warmup clean

# Compiled kernels live below this, in a directory named by a hash of the kernel sources (weald.runtime.cache).
NUMBA_CACHE_DIR ?= $(CURDIR)/.cache/numba
export NUMBA_CACHE_DIR

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## train on the Adult census data and compare with scikit-learn
	$(BIN)/python -m weald.demo

lint: $(VENV)/.installed-dev  ## ruff, import-linter and mypy
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

test: lint  ## lint, then the whole test suite (PYTEST_ARGS="-k name" narrows it)
	$(BIN)/weald warmup --jobs 2 --quiet
	$(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile $(PYTEST_ARGS)

bench: $(VENV)/.installed-dev  ## benchmarks against the peers, as ratios (BENCH_ARGS are passed on)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

warmup: $(VENV)/.installed  ## compile all kernels ahead of their first use
	$(BIN)/weald warmup

clean:  ## remove the environment, caches and builds
	rm -rf $(VENV) .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -type d -name __pycache__ -prune -exec rm -rf {} +
