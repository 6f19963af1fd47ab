"""What a terminal shows."""

from __future__ import annotations

from dedupcrawl.printable import printable

__all__ = ["printable"]
