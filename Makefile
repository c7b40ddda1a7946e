# Needs Python 3.11 or newer with pip, and make; no root, no services.
.DEFAULT_GOAL := help
.PHONY: help setup run test lint format bench lock test-sqlite test-postgres

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PORT

help:
	@echo "make setup   put everything that running and testing need into $(VENV)"
	@echo "make run     load the demo campaign and start the site, a worker and the scheduler"
	@echo "make test    lint, then all tests, on SQLite and on PostgreSQL"
	@echo "make lint    style, formatting, types and import rules"
	@echo "make format  put the code into the project's format"
	@echo "make bench   run every benchmark in turn"
	@echo "make lock    write the lock files anew from pyproject.toml"

# The copy of the lock file in the virtualenv says what is installed there; when it is the same as
# ours there is nothing to do. Some systems ship Python without ensurepip: then pip installs from
# outside.
setup:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Chainbox needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3"; exit 1; }
	@if ! cmp -s requirements-dev.lock $(VENV)/installed.lock; then \
		set -e; \
		echo "Installing into $(VENV) …"; \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) 2>/dev/null || \
			$(PYTHON) -m venv --clear --without-pip $(VENV); \
		if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
			$(BIN)/python -m pip install --quiet -r requirements-dev.lock; \
		else \
			$(PYTHON) -m pip --python $(BIN)/python install --quiet -r requirements-dev.lock; \
		fi; \
		cp requirements-dev.lock $(VENV)/installed.lock; \
	fi

run: setup
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py demo_load
	$(BIN)/python -m config.run

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# -k: the second run is worth having even when the first has failed; the status says if either did.
test: lint
	@$(BIN)/python -m tests.browsers
	$(BIN)/python -m tests.services -- $(MAKE) --no-print-directory -k test-sqlite test-postgres

# The two runs of `make test`, which provides TEST_POSTGRES_URL and TEST_REDIS_URL.
test-sqlite:
	@echo "== All tests, on SQLite =="
	$(BIN)/python -m pytest -n 2 -m "not postgres"

test-postgres:
	@test -n "$$TEST_POSTGRES_URL" || { echo "TEST_POSTGRES_URL is not set: run make test"; exit 1; }
	@echo "== Database tests, on PostgreSQL =="
	DATABASE_URL="$$TEST_POSTGRES_URL" $(BIN)/python -m pytest -n 2 -m database

bench: setup
	@set -e; for file in benchmarks/bench_*.py; do \
		test -e "$$file" || { echo "There are no benchmarks yet."; break; }; \
		echo "== $$file =="; \
		$(BIN)/python -m "benchmarks.$$(basename "$$file" .py)"; \
	done

lock: setup
	$(BIN)/python scripts/lock.py
