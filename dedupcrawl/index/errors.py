"""How an index fails."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import lmdb
import msgspec

from dedupcrawl.system_errors import with_advice


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

_DAMAGE = (
    *(lmdb.CorruptedError, lmdb.InvalidError, lmdb.PageNotFoundError, lmdb.PanicError, lmdb.VersionMismatchError),
    lmdb.BadTxnError,  # what a transaction says after it has met a damaged page
)

_A_FILE = (errno.EEXIST, errno.ENOTDIR)


def explained(error: lmdb.Error | OSError | IndexDamagedError, path: Path) -> Exception:
    """What LMDB, the file system or a record reports, as one sentence that says where, and what to do.

    One that names "the index at" the path says that already.
    """
    if isinstance(error, IndexDamagedError) and f"the index at {path}" in str(error):
        return error
    if isinstance(error, (IndexDamagedError, *_DAMAGE)):
        return IndexDamagedError(f"the index at {path} is damaged ({error}): delete that folder, or bring back a copy")
    code = error.errno if isinstance(error, OSError) else _errno(error)
    if code is None:
        return OSError(f"the index at {path} cannot be used: {error}")
    if code in _A_FILE:
        return ValueError(f"the index at {path} cannot be used: it must be a folder, and there is a file")
    return OSError(code, f"the index at {path} cannot be used: {with_advice(code)}")


def _errno(error: lmdb.Error) -> int | None:
    """The system's error number, where it was the system's: the words of it end the message, in every py-lmdb."""
    return next((code for code in errno.errorcode if str(error).endswith(os.strerror(code))), None)
