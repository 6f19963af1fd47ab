"""Readers of crawl logs, one module per format."""
