"""Readers of crawl logs, one format a file."""
