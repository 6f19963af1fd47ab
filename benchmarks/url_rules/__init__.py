"""Learned URL rules beside two papers' rules and the fixed canonicalizers: `python -m benchmarks.url_rules`."""
