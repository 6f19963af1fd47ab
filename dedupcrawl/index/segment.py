"""Segments: immutable sorted postings of a contiguous range of page ids, and how several are merged into one.

The index is a log-structured merge tree (O'Neil et al. 1996) with levelled merging: level l holds at most
BATCH_PAGES · FAN_OUT^(l+1) pages in one segment, so a search asks a handful of segments however many pages there are,
and a posting is rewritten about FAN_OUT / 2 times a level.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.core.postings import Merge
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.output import PRIVATE, replacing

FAN_OUT = 16  # of the merge tree, see above; set by hand
CHUNK_POSTINGS = 1 << 16  # merged at a time: 0.75 MB in, as much out; about a millisecond

Numbers: TypeAlias = "array[int] | memoryview[int]"
Table: TypeAlias = tuple[Numbers, Numbers]
"""Keys of type "Q", ascending, and the page of each, of type "I"."""
Ended: TypeAlias = bytes
"""A flag for each of the first pages: of those that were replaced or forgotten."""


class Segment(msgspec.Struct, frozen=True):
    """Postings of the records `first` ≤ id < `end`: one Table for each table of the schema."""

    first: int
    end: int
    tables: tuple[Table, ...]

    @property
    def pages(self) -> int:
        """How many records it covers."""
        return self.end - self.first


def merge_tables(parts: Sequence[Table], left_out: Ended, chunk: int = CHUNK_POSTINGS) -> Iterator[tuple[Keys, Keys]]:
    """Merge sorted tables into one, `chunk` postings at a time, without those of pages that are left out.

    Memory stays bounded whatever the keys are. No piece is empty.
    """
    merge = Merge(list(parts), left_out)
    while (piece := merge.piece(chunk))[0]:
        yield piece


def merge_from(sizes: Sequence[int], new: int, batch_pages: int) -> int:
    """How many segments stay, the oldest, when the others become one with `new` pages, so that no level holds two.

    `sizes` are the pages of the segments, oldest first.
    """
    stay = len(sizes)
    while stay and _level(sizes[stay - 1], batch_pages) <= _level(new, batch_pages):
        stay -= 1
        new += sizes[stay]
    return stay


def _level(pages: int, batch_pages: int) -> int:
    level = 0
    while pages > batch_pages * FAN_OUT ** (level + 1):
        level += 1
    return level


SUFFIX = ".segment"

_MAGIC = b"DEDUPSG2"  # before the arrays: no file is empty, for that could not be mapped
_KEY_BYTES, _ID_BYTES = 8, 4  # in the order of the machine: an index is read where it was written, or on one like it


class SegmentDamagedError(IndexDamagedError):
    """A segment file is not what was written; it can be made again from the journal."""


class Written(msgspec.Struct, frozen=True, array_like=True):
    """What a segment file holds of one table. The file itself does not say."""

    postings: int
    keys_checksum: int
    ids_checksum: int


def write_segment(path: Path, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended]) -> list[Written]:
    """Merge sorted tables into a segment file, in bounded memory, and sync it to disk before it gets its name.

    After any error, such as an OSError when the disk is full or the folder gone, nothing is left under that name.

    Args:
        path: The file to make.
        parts: For each table of the schema the sorted tables to merge.
        left_out: For each table the pages whose postings are left out.

    Returns:
        For each table what `open_segment` has to know.

    Raises:
        OSError: The disk is full or the folder is gone.
    """
    with replacing(path, PRIVATE) as file:
        written = _write(file, path.parent, parts, left_out)
        file.flush()
        os.fsync(file.fileno())
    return written


def merged(first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended]) -> Segment:
    """As `write_segment`, mapped, in a file without a name: no kill leaves it behind, and it goes with its maps."""
    with tempfile.TemporaryFile() as file:
        written = _write(file, None, parts, left_out)
        file.flush()
        return Segment(first, end, _mapped(file.fileno(), Path("merged"), written, is_read=False))


def _write(
    file: IO[bytes], folder: Path | None, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended]
) -> list[Written]:
    """The keys of all tables, then the pages of all: where these begin is known when the last key is there."""
    file.write(_MAGIC)
    pieces = []
    with tempfile.TemporaryFile(dir=folder) as pages:
        for tables, out in zip(parts, left_out, strict=True):
            postings = keys_checksum = ids_checksum = 0
            for keys, ids in merge_tables(tables, out):
                keys_checksum, ids_checksum = zlib.crc32(keys, keys_checksum), zlib.crc32(ids, ids_checksum)
                file.write(keys)
                pages.write(ids)
                postings += len(keys)
            pieces.append(Written(postings, keys_checksum, ids_checksum))
        pages.seek(0)
        shutil.copyfileobj(pages, file, 1 << 20)
    return pieces


def open_segment(path: Path, written: Sequence[Written], *, is_read: bool = False) -> tuple[Table, ...]:
    """Map the tables of a file; its length is checked, and its checksums, some gigabytes a second, if `is_read`.

    Raises:
        FileNotFoundError: There is no such file; another process may have merged it.
        SegmentDamagedError: It is not so long; or, where it is read, not what was written.
    """
    with open(path, "rb") as file:
        return _mapped(file.fileno(), path, written, is_read=is_read)


def _mapped(fd: int, path: Path, written: Sequence[Written], *, is_read: bool) -> tuple[Table, ...]:
    postings = sum(of_table.postings for of_table in written)
    keys_at, ids_at = len(_MAGIC), len(_MAGIC) + postings * _KEY_BYTES
    size, expected = os.fstat(fd).st_size, ids_at + postings * _ID_BYTES
    if size != expected:
        raise SegmentDamagedError(f"{path} is {'shorter' if size < expected else 'longer'} than what was written")
    data = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
    if data[: len(_MAGIC)] != _MAGIC:
        raise SegmentDamagedError(f"{path} is no segment of this format")
    whole, tables = memoryview(data), list[Table]()
    for count, *checksums in map(msgspec.structs.astuple, written):
        keys, ids = whole[keys_at : keys_at + count * _KEY_BYTES], whole[ids_at : ids_at + count * _ID_BYTES]
        if is_read and [zlib.crc32(keys), zlib.crc32(ids)] != checksums:
            raise SegmentDamagedError(f"{path} fails its checksum")
        tables.append((keys.cast("Q"), ids.cast("I")))
        keys_at, ids_at = keys_at + len(keys), ids_at + len(ids)
    return tuple(tables)
