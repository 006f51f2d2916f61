# Two commands do all the set-up: `make reproduce` and `make test`. Both need only Python 3.11 or later.
# `make docs` builds the documentation into docs/_build/html; open index.html there.
# PAPER=slug reproduces one paper, SCALE=tiny|quick|paper another size.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test docs lint bench clean

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

test: lint  ## lint, types, tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

$(VENV)/.documented: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@ $(VENV)/.installed

docs: $(VENV)/.documented  ## the documentation site, warnings are errors; ends with the page to open
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs/site docs/_build/html
	! grep -rlE '<(script|link|img)[^>]*(src|href)="https?:' --include='*.html' docs/_build/html  # nothing is fetched
	@echo docs/_build/html/index.html

bench: $(VENV)/.installed  ## speed side by side; needs torch for the comparison
	$(BIN)/python bench/log_icot.py
	$(BIN)/python bench/kim_suzuki.py
	$(BIN)/python bench/rl_sft.py
	$(BIN)/python bench/wen.py
	$(BIN)/python bench/lego.py

clean:
	rm -rf $(VENV) sorites-store reproduction figures docs/_build docs/site/generated
