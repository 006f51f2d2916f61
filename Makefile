# Two commands do all the set-up: `make reproduce` and `make test`. Both need only Python 3.11 or later.
# `make docs` builds the documentation into docs/_build/html; open index.html there.
# PAPER=slug reproduces one paper, SCALE=tiny|quick|paper another size; JOBS=16 tortures on so many cores.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
MINUTES ?= 60
CHECKED := tests/models tests/supervision tests/tasks tests/theory tests/probes tests/training/test_cells.py
PYTEST := --numprocesses 2 --dist loadfile --no-loadscope-reorder

.PHONY: reproduce test docs lint bench versions torture mutants referees playground clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.tested: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

reproduce: $(VENV)/.installed  ## every claim and figure at quick scale, on a page that fills; begins and ends with its path
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

# Where node is, the playground's types, lint and tests are part of the tests.
test: lint $(if $(shell command -v npm),playground/node_modules)  ## lint, types, tests
	$(BIN)/python -m pytest $(PYTEST) $(CHECKED)
	SHAPES=unchecked $(BIN)/python -m pytest $(PYTEST) $(CHECKED:%=--ignore %)

$(VENV)/.documented: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@ $(VENV)/.installed

docs: $(VENV)/.documented  ## the documentation site, warnings are errors; ends with the page to open
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs/site docs/_build/html
	! grep -rlE '<(script|link|img)[^>]*(src|href)="https?:' --include='*.html' docs/_build/html  # nothing is fetched
	cmp src/sorites/playground/index.html docs/_build/html/playground/index.html
	@echo docs/_build/html/index.html

versions: | $(BIN)/python  ## a subset of the tests on the oldest releases that are allowed and on the newest; minutes
	$(BIN)/python tests/versions.py

bench: $(VENV)/.installed  ## speed side by side; needs torch for the comparison
	$(BIN)/python bench/log_icot.py
	$(BIN)/python bench/kim_suzuki.py
	$(BIN)/python bench/rl_sft.py
	$(BIN)/python bench/wen.py
	$(BIN)/python bench/lego.py

torture: $(VENV)/.tested  ## 1,000 kills, 10,000 fuzzed inputs, bits turned over, signals; goes on where it was stopped
	$(BIN)/python torture/kills.py --jobs $(JOBS) --minutes $(MINUTES)
	$(BIN)/python torture/fuzz.py --jobs $(JOBS) --minutes $(MINUTES)
	$(BIN)/python torture/flips.py --jobs $(JOBS) --minutes $(MINUTES)
	$(BIN)/python torture/signals.py --jobs $(JOBS) --minutes $(MINUTES)

mutants: $(VENV)/.tested  ## 80 faults in the numerical core, each of which a test must see; goes on where it was stopped
	$(BIN)/python torture/mutants.py --audit --jobs $(JOBS) --minutes $(MINUTES)
	$(BIN)/python torture/mutants.py --count 80 --jobs $(JOBS) --minutes $(MINUTES)

referees: | $(BIN)/python  ## second computations of claims, written from the papers alone; needs numpy
	$(BIN)/python referees/run.py

clean:
	rm -rf $(VENV) build sorites-store reproduction figures torture-state docs/_build docs/site/generated
