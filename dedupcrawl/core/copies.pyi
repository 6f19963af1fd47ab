# The Python interface of copies.py.

from dedupcrawl.core.pair import Pair

def is_better(pair: Pair) -> bool: ...
