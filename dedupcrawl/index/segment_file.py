"""Segments on disk: written once, mapped read-only, checked by checksums, removed when merged into a larger one.

Layout, little-endian: magic, then for each table its keys (8 bytes a posting) and its page ids (4 bytes a posting,
padded to 8), then a msgpack footer (first, end, and for each table: postings, CRC-32 of the keys, CRC-32 of the ids),
the footer's length and CRC-32, and the magic again. A reader that has mapped a file keeps it though it is unlinked.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from dedupcrawl.content.checks.base import Keys, PageIds
from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.segment import CHUNK_POSTINGS, Dropped, Segment, Table, merge_tables

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
    path: Path, first: int, end: int, parts: Sequence[Sequence[Table]], left_out: Sequence[Dropped | None]
) -> None:
    """Merge sorted tables into a segment file, in bounded memory, and bring it to disk before it takes its name.

    Args:
        path: The file to make; on any error nothing is left under this name.
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
            fd = file.fileno()
            os.pwrite(fd, _MAGIC, 0)
            at = len(_MAGIC)
            footers = []
            for tables, out in zip(parts, left_out, strict=True):
                postings = sum(keys.size for keys, _ in tables) - (out.count(tables) if out else 0)
                ids_at = at + postings * _KEY.itemsize
                footers.append(_write_table(fd, at, ids_at, merge_tables(tables, out), postings))
                at = _after(ids_at, postings)
            footer = msgspec.msgpack.encode(_Footer(first, end, tuple(footers)))
            _write_all(fd, footer + _TRAILER.pack(len(footer), zlib.crc32(footer), _MAGIC), at)
            os.fsync(fd)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_table(fd: int, keys_at: int, ids_at: int, pieces: Iterable[Table], postings: int) -> _TableFooter:
    keys_checksum = ids_checksum = 0
    for keys, ids in pieces:
        raw_keys, raw_ids = keys.astype(_KEY, copy=False).tobytes(), ids.astype(_ID, copy=False).tobytes()
        keys_checksum, ids_checksum = zlib.crc32(raw_keys, keys_checksum), zlib.crc32(raw_ids, ids_checksum)
        keys_at, ids_at = _write_all(fd, raw_keys, keys_at), _write_all(fd, raw_ids, ids_at)
    return _TableFooter(postings, keys_checksum, ids_checksum)


def _write_all(fd: int, data: bytes, at: int) -> int:
    """Write at an offset, whatever the kernel takes at a time; returns the offset after it."""
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, at)
        at, view = at + done, view[done:]
    return at


def _after(ids_at: int, postings: int) -> int:
    """Where the next table starts: its keys are aligned to 8 bytes."""
    return (ids_at + postings * _ID.itemsize + 7) // 8 * 8


def open_segment(path: Path) -> Segment:
    """Map a segment file; its footer and length are checked, its postings are not (see `verify_segment`).

    Raises:
        FileNotFoundError: There is no such file; another process may have merged it.
        SegmentDamagedError: It is no segment, or was cut.
    """
    with open(path, "rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
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
        tables.append((keys, ids))
        at = after
    if at != footer_at:
        raise SegmentDamagedError(f"{path} is longer than its footer says")
    return Segment(footer.first, footer.end, tuple(tables))


def verify_segment(path: Path) -> None:
    """Read a whole segment file and compare its checksums, at some gigabytes a second.

    Raises:
        FileNotFoundError: There is no such file.
        SegmentDamagedError: It is not what was written.
    """
    segment = open_segment(path)
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        footer, _ = _read_footer(path, data)
    for (keys, ids), table in zip(segment.tables, footer.tables, strict=True):
        if _checksum(keys, _KEY) != table.keys_checksum or _checksum(ids, _ID) != table.ids_checksum:
            raise SegmentDamagedError(f"{path} fails its checksum")


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
    except UNREADABLE as error:
        raise SegmentDamagedError(f"the footer of {path} cannot be read: {error}") from None
