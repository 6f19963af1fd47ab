"""A site to try things on: ``python -m dedupcrawl.demo.server``; `make crawl` crawls it."""
