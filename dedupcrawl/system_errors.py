"""Explain in words why the operating system cannot use a file, and what to do about it."""

from __future__ import annotations

import errno
import os

_ROOM = "make room there, or name a place on another disk"
_RIGHT = "give this user the right to it, or name another place"
_ADVICE = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "name a place whose file system takes larger files",
    errno.EIO: _ROOM,  # also a write that was cut short, or a disk that fails
    errno.EACCES: _RIGHT,
    errno.EPERM: _RIGHT,
    errno.EROFS: "name a place that may be written to",
    errno.EMFILE: "raise the limit of open files of a process (ulimit -n)",
    errno.ENFILE: "raise the system's limit of open files, or end other programs",
    errno.ENAMETOOLONG: "take a shorter name",
    errno.ENOENT: "check its path",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a path that leads through folders only",
    errno.EEXIST: "name another place",
    errno.ELOOP: "name the file that these links should lead to",
    errno.ENOMEM: "end other programs, or raise the limit of memory of a process (ulimit -v)",
}


def cause(error: OSError) -> str:
    """What went wrong, without error number and file name; for the system's own errors also what to do.

    >>> cause(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    'No space left on device; make room there, or name a place on another disk'
    """
    said = error.strerror or str(error)
    return with_advice(error.errno) if error.errno in _ADVICE and said == os.strerror(error.errno) else said


def with_advice(code: int) -> str:
    """The system's message for this error number, and what to do."""
    said, advice = os.strerror(code), _ADVICE.get(code)
    return f"{said}; {advice}" if advice else said


def with_file(error: OSError) -> str:
    """The `cause`, preceded by the name of the file if the error has one."""
    return cause(error) if error.filename is None else f"{error.filename}: {cause(error)}"
