# Everything is installed into .venv at the project's root; the stamps make a second run quick.
PYTHON ?= python3
VENV := .venv
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
START ?=

.PHONY: crawl test lint format docs sanitize clean

$(STAMP): pyproject.toml hatch_build.py tools/build_kernels.py $(wildcard dedupcrawl/content/kernels/*.[ch])
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable '.[report]'
	touch $(STAMP)

$(DEV_STAMP): $(STAMP)
	$(INSTALL) --editable '.[dev,bench,docs,report]'
	touch $(DEV_STAMP)

crawl: $(STAMP)  ## serve the demo site and crawl it, or crawl START=https://...
	$(VENV)/bin/python -m dedupcrawl.demo $(START)

test: $(DEV_STAMP) lint  ## lint, types and all tests
	$(VENV)/bin/python -m pytest

lint: $(DEV_STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(DEV_STAMP)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .


docs: $(DEV_STAMP)  ## the website of docs/, a warning is an error
	$(VENV)/bin/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo docs/_build/html/index.html

sanitize: $(DEV_STAMP)  ## the compiled steps' tests under AddressSanitizer and UndefinedBehaviorSanitizer (GCC)
	CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" $(VENV)/bin/python tools/build_kernels.py
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
		$(VENV)/bin/python -m pytest -q tests/content/test_kernels.py; \
	status=$$?; $(VENV)/bin/python tools/build_kernels.py; exit $$status


clean:
	rm -rf $(VENV) docs/_build .scrapy .mypy_cache .ruff_cache .pytest_cache
