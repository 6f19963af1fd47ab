"""Apache Nutch's TextProfileSignature: one digest of a page's frequent words (after its published description).

A token is a run of letters and digits in lower case, longer than `min_token_length`. With m the highest frequency,
QUANT = max(2, round(quant_rate · m)), or 1 where no token stands twice. Frequencies are rounded down to multiples of
QUANT and those below QUANT left out. The rest, sorted by decreasing frequency, is the profile; its MD5 is the
signature, and pages with the same signature are duplicates. Among equal frequencies the order is that of the alphabet,
as Nutch has it since 1.17 (`db.signature.text_profile.sec_sort_lex`).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter

_TOKEN = re.compile(r"[^\W_]+")


def profile(text: str, quant_rate: float = 0.01, min_token_length: int = 2) -> list[tuple[str, int]]:
    """Tokens and their quantized frequencies, the most frequent first."""
    counts = Counter(token for token in _TOKEN.findall(text.lower()) if len(token) > min_token_length)
    most = max(counts.values(), default=0)
    quant = max(math.floor(most * quant_rate + 0.5), 2 if most > 1 else 1)
    kept = ((token, count // quant * quant) for token, count in counts.items() if count >= quant)
    return sorted(kept, key=lambda entry: (-entry[1], entry[0]))


def signature(text: str, quant_rate: float = 0.01, min_token_length: int = 2) -> bytes:
    """The MD5 of the profile; of the text itself where there are no tokens."""
    lines = "\n".join(f"{token} {count}" for token, count in profile(text, quant_rate, min_token_length))
    return hashlib.md5((lines or text).encode(), usedforsecurity=False).digest()
