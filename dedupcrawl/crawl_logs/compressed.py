"""Opening a file that may be compressed with gzip, xz or Zstandard."""

from __future__ import annotations

import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from dedupcrawl.crawl_logs.tally import LogError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


@contextmanager
def open_log(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file that may be compressed: (what is in it, the file itself, to ask how far it has been read).

    The compression is told by the first bytes, not by the name.

    Raises:
        LogError: The file cannot be opened, read or decompressed; also while it is being read inside the context.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic.startswith(_GZIP):
                with gzip.open(file) as content:
                    yield cast("IO[bytes]", content), file
            elif magic.startswith(_XZ):
                with lzma.open(file) as content:
                    yield content, file
            elif magic.startswith(_ZSTD):
                with zstd.open(file) as content:
                    yield cast("IO[bytes]", content), file
            else:
                yield file, file
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zstd.ZstdError, zlib.error) as error:
        raise LogError(f"{path} cannot be decompressed ({error}): copy or compress the file again.") from error
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}.") from error


def head_of(path: Path, size: int = 65_536) -> bytes:
    """The first `size` bytes of what is in a file.

    Raises:
        LogError: As `open_log`.
    """
    with open_log(path) as (content, _):
        return content.read(size)
