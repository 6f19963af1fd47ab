"""What the core does, in the words of the standard library."""

from __future__ import annotations

import html
import re
import unicodedata

from hypothesis import strategies as st

from dedupcrawl.core.characters import TABLES
from tools.character_tables import INVISIBLE, expands_too_far, simplified

_SIMPLIFIED = simplified()
_PILED = 30

_ranges = TABLES["unassigned"]
_UNASSIGNED = {
    point for first, last in zip(_ranges[::2], _ranges[1::2], strict=True) for point in range(first, last + 1)
}


def is_assigned(character: str) -> bool:
    """Both by this Python's version of Unicode and by that of the tables: versions agree about these."""
    return ord(character) not in _UNASSIGNED and unicodedata.category(character) != "Cn"


ASSIGNED = st.characters(exclude_categories=["Cn"]).filter(is_assigned)
"""Characters, lone surrogates among them."""


def without_piled_marks(text: str) -> str:
    """Of combining characters in a row the first thirty."""
    kept, piled = [], 0
    for one in text:
        piled = piled + 1 if unicodedata.combining(unicodedata.normalize("NFKD", one)[0]) else 0
        if piled <= _PILED:
            kept.append(one)
    return "".join(kept)


def _visible(text: str) -> str:
    return "".join(one for one in text if one not in INVISIBLE)


def folded(text: str) -> str:
    """`characters.fold`, of characters that are assigned."""
    text = without_piled_marks(_visible(text))
    parts = re.split("([\ufdfa\ufdfb])", text)  # they stand for more than six characters, and compose with none
    assert all(expands_too_far(one) == (one in parts[1::2]) for one in set(text))
    normalized = (part if index % 2 else unicodedata.normalize("NFKC", part) for index, part in enumerate(parts))
    return _visible("".join(normalized)).casefold().translate(_SIMPLIFIED)


_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,9}|[xX][0-9a-fA-F]{1,8})|[a-zA-Z][a-zA-Z0-9]{1,31});?")
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


def unescaped(text: str) -> str:
    """`characters.unescape`."""
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), text)


def collapsed(markup: bytes, is_pre: bool) -> str:
    """`characters.collapse`."""
    text = unescaped(markup.decode("utf-8", "replace"))
    return " ".join((_BLANK_LINES.sub("\0", text) if is_pre else text).split())
