"""Pairs of pages that differ in one known thing, made of real pages: what must count as the same, and what as another."""
