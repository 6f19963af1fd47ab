"""Opening a file that may be compressed with gzip, xz or Zstandard."""

from __future__ import annotations

import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

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


class _Content(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def read1(self, size: int, /) -> bytes: ...


class _Bounded:
    """What is in a compressed file, until it has become so large that only a bomb can be the reason.

    Args:
        content: Reads what is in the file.
        file: The file.
    """

    def __init__(self, content: _Content, file: IO[bytes]) -> None:
        self._content = content
        self._file = file
        self._length = 0

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; all when it is negative."""
        if size >= 0:
            return self._counted(self._content.read(size))
        parts = iter(lambda: self._counted(self._content.read(_CHUNK)), b"")
        return b"".join(parts)

    def read1(self, size: int) -> bytes:
        """Some bytes, up to `size`: what came before damage, too; none only at the end."""
        return self._counted(self._content.read1(size))

    def tell(self) -> int:
        """Bytes that were read."""
        return self._length

    def _counted(self, data: bytes) -> bytes:
        self._length += len(data)
        if self._length > _ALLOWED + _RATIO * self._file.tell():
            raise _BombError(f"it becomes more than {_RATIO:,} times as large: unpack it yourself if it is no bomb")
        return data


class _BombError(Exception):
    """A file becomes too large."""


class _Xz:
    """What is in an xz file, of any number of streams. (`lzma.open` has no limit of memory.)"""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._reader = lzma.LZMADecompressor(memlimit=_MEMORY)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, fewer only at the end."""
        parts: list[bytes] = []
        while size > 0 and (data := self.read1(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

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


class UntilDamage:
    """What is in an open log, up to where it cannot be decompressed: there it ends.

    Attributes:
        damage: Why; empty where the log is whole as far as it was read.
    """

    def __init__(self, content: IO[bytes]) -> None:
        self.damage = ""
        self._content = cast("_Content", content)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        parts = list[bytes]()
        try:
            while size > 0 and not self.damage and (data := self._content.read1(min(size, _CHUNK))):
                parts.append(data)
                size -= len(data)
        except _DAMAGE as error:
            self.damage = str(error)
        return b"".join(parts)

    @property
    def problem(self) -> str:
        """Why what is behind the damage is skipped, for a tally; empty where there is none."""
        return self.damage and f"what follows cannot be decompressed ({self.damage})"


@contextmanager
def open_log(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file that may be compressed: (what is in it, the file itself, to ask how far it has been read).

    The compression is told by the first bytes, not by the name. Of what is compressed only `read`, `read1` and `tell`
    are promised. A file that becomes more than 256 MB and 400 times as large, or would take 256 MB of memory, is
    refused.

    Raises:
        LogError: The file cannot be opened, read or decompressed; also while it is being read inside the context.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic.startswith(_GZIP):
                with gzip.open(file) as content:
                    yield _bounded(content, file), file
            elif magic.startswith(_XZ):
                yield _bounded(_Xz(file), file), file
            elif magic.startswith(_ZSTD):
                options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
                with zstd.open(file, options=options) as content:
                    yield _bounded(content, file), file
            else:
                yield file, file
    except (*_DAMAGE, _BombError) as error:
        raise LogError(f"{path} cannot be decompressed ({error}): copy or compress the file again.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}.") from error


def head_of(path: Path, size: int = 65_536) -> bytes:
    """The first `size` bytes of what is in a file, or those before the damage.

    Raises:
        LogError: As `open_log`; of a damaged file if there is nothing before the damage.
    """
    with open_log(path) as (content, _):
        sound = UntilDamage(content)
        head = sound.read(size)
        if sound.damage and not head:
            raise EOFError(sound.damage)
    return head


def _bounded(content: object, file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", _Bounded(cast("_Content", content), file))
