# Everything is installed into .venv at the project's root; the stamp makes a second run quick.
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
START ?=

.PHONY: crawl test lint format clean

$(STAMP): pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

crawl: $(STAMP)  ## serve the demo site and crawl it, or crawl START=https://...
	$(VENV)/bin/python -m dedupcrawl.demo $(START)

test: $(STAMP) lint  ## lint, types and all tests
	$(VENV)/bin/python -m pytest

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(STAMP)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) .scrapy .mypy_cache .ruff_cache .pytest_cache
