"""Which parts of a page count: what selectors and patterns of users, and of known programs, find."""
