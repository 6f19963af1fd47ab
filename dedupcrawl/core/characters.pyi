# The Python interface of characters.py; other modules of the core cimport the declarations in characters.pxd.

from array import array

LETTER: int  # bits of a character's kind
ALONE: int
DIGIT: int
MARK: int
TOUCH: int
EXTEND: int

UTF8: int  # bits of the result of `utf8_of`
LONG: int
ASCII: int

UNICODE_VERSION: str  # of the tables
TABLES: dict[str, array[int]]  # the sections of the file
# The following are the insides of character classes of regular expressions.
CJK: str  # ideographs and kana
UNSPACED: str  # letters of scripts that are written without spaces and have vowel signs
VOWEL_SIGNS: str  # parts of words that are no letters, such as the vowel signs of Hindi and Thai
TOUCHING: str  # signs that are symbols if a letter, digit or sign is on one side only (-5, $5, A-, C#)
VALUES: str  # signs that say how much, how good or whether, so that one in place of another matters as in numbers
SIGNS: str  # signs that mean something by themselves: `VALUES` and emoji, each a symbol; bullets and frames are none

def fold(text: str) -> str: ...
def unescape(text: str) -> str: ...
def collapse(markup: bytes, is_pre: bool = False) -> str: ...
def kinds() -> bytes: ...
def utf8_of(data: bytes) -> int: ...
def has_escapes(data: bytes) -> bool: ...
