"""What symbols are, said in another way than by the package."""

from __future__ import annotations

import re

from dedupcrawl.core.characters import CJK, SIGNS, TOUCHING, VOWEL_SIGNS
from tools.character_tables import as_class

_SIGN = as_class(SIGNS)
_PART = f"[{CJK}{_SIGN}{VOWEL_SIGNS}]|[^\\W_]"

SYMBOL = re.compile(
    f"[{CJK}{_SIGN}]|(?:[^\\W_{CJK}]|[{VOWEL_SIGNS}])+"
    f"|(?:(?<=[^\\W_])|(?<=[{CJK}{_SIGN}{VOWEL_SIGNS}]))[{TOUCHING}](?!{_PART})"
    f"|(?<![^\\W_])(?<![{CJK}{_SIGN}{VOWEL_SIGNS}])[{TOUCHING}](?={_PART})"
)
"""A symbol in a folded text."""
