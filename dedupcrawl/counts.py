"""How counts and times are said to people."""

from __future__ import annotations

import time


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "page"), counted(1_234, "page"), counted(2, "match")
    ('1 page', '1,234 pages', '2 matches')
    """
    plural = f"{noun}es" if noun.endswith(("s", "ch", "sh", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def megabytes(count: int) -> str:
    """A number of bytes.

    >>> megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


def moment(seconds: float) -> str:
    """A time since the epoch.

    >>> moment(86_400)
    '1970-01-02 00:00 UTC'
    """
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
