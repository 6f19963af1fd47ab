"""Fuzzing: mutated pages, URLs, rule files and logs through everything that reads what strangers write."""
