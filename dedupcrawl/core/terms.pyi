# What Python code sees of terms.py.

from collections.abc import Mapping
from typing import final

from dedupcrawl.core.symbols import SymbolText

@final
class SpacedTerms:
    def __new__(cls, of_words: Mapping[str, int]) -> SpacedTerms: ...
    def of(self, text: SymbolText) -> tuple[bytes, str]: ...

LONGEST_WORD: int
PLACE: str

def cut(folded: str) -> tuple[str, list[str]]: ...
def is_word(segment: str) -> bool: ...
def term_hashes(words: list[str], remembered: Mapping[str, int]) -> tuple[bytes, list[str]]: ...
