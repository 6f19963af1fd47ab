"""Evidence: what differs between a new page and a kept one, not only how much is alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dedupcrawl.content.symbols import SymbolText


@dataclass(frozen=True, slots=True)
class Evidence:
    """Two texts side by side (first version: equal or not)."""

    covered: float
    duplicate: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON values for a verdict."""
        return {"covered": self.covered}


def outline(text: SymbolText) -> bytes:
    """The main text as little-endian uint16: 15 bits of each symbol's hash, and whether it holds a digit."""
    hashes = text.hashes
    return ((hashes >> np.uint64(48)) & np.uint64(0xFFFE) | hashes & np.uint64(1)).astype("<u2").tobytes()


def confirm(new: bytes, kept: bytes) -> Evidence:
    """Compare two outlines."""
    return Evidence(float(new == kept), new == kept)
