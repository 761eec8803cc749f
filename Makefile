.DEFAULT_GOAL := help
VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m

.PHONY: help setup format lint types test test-js test-all conformance docs coverage golden oracle bench demo check clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	python3 -m venv $(VENV)

setup: $(BIN)/python  ## make the virtual environment with everything that developing needs
	$(RUN) pip install --quiet --editable '.[dev]'

oracle: $(BIN)/python  ## add JAX, and compare every operator and the workloads with it
	$(RUN) pip install --quiet --editable '.[dev,oracle]'
	$(RUN) pytest -q -n 2 tests/oracle

format:  ## rewrite the source in the one format
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

lint:  ## check format, lint rules and import contracts
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(BIN)/lint-imports --no-logo

types:  ## check types with mypy and pyright, both strict
	$(RUN) mypy
	$(RUN) pyright --pythonpath $(BIN)/python

test:  ## the fast tests, in random order, on two cores
	$(RUN) pytest -q -n 2 -m 'not slow'

test-js:  ## train in Node.js with a shipped ONNX step, and compare the losses; needs Node.js
	npm install --prefix tests/node --ignore-scripts --no-package-lock --no-audit --no-fund
	$(RUN) pytest -q tests/node/check_node.py

test-all:  ## every test and every documentation example
	$(RUN) pytest -q -n 2

conformance:  ## operators: values, derivatives, decompositions; then the kit on every backend
	$(RUN) pytest -q -n 2 tests/conformance tests/kit

docs:  ## write the generated pages, check the Python in the documents, links, public names
	$(BIN)/python docs/generate.py
	$(RUN) pytest -q tests/docs

coverage:  ## every test, with branch coverage
	$(RUN) pytest -q -n 2 --cov --cov-report=term

golden:  ## rewrite the golden texts; read the difference before committing
	$(RUN) pytest -q tests/golden --update

bench:  ## compile time beside JAX's, and growth with depth
	$(RUN) pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/compile_latency.py
	$(BIN)/python benchmarks/depth.py

demo: $(BIN)/python  ## train on the digits
	$(RUN) pip install --quiet --editable '.[examples]'
	$(BIN)/python examples/digits.py --seeds 3

check: lint types coverage  ## everything that must pass before a change is finished

clean:  ## remove caches and the virtual environment
	rm -rf $(VENV) tests/node/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
