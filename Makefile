# The one door. Every target sets up what it needs: a local .venv, made again only when pyproject.toml changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench docs reference links clean help
.DEFAULT_GOAL := help

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 14

demo: $(READY) ## what there is, a trial, a small study collected, evaluated and reported, the environments drawn
	@$(BIN)/untuned list
	@echo "Compiling the first pair, once ..."
	@$(BIN)/untuned trial sarsa-parl2 cart-pole --seed 7 --trial 3 --plot
	@echo
	@rm -rf demo/small_study
	@$(BIN)/untuned run examples/small_study.toml --out demo/small_study
	@$(BIN)/untuned report demo/small_study --out demo/report.html
	@echo "Open demo/report.html in a browser; or try: .venv/bin/untuned evaluate demo/small_study --environments"
	@echo
	@$(BIN)/python examples/fifteen_environments.py --out demo

test: lint ## lint, types, rooms, tests
	$(BIN)/pytest -n auto --dist worksteal

lint: $(READY) ## ruff, mypy --strict and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## speed, as ratios against peers measured in the same run
	$(BIN)/python benchmarks/environments.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/collect.py
	$(BIN)/python benchmarks/metered.py
	$(BIN)/python benchmarks/report.py

docs: $(READY) ## the documentation, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

reference: $(READY) ## write the page of commands again, from what the program says of itself
	$(BIN)/python docs_tools/commands.py

links: $(READY) ## fetch every external link of the documentation; needs a network
	$(BIN)/python docs_tools/links.py

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist site demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

# pyproject.toml's content decides, not its date: a fresh checkout of the same file keeps the environment.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "untuned needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@if ! { [ -f $(READY) ] && $(BIN)/python -c '' 2>/dev/null && cmp -s pyproject.toml $(READY); }; then \
	  echo "setting up $(VENV) (once; a minute or two) ..."; \
	  $(PYTHON) -m venv --clear $(VENV) || { echo "could not make $(VENV): install your system's venv package (Debian: apt install python3-venv)"; exit 1; }; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' || exit 1; \
	fi
	@cp pyproject.toml $(READY)
