"""Word lists: `data/words.txt`, which says what each is for."""

from __future__ import annotations

import re
from importlib.resources import files

_, *_PARTS = re.split(
    r"^\[(\w+)\] .*\n", (files("dedupcrawl.content") / "data" / "words.txt").read_text("utf-8"), flags=re.MULTILINE
)
WORDS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
"""Name of a list → its words, with white space between them."""

STOP_WORDS = frozenset(WORDS["stop"].split())
