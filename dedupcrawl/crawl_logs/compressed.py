"""Opening a file that may be compressed with gzip, xz or Zstandard."""

from __future__ import annotations

import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dedupcrawl.crawl_logs.tally import LogError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"

_RATIO = 400  # bytes that one byte of a file may become: logs of one line repeated reach 300
_ALLOWED = 256 << 20  # bytes that any file may become; gzip makes 1,030 times as much of blank lines
_WINDOW = 27  # Zstandard: a frame may make us hold 2^27 bytes at most, as with `zstd -d`
_MEMORY = 256 << 20  # xz: bytes of its dictionary; `xz -9` takes 65 MiB
_CHUNK = 1 << 20  # bytes that are read at once
_DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zstd.ZstdError, zlib.error)


class _BombError(Exception):
    """A file becomes too large."""


class Content:
    """What is in an open file, up to where it cannot be decompressed: there it ends.

    Args:
        file: The file.
        read1: Reads what is in it: some bytes, up to so many; none only at the end.

    Attributes:
        file: The file itself; `tell` says how far it has been read.
        damage: Why it ends there; None where it is whole as far as it was read.
    """

    def __init__(self, file: IO[bytes], read1: Callable[[int], bytes]) -> None:
        self.file = file
        self.damage: Exception | None = None
        self._read1 = read1
        self._length = 0

    def read(self, size: int = sys.maxsize) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        parts = list[bytes]()
        try:
            while size > 0 and self.damage is None and (data := self._read1(min(size, _CHUNK))):
                parts.append(data)
                size -= len(data)
                self._length += len(data)
                if self._length > _ALLOWED + _RATIO * self.file.tell():  # never so where it is not compressed
                    why = f"it becomes more than {_RATIO:,} times as large: unpack it yourself if it is no bomb"
                    raise _BombError(why)
        except _DAMAGE as error:
            self.damage = error
        return b"".join(parts)

    @property
    def problem(self) -> str:
        """Why what is behind the damage is skipped, for a tally; empty where there is none."""
        return f"what follows cannot be decompressed ({self.damage})" if self.damage is not None else ""


class _Xz:
    """What is in an xz file, of any number of streams. (`lzma.open` has no limit of memory.)"""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._reader = lzma.LZMADecompressor(memlimit=_MEMORY)

    def read1(self, size: int) -> bytes:
        """Some bytes, up to `size`; none only at the end."""
        found = b""
        while not found:
            data = b""
            if self._reader.eof:
                data = self._reader.unused_data.lstrip(b"\0")  # streams may be padded
                while not data:
                    chunk = self._file.read(_CHUNK)
                    if not chunk:
                        return b""
                    data = chunk.lstrip(b"\0")
                self._reader = lzma.LZMADecompressor(memlimit=_MEMORY)
            elif self._reader.needs_input:
                data = self._file.read(_CHUNK)
                if not data:
                    raise EOFError("the file ends before its end")
            found = self._reader.decompress(data, size)
        return found


@contextmanager
def open_log(path: Path) -> Iterator[Content]:
    """Open a file that may be compressed.

    The compression is told by the first bytes, not by the name. A file that becomes more than 256 MB and 400 times as
    large, or would take 256 MB of memory, is refused.

    Raises:
        LogError: The file cannot be opened or read, is refused, or its damage is raised inside the context.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic.startswith(_GZIP):
                with gzip.open(file) as unpacked:
                    yield Content(file, unpacked.read1)
            elif magic.startswith(_XZ):
                yield Content(file, _Xz(file).read1)
            elif magic.startswith(_ZSTD):
                options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
                with zstd.open(file, options=options) as unpacked:
                    yield Content(file, unpacked.read1)
            else:
                yield Content(file, file.read1)
    except (*_DAMAGE, _BombError) as error:
        raise LogError(f"{path} cannot be decompressed ({error}): copy or compress the file again.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}.") from error


def head_of(path: Path, size: int = 65_536) -> bytes:
    """The first `size` bytes of what is in a file, or those before the damage.

    Raises:
        LogError: As `open_log`; of a damaged file if there is nothing before the damage.
    """
    with open_log(path) as content:
        head = content.read(size)
        if content.damage is not None and not head:
            raise content.damage
    return head
