# `make demo` and `make test` do all the set-up on a machine with Python 3.11 and make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := all,dev
export OMP_NUM_THREADS ?= 1
export MUJOCO_GL ?= egl

.PHONY: demo test test-all lint types bench lock format clean
.DEFAULT_GOAL := help
help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/'

$(VENV)/.installed: pyproject.toml requirements.lock
	@echo "installing into $(VENV): some three minutes, once"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --constraint requirements.lock torch
	$(BIN)/pip install --quiet --constraint requirements.lock --editable ".[$(EXTRAS)]"
	touch $@

demo: $(VENV)/.installed  ## a small CartPole study, seen in shifted worlds: runs/demo/report.html (under 4 minutes on two free cores)
	$(BIN)/ewok run studies/demo.toml

test: $(VENV)/.installed  ## a representative set of tests
	$(BIN)/pytest -m "not slow" -n 2

test-all: $(VENV)/.installed  ## every simulator, for longer; before a release
	$(BIN)/pytest -n 2

lint: $(VENV)/.installed  ## ruff, as linter and as formatter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed  ## mypy, strict
	$(BIN)/mypy

format: $(VENV)/.installed  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed  ## ratios, each measured in one run, into benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

lock: $(VENV)/.installed  ## pin every dependency anew
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras --no-emit-package ewok \
		--constraint constraints.txt --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) runs/demo
