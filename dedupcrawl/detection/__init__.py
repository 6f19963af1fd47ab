"""Judging pages: checks, site templates, trust and an index, brought together into one verdict per page."""
