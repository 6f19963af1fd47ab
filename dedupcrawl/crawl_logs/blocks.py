"""Read a log, which may be compressed, as blocks of whole lines in UTF-8, in bounded memory whatever it contains."""

from __future__ import annotations

import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote

from dedupcrawl.crawl_logs.tally import LogError, Tally, Unread
from dedupcrawl.system_errors import cause
from dedupcrawl.zstandard import zstd

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"

_RATIO = 400  # highest accepted compression ratio: a log of one repeated line reaches 300
_ALLOWED = 256 << 20  # bytes that any file may unpack to; gzip compresses blank lines by a factor of 1,030
_WINDOW = 27  # Zstandard: a frame may need a window of 2^27 bytes at most, as with `zstd -d`
_MEMORY = 256 << 20  # xz: most bytes of memory; `xz -9` takes 65 MiB
_CHUNK = 1 << 20  # most bytes that are read at once
_DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zstd.ZstdError, zlib.error)


_AGAIN = "copy or compress the file again"
_OF_ALL = ("CRC check", "Incorrect length")  # gzip's errors about all that was read so far begin like this


def _damage(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the file was cut off there"
    if str(error).startswith(_OF_ALL):
        return f"its checksum is wrong, so rows before may be damaged as well ({error})"
    return f"the file is damaged there ({error})"


class _BombError(Exception):
    """A file unpacks to too many bytes."""


class Content:
    """The decompressed content of an open file, up to where it cannot be decompressed: `damage` is the error.

    `read1` reads decompressed bytes, at most a given number, and returns none only at the end. The tally gets the
    position up to which the file was read.
    """

    def __init__(self, file: IO[bytes], read1: Callable[[int], bytes], tally: Tally) -> None:
        self.damage: Exception | None = None
        self._file, self._read1 = file, read1
        self._tally, self._read_before = tally, tally.bytes_read
        self._length = 0

    def read(self, size: int = sys.maxsize) -> bytes:
        """Read `size` bytes; fewer only at the end."""
        parts = list[bytes]()
        try:
            while size > 0 and self.damage is None and (data := self._read1(min(size, _CHUNK))):
                parts.append(data)
                size -= len(data)
                self._length += len(data)
                if self._length > _ALLOWED + _RATIO * self._file.tell():  # never true for a plain file
                    why = f"it becomes more than {_RATIO:,} times as large: unpack it yourself if it is no bomb"
                    raise _BombError(why)
        except _DAMAGE as error:
            self.damage = error
        self._tally.bytes_read = self._read_before + self._file.tell()
        return b"".join(parts)

    def tell(self, path: Path, start: int, unit: str = "line") -> None:
        """Record in the tally that a damaged file was not read from the `unit` number `start` on."""
        if self.damage is not None:
            self._tally.unread.append(Unread(str(path), start, f"{_damage(self.damage)}; {_AGAIN}", unit))


class _Xz:
    """Decompresses an xz file with any number of streams, in limited memory, which `lzma.open` cannot do."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._reader = lzma.LZMADecompressor(memlimit=_MEMORY)

    def read1(self, size: int) -> bytes:
        """Read at most `size` bytes; returns none only at the end."""
        piece = b""
        while not piece:
            data = b""
            if self._reader.eof:
                data = self._reader.unused_data.lstrip(b"\0")  # there may be padding between streams
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
            piece = self._reader.decompress(data, size)
        return piece


@contextmanager
def open_log(path: Path, tally: Tally) -> Iterator[Content]:
    """Open a file that may be compressed; the tally gets the position up to which it was read.

    The first bytes decide on the compression, not the name. The function refuses a file that unpacks to more than 256
    MB plus 400 times its size, or would take 256 MB of memory.

    Raises:
        LogError: The file cannot be opened or read, or is refused, or the caller raised its damage in the context.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic.startswith(GZIP):
                with gzip.open(file) as unpacked:
                    yield Content(file, unpacked.read1, tally)
            elif magic.startswith(XZ):
                yield Content(file, _Xz(file).read1, tally)
            elif magic.startswith(ZSTD):
                options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
                with zstd.open(file, options=options) as unpacked:
                    yield Content(file, unpacked.read1, tally)
            else:
                yield Content(file, file.read1, tally)
    except (*_DAMAGE, _BombError) as error:
        raise LogError(f"{path} cannot be decompressed ({error}): {_AGAIN}.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read: {cause(error)}.") from error


def head_of(path: Path, size: int = 65_536) -> bytes:
    """The first `size` bytes of a file's content, or those before the damage.

    Raises:
        LogError: See `open_log`; a file is also refused if it is damaged from its beginning.
    """
    with open_log(path, Tally()) as content:
        head = content.read(size)
        if content.damage is not None and not head:
            raise content.damage
    return head


_STRAY_BYTES = re.compile("[\udc80-\udcff]+")  # bytes that are not UTF-8, as "surrogateescape" decodes them


def utf8(data: bytes) -> bytes:
    r"""Percent-encode the bytes that are not UTF-8, so that different URLs stay different.

    >>> utf8(b"http://a.com/caf\xe9"), utf8("café".encode()).decode()
    (b'http://a.com/caf%E9', 'café')
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return _STRAY_BYTES.sub(lambda stray: quote(stray[0], errors="surrogateescape"), text).encode()
    return data


_FIRST_LINES = 3  # lines by which a format is recognized: the first may be the end of a line that was cut
_BLOCK_BYTES = 7 << 20  # about 30,000 rows; 16 MB would take 50 MB more memory
_BLOCK_LINES = 1 << 20  # readers of blocks take memory by the line; a block with more lines is cut …
_PIECE_BYTES = 1 << 20  # … into pieces of this many bytes, or one line
LINE_LIMIT = 8 << 20
"""Most bytes of a line. A longer one is left out, because a file without line ends would fill the memory."""

_TEXT_OF_LINE = re.compile(rb"\S[^\n]*")


class LineBlock(NamedTuple):
    """Whole lines of a log, each with its line end; `first_line` is a 1-based number."""

    first_line: int
    data: bytes

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """Number and text of each line that is not blank, without leading blanks."""
        number, counted = self.first_line, 0
        for match in _TEXT_OF_LINE.finditer(self.data):  # so millions of blank lines cost hardly anything
            number += self.data.count(b"\n", counted, match.start())
            counted = match.start()
            yield number, match[0]


def line_blocks(path: Path, tally: Tally, *, blanks: bool = False, sound: bool = True) -> Iterator[LineBlock]:
    """Read all lines of a log in blocks of a few megabytes.

    Blocks of nothing but blanks are left out, unless `blanks`. Bytes that are not UTF-8 are percent-encoded if `sound`.
    A byte order mark is dropped, and a line over 8 MiB is left out and counted. If a compressed log was cut off or is
    damaged, the complete lines before the damage are read, and the tally gets the number of the next line.
    """
    with open_log(path, tally) as content:
        line, rest = 1, b""
        while True:
            # The text after the last line end is a line, too, unless damage cut it off.
            chunk = content.read(_BLOCK_BYTES) or (b"\n" if rest and content.damage is None else b"")
            if not chunk:
                break
            if line == 1 and not rest:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
            data = rest + chunk
            end = data.rfind(b"\n") + 1
            rest = data[end : end + LINE_LIMIT + 1]  # for a line that is too long, just enough to show it
            lines = data.count(b"\n")
            for block in _blocks(line, data[:end], lines, str(path), tally):
                if blanks or not block.data.isspace():
                    yield block._replace(data=utf8(block.data)) if sound else block
            line += lines
        content.tell(path, line)


def _blocks(line: int, data: bytes, lines: int, path: str, tally: Tally) -> Iterator[LineBlock]:
    """Cut `data`, which begins with line number `line` and has `lines` lines, into blocks without overlong lines."""
    size = LINE_LIMIT + 1 if lines <= _BLOCK_LINES else _PIECE_BYTES
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start) + 1
        piece = data[start:end]
        if len(piece) > LINE_LIMIT + 1:  # it is a single line: several would have been cut
            skip_long_line(tally, path, line)
        else:
            yield LineBlock(line, piece)
        line += piece.count(b"\n")
        start = end


def first_lines(head: bytes) -> list[bytes]:
    """The first few lines of `head` that are not blank, stripped; one empty line if there are none."""
    texts = (match[0].rstrip() for match in _TEXT_OF_LINE.finditer(head))
    return list(islice(texts, _FIRST_LINES)) or [b""]


def skip_long_line(tally: Tally, path: str, line: int) -> None:
    """Count a line of more than `LINE_LIMIT` bytes."""
    tally.skip(path, f"line longer than {LINE_LIMIT} bytes", 1, [line])
