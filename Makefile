# Two commands do all the set-up: `make reproduce` and `make test`. Both need only Python 3.11 or later.
# PAPER=slug reproduces one paper, SCALE=tiny|quick|paper another size.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test lint bench playground clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.tested: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

reproduce: $(VENV)/.installed  ## every claim and figure at quick scale; ends with the path of a page to open
	$(BIN)/sorites reproduce $(if $(PAPER),--paper $(PAPER)) $(if $(SCALE),--scale $(SCALE))

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

playground/node_modules: playground/package-lock.json
	npm --prefix playground ci --no-progress
	touch $@

playground: playground/node_modules  ## the page that `sorites play` serves; needs node
	npm --prefix playground run --silent check
	npm --prefix playground run --silent build

# Where node is, the playground's types and tests are part of the tests.
test: lint $(if $(shell command -v npm),playground/node_modules)  ## lint, types, tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

bench: $(VENV)/.installed  ## speed side by side; needs torch for the comparison
	$(BIN)/python bench/log_icot.py
	$(BIN)/python bench/kim_suzuki.py
	$(BIN)/python bench/rl_sft.py
	$(BIN)/python bench/wen.py
	$(BIN)/python bench/lego.py

clean:
	rm -rf $(VENV) sorites-store reproduction figures
