# Two commands do all the set-up: `make reproduce` and `make test`. Both need only Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test lint bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.tested: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

reproduce: $(VENV)/.installed  ## every claim and figure at quick scale; ends with the path of a page to open
	$(BIN)/sorites reproduce

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

test: lint  ## lint, types, tests
	$(BIN)/python -m pytest

bench: $(VENV)/.installed  ## speed side by side; needs torch for the comparison
	$(BIN)/python bench/log_icot.py

clean:
	rm -rf $(VENV) sorites-store reproduction figures
