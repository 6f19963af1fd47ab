"""What symbols are, said in another way than by the package."""

from __future__ import annotations

import re

from dedupcrawl.core.characters import CJK, SIGNS, TOUCHING, UNSPACED, VOWEL_SIGNS
from tools.character_tables import as_class

_SIGN = as_class(SIGNS)
_SPACED = f"(?![{UNSPACED}])(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}])"
_DIGIT = f"(?![{UNSPACED}])\\d"
_SEPARATOR = f"(?<=\\d)(?:\\.(?={_DIGIT})|,(?={_DIGIT})(?!\\d{{4}}))"
_PART = f"[{CJK}{_SIGN}{VOWEL_SIGNS}]|[^\\W_]"

SYMBOL = re.compile(
    f"[{CJK}{_SIGN}]|{_SPACED}(?:{_SPACED}|{_SEPARATOR})*"
    f"|(?=[{UNSPACED}])(?:[^\\W_]|[{VOWEL_SIGNS}])(?:(?=[{UNSPACED}])[{VOWEL_SIGNS}])*"
    f"|(?:(?<=[^\\W_])|(?<=[{CJK}{_SIGN}{VOWEL_SIGNS}]))[{TOUCHING}](?!{_PART})"
    f"|(?<![^\\W_])(?<![{CJK}{_SIGN}{VOWEL_SIGNS}])[{TOUCHING}](?={_PART})"
)
"""A symbol in a folded text."""
