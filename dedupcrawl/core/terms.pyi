# What Python code sees of terms.py.

from collections.abc import Mapping

from dedupcrawl.core.symbols import SymbolText

LONGEST_WORD: int
PLACE: str

def cut(folded: str) -> tuple[str, list[str]]: ...
def cut_text(text: SymbolText) -> tuple[str, list[str]]: ...
def term_hashes(words: list[str], remembered: Mapping[str, int]) -> bytes: ...
