# Everything is installed into .venv at the project's root; the stamps make a second run quick.
PYTHON ?= python3
VENV := .venv
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
START ?=
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder  # else files of few, long tests come last, on one core
# Some machines set it: each of a thousand processes that tests start would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: crawl test suite types style test-fast test-oldest test-matrix coverage dist-check licences lint format docs sanitize fuzz clean

SOURCES := pyproject.toml hatch_build.py tools/build_core.py $(wildcard dedupcrawl/core/*.py dedupcrawl/core/*.pxd)

$(STAMP): $(SOURCES)
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable '.[report]'
	touch $(STAMP)

$(DEV_STAMP): $(SOURCES)  # which has all that the other has
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable '.[archives,calibrate,report,dev,bench,docs]'
	touch $(STAMP) $(DEV_STAMP)

crawl: $(STAMP)  ## serve the demo site and crawl it, or crawl START=https://...
	$(VENV)/bin/python -m tools.demo $(START)

test: $(DEV_STAMP) style  ## lint, types and all tests
	@$(MAKE) --no-print-directory --keep-going -j2 suite types  # types take one core, and tests wait a quarter of their time

suite: $(DEV_STAMP)
	$(VENV)/bin/python -m pytest $(PARALLEL)

types: $(DEV_STAMP)
	$(VENV)/bin/mypy

style: $(DEV_STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

test-fast: $(DEV_STAMP)  ## three quarters of the tests, in a quarter of the time; no crawls, servers, browsers or Spark
	$(VENV)/bin/python -m pytest $(PARALLEL) -m 'not slow'

# The oldest of all that pyproject.toml names. HTTPX: before Scrapy 2.19 a crawl without a reactor downloads by it; 0.6.7 cannot be used.
test-oldest: OLDEST := $(VENV)-oldest/bin
test-oldest:  ## all tests but those of the benchmarks, with the oldest dependencies that are supported
	test -x $(OLDEST)/python || $(PYTHON) -m venv $(VENV)-oldest
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check uv
	$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python --resolution lowest-direct \
		--editable '.[archives,calibrate,report,dev,docs]' 'httpx>=0.28'
	$(OLDEST)/python -m pytest $(PARALLEL) --ignore tests/benchmarks

PYTHONS := 3.10 3.11 3.12 3.13 3.14
test-matrix:  ## all tests, without types, which NumPy has others of in each version, with each of PYTHONS that is on the PATH or in pyenv, each in an environment of its own
	@for version in $(PYTHONS); do \
		found=$$(ls -d $$HOME/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); \
		found=$${found:-$$(command -v python$$version)}; \
		if [ -z "$$found" ]; then echo "Python $$version: not on this machine"; continue; fi; \
		echo "Python $$version: $$found"; \
		$(MAKE) --no-print-directory VENV=$(VENV)-$$version PYTHON=$$found suite || failed="$$failed $$version"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

coverage: $(DEV_STAMP)  ## all tests, and which lines and branches of each module none of them ran
	$(VENV)/bin/python -m coverage erase
	$(VENV)/bin/python -m coverage run -m pytest $(PARALLEL)
	$(VENV)/bin/python -m coverage combine --quiet
	$(VENV)/bin/python -m coverage report --show-missing

licences: $(DEV_STAMP)  ## docs/licences.md: what is bundled and what is installed, and under which licence
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[redis,scrapy-redis,spark,spidermon]'
	$(VENV)/bin/python -m tools.licences

dist-check: $(DEV_STAMP)  ## build the distributions, install the wheel into an empty environment, and use it there
	$(VENV)/bin/python -m tools.dist_check

lint: style types

format: $(DEV_STAMP)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

docs: $(DEV_STAMP)  ## the website of docs/, a warning is an error
	$(VENV)/bin/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo docs/_build/html/index.html

# The extensions under AddressSanitizer and UndefinedBehaviorSanitizer (GCC), in a copy of the package.
SANITIZED := build/sanitized
SANITIZERS := -O1 -g -fno-wrapv -fsanitize=address,undefined -fno-sanitize-recover=undefined
UNDER_SANITIZERS = cd $(SANITIZED) && PYTHONPATH="$$PWD" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:malloc_context_size=2 \
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" $(CURDIR)/$(VENV)/bin/python

.PHONY: sanitized
sanitized: $(DEV_STAMP)
	mkdir -p $(SANITIZED)
	tar -c --exclude='*.so' --exclude='compiled.*' pyproject.toml dedupcrawl tools benchmarks tests | tar -x -C $(SANITIZED)
	cd $(SANITIZED) && CFLAGS="$(SANITIZERS)" $(CURDIR)/$(VENV)/bin/python tools/build_core.py

sanitize: sanitized  ## the tests of what is compiled under the sanitizers
	$(UNDER_SANITIZERS) -m pytest -q -m 'not slow' tests/core

INPUTS ?= 10000000
fuzz: sanitized  ## INPUTS=10000000 inputs to each entry point of the core under the sanitizers; those that fail go to fuzz-failures/
	$(UNDER_SANITIZERS) -m benchmarks.fuzz --target core. --inputs $(INPUTS) --keep $(CURDIR)/fuzz-failures

clean:
	rm -rf $(VENV) $(VENV)-* build .coverage* docs/_build .scrapy .mypy_cache .ruff_cache .pytest_cache
