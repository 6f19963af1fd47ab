"""Pairs made of real pages that differ in one known thing: what must count as the same, and what as another."""
