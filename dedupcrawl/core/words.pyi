# The Python interface of words.py; other modules of the core cimport the declarations in words.pxd.

from dedupcrawl.core.symbols import SymbolText

WORD: int  # kinds of symbols
FUNCTION: int
PARTICLE: int
NAME: int
NEGATION: int
COUNTER: int
UNIT: int
TIME: int
DATE: int
NUMERAL: int
NUMBER: int
SIGN: int
AGO: int
CREDIT: int
NOW: int
ENDS: int  # set for the last symbol of a paragraph that ends with a sentence
KIND: int  # these bits of a symbol's byte hold its kind
LETTER: int
IDEOGRAPH: int  # set for an ideograph or kana

WORDS: dict[str, str]
STOP_WORDS: frozenset[str]

def kinds_of(text: SymbolText) -> bytes: ...
