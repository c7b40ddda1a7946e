# Needs Python 3.11 or newer with pip, and make; no root, no services.
.DEFAULT_GOAL := help
.PHONY: help setup packages run test lint format bench lock images screenshots test-sqlite test-postgres test-whole \
	check check-style check-types check-unit mutate

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NPM := npm --prefix frontend --loglevel=error
LOCKS := requirements-dev.lock requirements-torch.lock
PAGES := frontend/dist/hits/task.js
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PORT
# Node comes as a Python package, so that pip is all it takes.
export PATH := $(CURDIR)/$(BIN):$(PATH)

help:
	@echo "make setup   put everything that running and testing need into $(VENV)"
	@echo "make run     load the demo campaign and start the site, a worker and the scheduler"
	@echo "make check   lint and unit tests, in a minute or two: for every change, before make test"
	@echo "make test    lint, then all tests, on SQLite and on PostgreSQL"
	@echo "make test-whole  the largest tests at their whole size"
	@echo "make mutate  change the rules at random, and see which changes no test notices"
	@echo "make lint    style, formatting, types and import rules, of Python and TypeScript"
	@echo "make format  put the code into the project's format"
	@echo "make bench   run every benchmark in turn"
	@echo "make screenshots  take the documentation's pictures of the task pages again"
	@echo "make lock    write the lock files from pyproject.toml"
	@echo "make images  pin the container images to what their tags are now; needs Docker"

# The copy of the lock files in the virtualenv says what is installed there; when it is the same as
# ours there is nothing to do. The first lists everything and the hashes of its files, so that pip need
# not look for more; the second brings torch, in whatever build fits the machine. Some systems ship Python without ensurepip: then pip installs from
# outside.
setup: packages $(PAGES)

packages:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Chainbox needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3"; exit 1; }
	@if ! cat $(LOCKS) | cmp -s - $(VENV)/installed.lock; then \
		set -e; \
		echo "Installing into $(VENV) …"; \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) 2>/dev/null || \
			$(PYTHON) -m venv --clear --without-pip $(VENV); \
		if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
			pip="$(BIN)/python -m pip"; \
		else \
			pip="$(PYTHON) -m pip --python $(BIN)/python"; \
		fi; \
		$$pip install --quiet --require-hashes --no-deps -r requirements-dev.lock; \
		$$pip install --quiet -r requirements-torch.lock; \
		$$pip check; \
		cat $(LOCKS) > $(VENV)/installed.lock; \
	fi
	@if ! cmp -s frontend/package-lock.json frontend/node_modules/installed.lock; then \
		set -e; \
		echo "Installing into frontend/node_modules …"; \
		$(NPM) ci --no-audit --no-fund; \
		cp frontend/package-lock.json frontend/node_modules/installed.lock; \
	fi

# The task pages' script and style sheet, from their sources.
$(PAGES): $(shell find frontend/src -type f -not -name '*.test.*') frontend/package-lock.json \
		frontend/vite.config.ts | packages
	@echo "Building the task pages …"
	@$(NPM) run --silent build -- --logLevel warn

run: setup
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python -m config.run --connect
	$(BIN)/python manage.py demo_load
	$(BIN)/python -m config.run

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(NPM) run --silent check

# What make lint checks and the unit tests, side by side: mypy alone takes half of the time.
check: setup
	@$(MAKE) --no-print-directory -j2 --output-sync=target check-types check-style check-unit

check-types:
	$(BIN)/mypy

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(NPM) run --silent check

check-unit:
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 tests/unit

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NPM) run --silent format

# -k: the second run is worth having even when the first has failed; the status says if either did.
test: lint
	$(NPM) test --silent
	@$(BIN)/python -m tests.browsers
	$(BIN)/python -m tests.services -- $(MAKE) --no-print-directory -k test-sqlite test-postgres

# Slow tests wait for browsers and processes as often as they compute: three at a time keep two
# cores busy, and who has nothing left to do takes from the others. Numbers are crunched by one thread
# each, since several for each would wait for one another.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal

# The two runs of `make test`, which provides TEST_POSTGRES_URL and TEST_REDIS_URL.
test-sqlite:
	@echo "== All tests, on SQLite =="
	$(PYTEST) -m "not postgres"

test-postgres:
	@test -n "$$TEST_POSTGRES_URL" || { echo "TEST_POSTGRES_URL is not set: run make test"; exit 1; }
	@echo "== Database tests, on PostgreSQL =="
	DATABASE_URL="$$TEST_POSTGRES_URL" $(PYTEST) -m "database and not once"

# A whole campaign, and two hundred clients: different each time, since who gets which question
# depends on who comes first. Some fifteen minutes.
test-whole: setup
	CHAINBOX_TESTS=whole $(BIN)/python -m tests.services -- sh -c \
		'DATABASE_URL="$$TEST_POSTGRES_URL" exec $(BIN)/python -m pytest -m whole -s'

# MUTATE holds options: make mutate MUTATE='--seed 7 --sample 20 --only annotation/pipeline/trust/standing.py'
mutate: setup
	@$(BIN)/python -m scripts.mutate $(MUTATE)

bench: setup
	@set -e; for file in benchmarks/bench_*.py; do \
		test -e "$$file" || { echo "There are no benchmarks yet."; break; }; \
		echo "== $$file =="; \
		$(BIN)/python -m "benchmarks.$$(basename "$$file" .py)"; \
	done

# In this order: the overview is made of the others.
screenshots: setup
	@$(BIN)/python -m tests.browsers
	CHAINBOX_WRITE_SCREENSHOTS=1 $(BIN)/python -m pytest -p no:randomly tests/browser/tasks/test_screenshots.py

lock: setup
	$(BIN)/python -m scripts.lock $(if $(UPGRADE),--upgrade)

images:
	$(PYTHON) -m scripts.images
