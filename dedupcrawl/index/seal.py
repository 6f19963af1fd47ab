"""The checksum ("seal") of an index in a folder: it covers the journal as long as nobody writes to that.

LMDB has no checksums: a changed byte of its tree is a missing row, another row's value, or an assertion that ends the
process. So whoever closes an index last writes the length and the CRC-32 of the journal into the file that users lock.
Before the journal is written to again, that file is emptied and synced to disk. If there is a checksum, the journal
matches it or is damaged; without one, after a kill or during a crawl, nothing can be said.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

from dedupcrawl.index.errors import IndexDamagedError, explained

USERS = "users.lock"
_LAYOUT = struct.Struct("<QI")  # length in bytes, their CRC-32; behind it the CRC-32 of these
_LONGEST = 1 << 30  # bytes of a journal that is sealed: 256 MB in the page cache took 0.07 s of CPU
_AT_ONCE = 1 << 20  # bytes


def check_seal(folder: Path) -> bool:
    """Whether the journal in a folder is sealed; a seal that cannot be read is none.

    Raises:
        IndexDamagedError: It is not what was sealed.
    """
    while (folder / "data.mdb").exists() and (sealed := _sealed(folder)):  # else the journal says that it is gone
        if _seal_of(folder, _LAYOUT.unpack_from(sealed)[0]) == sealed:
            return True
        if _sealed(folder) == sealed:  # else somebody has begun to write meanwhile
            raise explained(IndexDamagedError("data.mdb is not what it was when the index was closed"), folder)
    return False


def seal(users: int, folder: Path, length: int) -> None:
    """Seal so many bytes, which must be on disk, unless they are too many, or sealed; nobody else may use the index.

    Args:
        users: The open file USERS of the folder.
        folder: Where the index lies.
        length: In bytes.

    Raises:
        OSError: The disk is full.
    """
    if length <= _LONGEST and not _sealed(folder):
        os.ftruncate(users, 0)
        os.pwrite(users, _seal_of(folder, length), 0)


def unseal(users: int) -> None:
    """Remove the seal: the journal is going to be written to.

    Raises:
        OSError: It cannot be removed.
    """
    if os.fstat(users).st_size:
        os.ftruncate(users, 0)
        os.fsync(users)  # else a power cut could bring it back


def _sealed(folder: Path) -> bytes:
    """The seal; empty where there is none."""
    with suppress(FileNotFoundError, NotADirectoryError):  # which the journal explains
        content = (folder / USERS).read_bytes()
        if _checked(content[: _LAYOUT.size]) == content:
            return content
    return b""


def _seal_of(folder: Path, length: int) -> bytes:
    """The seal of the first bytes of the journal; empty where there are not so many."""
    checksum, left = 0, length
    with suppress(FileNotFoundError), open(folder / "data.mdb", "rb") as file:
        while left and (some := file.read(min(left, _AT_ONCE))):
            checksum = zlib.crc32(some, checksum)
            left -= len(some)
    return b"" if left else _checked(_LAYOUT.pack(length, checksum))


def _checked(content: bytes) -> bytes:
    return content + zlib.crc32(content).to_bytes(4, "little")
