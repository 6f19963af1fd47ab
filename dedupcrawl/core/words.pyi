# What Python code sees of words.py; other modules of the core cimport what words.pxd declares.

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
ENDS: int  # set for the last symbol of a paragraph with which a sentence ends
KIND: int  # these bits of a symbol's byte hold its kind
LETTER: int
IDEOGRAPH: int  # this one is set for an ideograph or kana

WORDS: dict[str, str]
STOP_WORDS: frozenset[str]

def kinds_of(text: SymbolText) -> bytes: ...
