# What Python code sees of signatures.py.

from dedupcrawl.core.symbols import SymbolText

LONG_WORD: int
TERM_FREQUENCY_CAP: int

def simhash(text: SymbolText, pairs: bool) -> tuple[int, int]: ...
def sampled_shingles(text: SymbolText, most: int, levels: int, fewest: int) -> tuple[int, bytes]: ...
def shared_shingles(new: bytes, kept: bytes) -> tuple[int, int]: ...
