"""Segments: immutable sorted postings of a contiguous range of page ids, and how several are merged into one.

The index is a log-structured merge tree (O'Neil et al. 1996) with levelled merging: level l holds at most
BATCH_PAGES · FAN_OUT^(l+1) pages in one segment, so a search asks a handful of segments however many pages there are,
and a posting is rewritten about FAN_OUT / 2 times a level.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError

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

    Memory stays bounded whatever the keys are: a key with more postings than a chunk is passed on piecewise. No piece
    is empty.
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
        # No part has more than `share` postings below this key.
        bound = min(keys[min(share, keys.size) - 1] for keys, _ in rest)
        stops = [int(keys.searchsorted(bound, side="right")) for keys, _ in rest]
        if sum(stops) <= 2 * chunk:
            yield _sorted_union([(keys[:stop], ids[:stop]) for (keys, ids), stop in zip(rest, stops, strict=True)])
        else:
            starts = [int(keys.searchsorted(bound, side="left")) for keys, _ in rest]
            yield _sorted_union([(keys[:start], ids[:start]) for (keys, ids), start in zip(rest, starts, strict=True)])
            for (keys, ids), start, stop in zip(rest, starts, stops, strict=True):
                for at in range(start, stop, chunk):
                    end = min(at + chunk, stop)
                    yield keys[at:end], ids[at:end]
        rest = [(keys[stop:], ids[stop:]) for (keys, ids), stop in zip(rest, stops, strict=True) if stop < keys.size]


def _sorted_union(parts: Sequence[Table]) -> Table:
    parts = [part for part in parts if part[0].size] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    keys = np.concatenate([part[0] for part in parts])
    order = np.argsort(keys, kind="stable")  # timsort: it merges what is sorted already
    return keys[order], np.concatenate([part[1] for part in parts])[order]


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

_MAGIC = b"DEDUPSG1"
_TRAILER = struct.Struct("<II8s")  # footer length, footer checksum, magic
_KEY = np.dtype("<u8")
_ID = np.dtype("<u4")


class SegmentDamagedError(IndexDamagedError):
    """A segment file is not what was written; it can be made again from the journal."""


class _TableFooter(msgspec.Struct, frozen=True, array_like=True):
    postings: int
    keys_checksum: int
    ids_checksum: int


class _Footer(msgspec.Struct, frozen=True, array_like=True):
    first: int
    end: int
    tables: tuple[_TableFooter, ...]


def write_segment(
    path: Path, first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]
) -> None:
    """Merge sorted tables into a segment file, in bounded memory, and bring it to disk before it takes its name.

    On any error, an OSError where the disk is full or the folder gone, nothing is left under that name.

    Args:
        path: The file to make.
        first: Id of the first record that is covered.
        end: Id after the last one.
        parts: For each table of the schema the sorted tables to merge.
        left_out: For each table the pages whose postings are left out.

    Raises:
        OSError: The disk is full or the folder is gone.
    """
    unfinished = path.with_suffix(".tmp")
    try:
        with open(unfinished, "wb", buffering=0) as file:
            _write(file.fileno(), first, end, parts, left_out)
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def merged(first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]) -> Segment:
    """As `write_segment`, mapped, in a file without a name: no kill leaves it behind, and it goes with its maps."""
    with tempfile.TemporaryFile(buffering=0) as file:
        _write(file.fileno(), first, end, parts, left_out)
        return _mapped(file.fileno(), Path("merged"), is_read=False)


def _write(fd: int, first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Ended | None]) -> None:
    os.pwrite(fd, _MAGIC, 0)
    at = len(_MAGIC)
    footers = []
    for tables, out in zip(parts, left_out, strict=True):
        postings = sum(_count(ids, out) for _, ids in tables)
        ids_at = at + postings * _KEY.itemsize
        footers.append(_write_table(fd, at, ids_at, merge_tables(tables, out), postings))
        at = _after(ids_at, postings)
    footer = msgspec.msgpack.encode(_Footer(first, end, tuple(footers)))
    write_all(fd, footer + _TRAILER.pack(len(footer), zlib.crc32(footer), _MAGIC), at)


def _count(ids: PageIds, left_out: Ended | None) -> int:
    """How many postings are not left out, in bounded memory."""
    if left_out is None:
        return ids.size
    chunks = (ids[at : at + CHUNK_POSTINGS] for at in range(0, ids.size, CHUNK_POSTINGS))
    return sum(int(np.count_nonzero(~left_out[chunk])) for chunk in chunks)


def _write_table(fd: int, keys_at: int, ids_at: int, pieces: Iterable[Table], postings: int) -> _TableFooter:
    keys_checksum = ids_checksum = 0
    for keys, ids in pieces:
        raw_keys, raw_ids = keys.astype(_KEY, copy=False).tobytes(), ids.astype(_ID, copy=False).tobytes()
        keys_checksum, ids_checksum = zlib.crc32(raw_keys, keys_checksum), zlib.crc32(raw_ids, ids_checksum)
        keys_at, ids_at = write_all(fd, raw_keys, keys_at), write_all(fd, raw_ids, ids_at)
    return _TableFooter(postings, keys_checksum, ids_checksum)


def write_all(fd: int, data: bytes, at: int) -> int:
    """Write at an offset, whatever the kernel takes at a time; returns the offset after it."""
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, at)
        at, view = at + done, view[done:]
    return at


def _after(ids_at: int, postings: int) -> int:
    """Where the next table starts: its keys are aligned to 8 bytes."""
    return (ids_at + postings * _ID.itemsize + 7) // 8 * 8


def open_segment(path: Path, *, is_read: bool = False) -> Segment:
    """Map a segment file; its footer and length are checked, and its checksums, some gigabytes a second, if `is_read`.

    Raises:
        FileNotFoundError: There is no such file; another process may have merged it.
        SegmentDamagedError: It is no segment, or was cut; or, where it is read, not what was written.
    """
    with open(path, "rb") as file:
        return _mapped(file.fileno(), path, is_read=is_read)


def _mapped(fd: int, path: Path, *, is_read: bool) -> Segment:
    try:
        data = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
    except ValueError:  # an empty file
        raise SegmentDamagedError(f"{path} is empty") from None
    footer, footer_at = _read_footer(path, data)
    tables: list[Table] = []
    at = len(_MAGIC)
    for table in footer.tables:
        ids_at = at + table.postings * _KEY.itemsize
        after = _after(ids_at, table.postings)
        if table.postings < 0 or after > footer_at:
            raise SegmentDamagedError(f"{path} is shorter than its footer says")
        # On a big-endian machine this copies; elsewhere the arrays are the file.
        keys: Keys = np.frombuffer(data, _KEY, table.postings, at).astype(np.uint64, copy=False)
        ids: PageIds = np.frombuffer(data, _ID, table.postings, ids_at).astype(np.uint32, copy=False)
        if is_read and (_checksum(keys, _KEY), _checksum(ids, _ID)) != (table.keys_checksum, table.ids_checksum):
            raise SegmentDamagedError(f"{path} fails its checksum")
        tables.append((keys, ids))
        at = after
    if at != footer_at:
        raise SegmentDamagedError(f"{path} is longer than its footer says")
    return Segment(footer.first, footer.end, tuple(tables))


def _checksum(array: Keys | PageIds, dtype: np.dtype[np.uint64] | np.dtype[np.uint32]) -> int:
    value = 0
    for at in range(0, array.size, CHUNK_POSTINGS):
        value = zlib.crc32(array[at : at + CHUNK_POSTINGS].astype(dtype, copy=False).tobytes(), value)
    return value


def _read_footer(path: Path, data: mmap.mmap) -> tuple[_Footer, int]:
    """The footer and where it starts."""
    if len(data) < len(_MAGIC) + _TRAILER.size or data[: len(_MAGIC)] != _MAGIC:
        raise SegmentDamagedError(f"{path} is no segment of this format")
    length, checksum, magic = _TRAILER.unpack(data[-_TRAILER.size :])
    start = len(data) - _TRAILER.size - length
    if magic != _MAGIC or start < len(_MAGIC):
        raise SegmentDamagedError(f"{path} was cut or overwritten at its end")
    raw = data[start : start + length]
    if zlib.crc32(raw) != checksum:
        raise SegmentDamagedError(f"the footer of {path} fails its checksum")
    try:
        return msgspec.msgpack.decode(raw, type=_Footer), start
    except UNREADABLE as error:  # the checksum of nothing is 0
        raise SegmentDamagedError(f"the footer of {path} cannot be read: {error}") from None
