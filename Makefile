# Every target sets up what it needs: a local .venv, created again only if pyproject.toml changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := chain-10-deterministic,chain-10-stochastic,gridworld-5-deterministic,gridworld-5-stochastic

.PHONY: demo test quick fuzz lint prose bench measure docs reference figures links clean help
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 14

demo: $(READY) ## a small version of the paper's experiment: eleven algorithms, four environments, one page; some minutes
	@rm -rf demo/scores
	@echo "Eleven algorithms on four environments; the first run compiles them, about a minute ..."
	@$(BIN)/untuned reproduce --trials 200 --environments $(DEMO) --out demo

test: lint ## lint, types, import contracts and all tests; ARGS="-k name" selects tests
	$(BIN)/pytest -n auto --dist worksteal $(ARGS)

quick: $(READY) ## most tests: units, properties, the command line; two minutes; takes ARGS as well
	$(BIN)/pytest -n auto --dist worksteal -m quick $(ARGS)

fuzz: $(READY) ## read files of scores, stores and studies that were changed at random: MINUTES=60 SEED=1
	$(BIN)/python tests/support/fuzzing.py --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1)

lint: $(READY) ## ruff, mypy --strict and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

prose: $(READY) ## suggest spelling and plainer words for documents and docstrings; never fails
	$(BIN)/python docs_tools/prose.py $(ARGS)

bench: $(READY) ## measure speed relative to other programs in the same run
	$(BIN)/python benchmarks/environments.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/collect.py
	$(BIN)/python benchmarks/metered.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/peers.py

# In brackets: approximate minutes on two idle processors. LIMIT=PATH also compares the engine with the C program.
measure: $(READY) ## measure every speed in the documentation into docs/results, and update its pages: an hour
	$(BIN)/python benchmarks/environments.py --json docs/results/environments.json  # (1)
	$(BIN)/python benchmarks/engine.py $(if $(LIMIT),--limit $(LIMIT)) --json docs/results/engine.json  # (3)
	$(BIN)/python benchmarks/judge.py --only stages bounds bootstrap workers rows growth --json docs/results/judge.json  # (5)
	$(BIN)/python benchmarks/judge.py --only whole --json docs/results/judge-whole.json  # (12)
	$(BIN)/python benchmarks/store.py --json docs/results/store.json  # (2)
	$(BIN)/python benchmarks/collect.py --json docs/results/collect.json  # (7)
	$(BIN)/python benchmarks/metered.py --json docs/results/metered.json  # (1)
	$(BIN)/python benchmarks/report.py --json docs/results/report.json  # (2)
	$(BIN)/python benchmarks/reading.py --rows 50000000 --json docs/results/reading.json  # (6)
	$(BIN)/python benchmarks/growth.py --most 10000000 --patience 300 --json docs/results/growth.json  # (13)
	$(BIN)/python benchmarks/pooled_power.py --json docs/results/pooled-power.json  # (8)
	$(BIN)/python benchmarks/pooled_plan.py --json docs/results/pooled-plan.json  # (4)
	$(BIN)/python benchmarks/peers.py --json docs/results/peers.json  # (3)
	$(BIN)/python benchmarks/pages.py

docs: $(READY) ## build the documentation; warnings are errors
	$(BIN)/python docs_tools/build_site.py

reference: $(READY) ## write the page of commands from the program's help
	$(BIN)/python docs_tools/commands.py

figures: $(READY) ## draw the pictures of the documentation
	$(BIN)/python docs_tools/figures.py
	$(BIN)/python docs_tools/pictures.py
	$(BIN)/python benchmarks/failures.py --picture docs/images/coverage.png --out docs/results

links: $(READY) ## check every external link of the documentation; needs a network
	$(BIN)/python docs_tools/links.py

.PHONY: peers
peers: build/peers/.ready ## install rliable in a separate environment, for comparison with our summaries
build/peers/.ready:
	$(PYTHON) -m venv --clear build/peers
	build/peers/bin/pip install --quiet --disable-pip-version-check 'rliable==1.2.0' 'pandas<3'
	@touch build/peers/.ready

.PHONY: build
build: $(READY) ## the wheel and the sdist of a release, checked by an install of the wheel that evaluates a table
	rm -rf dist build/plain
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/plain
	build/plain/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	build/plain/bin/untuned evaluate examples/scores.csv

clean: ## remove the environment and all build outputs
	rm -rf $(VENV) build dist site demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The content of pyproject.toml decides, not its date: a fresh checkout of the same file keeps the environment.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "untuned needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@if ! { [ -f $(READY) ] && $(BIN)/python -c '' 2>/dev/null && cmp -s pyproject.toml $(READY); }; then \
	  echo "setting up $(VENV) (once; a minute or two) ..."; \
	  $(PYTHON) -m venv --clear $(VENV) || { echo "could not make $(VENV): install your system's venv package (Debian: apt install python3-venv)"; exit 1; }; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' || exit 1; \
	fi
	@cp pyproject.toml $(READY)
