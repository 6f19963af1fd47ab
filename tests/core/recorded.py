"""What the core made of inputs that a seed makes, when a reference in plain Python made the same of each.

`RECORD=1 python -m pytest tests/core` writes down what it makes now: after a change that is meant to change it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from textwrap import wrap

_FILE = Path(__file__).with_name("recorded.json")
_DIGITS = 4  # of each digest


def changed(name: str, found: Iterable[object]) -> list[int]:
    """The numbers of those that are not as they were recorded under this name; each is anything that JSON can hold."""
    texts = (json.dumps(one, default=bytes.hex).encode() for one in found)
    digests = [blake2b(text, digest_size=_DIGITS // 2).hexdigest() for text in texts]
    known = json.loads(_FILE.read_text(encoding="utf-8"))
    if os.environ.get("RECORD"):
        known[name] = wrap("".join(digests), 112)
        _FILE.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    before = wrap("".join(known[name]), _DIGITS)
    assert len(before) == len(digests)
    return [number for number, (one, other) in enumerate(zip(digests, before, strict=True)) if one != other]
