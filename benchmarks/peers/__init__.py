"""Near-duplicate libraries beside the checks of the package, on the same pages: `python -m benchmarks.peers`."""
