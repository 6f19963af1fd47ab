"""Locks on files, which their process loses when it ends, however that may be."""

from __future__ import annotations

import fcntl
from pathlib import Path


def is_locked(file: int) -> bool:
    """Whether another process has the lock on this open file; else this one has, from now on."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def is_held(path: Path) -> bool:
    """Whether some process holds the lock on this file."""
    try:
        with open(path, "r+b") as file:
            return is_locked(file.fileno())
    except FileNotFoundError:
        return False
