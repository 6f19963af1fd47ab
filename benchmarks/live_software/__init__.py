"""Programs that sites run, installed, filled and served on this machine, and crawled: see `__main__`."""
