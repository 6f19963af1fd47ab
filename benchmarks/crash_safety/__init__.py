"""Kills crawls, fills their disk, and counts the texts that no feed holds in the end.

Run it with ``python -m benchmarks.crash_safety``.
"""
