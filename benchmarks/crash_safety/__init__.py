"""Kills crawls, fills their disk and damages their index, and counts the texts that no feed holds in the end.

Run it with ``python -m benchmarks.crash_safety``.
"""
