# What Python code sees of characters.py; other modules of the core cimport what characters.pxd declares.

from array import array

LETTER: int  # bits of a character's kind
ALONE: int
DIGIT: int
MARK: int
TOUCH: int
EXTEND: int

UTF8: int  # what `utf8_of` tells
LONG: int
ASCII: int

UNICODE_VERSION: str  # of the tables
TABLES: dict[str, array[int]]  # the sections of the file
# Inside of a class of a regular expression: ideographs and kana; parts of words that are no letters, such as the vowel
# signs of Hindi and Thai.
CJK: str
UNSPACED: str  # those of scripts that are written without spaces, and have vowel signs
VOWEL_SIGNS: str
TOUCHING: str  # signs that are symbols where a letter, digit or sign is on one side only (-5, $5, A-, C#)
VALUES: str  # signs that say how much, how good or whether: as numbers do, where another stands in their place
# Signs that say something by themselves, those and emoji: each is a symbol. Bullets and frames are none.
SIGNS: str

def fold(text: str) -> str: ...
def unescape(text: str) -> str: ...
def collapse(markup: bytes, is_pre: bool = False) -> str: ...
def kinds() -> bytes: ...
def utf8_of(data: bytes) -> int: ...
def has_escapes(data: bytes) -> bool: ...
