# Everything is installed into .venv at the project's root; the stamps make a second run quick.
PYTHON ?= python3
VENV := .venv
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
START ?=

.PHONY: crawl test test-fast test-oldest dist-check lint format docs sanitize clean

$(STAMP): pyproject.toml hatch_build.py tools/build_kernels.py $(wildcard dedupcrawl/content/kernels/*.[ch]) dedupcrawl/content/character_tables.py
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable '.[train,report]'
	touch $(STAMP)

$(DEV_STAMP): $(STAMP)
	$(INSTALL) --editable '.[train,terms,calibrate,report,dev,bench,docs]'
	touch $(DEV_STAMP)

crawl: $(STAMP)  ## serve the demo site and crawl it, or crawl START=https://...
	$(VENV)/bin/python -m dedupcrawl.demo $(START)

test: $(DEV_STAMP) lint  ## lint, types and all tests
	$(VENV)/bin/python -m pytest -n auto --dist loadfile

test-fast: $(DEV_STAMP)  ## three quarters of the tests, in a sixth of the time; no crawls, servers, browsers or Spark
	$(VENV)/bin/python -m pytest -n auto --dist loadfile -m 'not slow'

# The oldest of all that pyproject.toml names. HTTPX: before Scrapy 2.19 a crawl without a reactor downloads by it; 0.6.7 cannot be used.
test-oldest: OLDEST := $(VENV)-oldest/bin
test-oldest:  ## all tests but those of the benchmarks, with the oldest dependencies that are supported
	test -x $(OLDEST)/python || $(PYTHON) -m venv $(VENV)-oldest
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check uv
	$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python --resolution lowest-direct \
		--editable '.[train,terms,calibrate,report,dev,docs]' 'httpx>=0.28'
	$(OLDEST)/python -m pytest --ignore tests/benchmarks

dist-check: $(DEV_STAMP)  ## build the distributions, install the wheel into an empty environment, and use it there
	$(VENV)/bin/python -m tools.dist_check

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
	rm -rf $(VENV) $(VENV)-oldest docs/_build .scrapy .mypy_cache .ruff_cache .pytest_cache
