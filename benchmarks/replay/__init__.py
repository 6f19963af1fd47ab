"""Replays a stored crawl from a loopback server under its true URLs, and crawls it with Scrapy, dedup off and on.

Run it with ``python -m benchmarks.replay SITE…``.
"""
