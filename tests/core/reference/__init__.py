"""What the core makes of a page, by the means of Python's standard library: slow, and each step in other words."""
