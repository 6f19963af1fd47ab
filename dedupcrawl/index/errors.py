"""How an index fails."""

from __future__ import annotations

import msgspec


class IndexMismatchError(ValueError):
    """The index was made with another format, other features or another version; the message says which and how."""


class IndexDamagedError(Exception):
    """What is stored cannot be what was written; the message says where and what to do."""


class IndexAwayError(OSError):
    """The server of the index cannot be reached now; the message says which and why. It may be back any moment."""

    def __str__(self) -> str:
        """The sentence alone, without a number."""
        return str(self.strerror)


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError)
"""What msgspec raises for bytes that it has not written, or that have changed since."""
