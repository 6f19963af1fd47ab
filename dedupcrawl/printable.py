"""Text of strangers, made fit to be shown to people."""

from __future__ import annotations

import unicodedata

_LIMIT = 2_000  # characters of one value


def printable(text: str) -> str:
    r"""`text` in one line, without what a terminal or a browser would obey (escape sequences, direction overrides).

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    cut = text if len(text) <= _LIMIT else text[:_LIMIT] + "…"
    return "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else ascii(c)[1:-1] for c in cut)
