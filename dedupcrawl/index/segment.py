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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.output import PRIVATE, replacing

FAN_OUT = 16
CHUNK_POSTINGS = 1 << 16  # merged at a time: 0.75 MB in, as much out; about a millisecond

NO_KEYS: Keys = np.empty(0, dtype=np.uint64)
NO_IDS: PageIds = np.empty(0, dtype=np.uint32)

Table = tuple[Keys, PageIds]
"""Parallel arrays: keys, ascending, and the page of each."""
Ended = NDArray[np.bool_]
"""Shape (n,): True for the pages of the first n that were replaced or forgotten."""


class Segment(msgspec.Struct, frozen=True):
    """Postings of the records `first` ≤ id < `end`: one Table for each table of the schema."""

    first: int
    end: int
    tables: tuple[Table, ...]

    @property
    def pages(self) -> int:
        """How many records it covers."""
        return self.end - self.first


def sort_table(keys: Keys, ids: PageIds) -> Table:
    """One table in the order of its keys."""
    order = np.argsort(keys)
    return keys[order], ids[order]


def merge_tables(parts: Sequence[Table], left_out: Ended | None, chunk: int = CHUNK_POSTINGS) -> Iterator[Table]:
    """Merge sorted tables into one, about `chunk` postings at a time, without those of pages that are left out.

    Memory stays bounded whatever the keys are: a key with more postings than a chunk is passed on in pieces, none of
    which is empty.
    """
    for keys, ids in _merged(parts, chunk):
        if left_out is not None:
            stays = ~left_out[ids]
            keys, ids = keys[stays], ids[stays]  # noqa: PLW2901  the filtered piece takes the place of the piece
        if keys.size:
            yield keys, ids


def _merged(parts: Sequence[Table], chunk: int) -> Iterator[Table]:
    rest = [part for part in parts if part[0].size]
    while rest:
        share = max(1, chunk // len(rest))
        # No part has more than `share` postings below this key; of the key itself each may have any number.
        bound = min(keys[min(share, keys.size) - 1] for keys, _ in rest)
        starts = [int(keys.searchsorted(bound, side="left")) for keys, _ in rest]
        stops = [int(keys.searchsorted(bound, side="right")) for keys, _ in rest]
        below = np.concatenate([keys[:start] for (keys, _), start in zip(rest, starts, strict=True)])
        order = below.argsort(kind="stable")  # timsort: it merges what is sorted already
        yield below[order], np.concatenate([ids[:start] for (_, ids), start in zip(rest, starts, strict=True)])[order]
        for (keys, ids), start, stop in zip(rest, starts, stops, strict=True):
            for at in range(start, stop, chunk):
                end = min(at + chunk, stop)
                yield keys[at:end], ids[at:end]
        rest = [(keys[stop:], ids[stop:]) for (keys, ids), stop in zip(rest, stops, strict=True) if stop < keys.size]


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
_KEY = np.dtype("<u8")
_ID = np.dtype("<u4")


class SegmentDamagedError(IndexDamagedError):
    """A segment file is not what was written; it can be made again from the journal."""


class Written(msgspec.Struct, frozen=True, array_like=True):
    """What a segment file holds of one table. The file itself does not say."""

    postings: int
    keys_checksum: int
    ids_checksum: int


def write_segment(path: Path, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]) -> list[Written]:
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


def merged(first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]) -> Segment:
    """As `write_segment`, mapped, in a file without a name: no kill leaves it behind, and it goes with its maps."""
    with tempfile.TemporaryFile() as file:
        written = _write(file, None, parts, left_out)
        file.flush()
        return Segment(first, end, _mapped(file.fileno(), Path("merged"), written, is_read=False))


def _write(
    file: IO[bytes], folder: Path | None, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]
) -> list[Written]:
    """The keys of all tables, then the pages of all: where these begin is known when the last key is there."""
    file.write(_MAGIC)
    found = []
    with tempfile.TemporaryFile(dir=folder) as pages:
        for tables, out in zip(parts, left_out, strict=True):
            postings = keys_checksum = ids_checksum = 0
            for keys, ids in merge_tables(tables, out):
                raw_keys, raw_ids = keys.astype(_KEY, copy=False).tobytes(), ids.astype(_ID, copy=False).tobytes()
                keys_checksum, ids_checksum = zlib.crc32(raw_keys, keys_checksum), zlib.crc32(raw_ids, ids_checksum)
                file.write(raw_keys)
                pages.write(raw_ids)
                postings += keys.size
            found.append(Written(postings, keys_checksum, ids_checksum))
        pages.seek(0)
        shutil.copyfileobj(pages, file, 1 << 20)
    return found


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
    keys_at, ids_at = len(_MAGIC), len(_MAGIC) + postings * _KEY.itemsize
    size, expected = os.fstat(fd).st_size, ids_at + postings * _ID.itemsize
    if size != expected:
        raise SegmentDamagedError(f"{path} is {'shorter' if size < expected else 'longer'} than what was written")
    data = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
    if data[: len(_MAGIC)] != _MAGIC:
        raise SegmentDamagedError(f"{path} is no segment of this format")
    tables: list[Table] = []
    for count, *checksums in map(msgspec.structs.astuple, written):
        keys, ids = np.frombuffer(data, _KEY, count, keys_at), np.frombuffer(data, _ID, count, ids_at)
        if is_read and [zlib.crc32(keys.data), zlib.crc32(ids.data)] != checksums:
            raise SegmentDamagedError(f"{path} fails its checksum")
        # On a big-endian machine this copies; elsewhere the arrays are the file.
        tables.append((keys.astype(np.uint64, copy=False), ids.astype(np.uint32, copy=False)))
        keys_at, ids_at = keys_at + count * _KEY.itemsize, ids_at + count * _ID.itemsize
    return tuple(tables)
