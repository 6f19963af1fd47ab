"""What outlives the process: requests as bytes, and rows of JSON in a file that is only ever appended to.

A kill costs at most the last, torn row.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedupcrawl.output import open_private
from dedupcrawl.printable import printable

logger = logging.getLogger(__name__)

Row = TypeVar("Row")


class JournalFile:
    """Appends rows, whole lines only, so that several processes may share one file.

    A crawl goes on without what cannot be written, which is said once.

    Args:
        path: Made when it is missing; None for a journal that remembers nothing.
        at_once: Rows that are handed to the operating system together; a kill costs those that wait.
    """

    def __init__(self, path: Path | None, at_once: int = 1) -> None:
        self._path, self._at_once = path, at_once
        self._rows: list[bytes] = []
        self._was_said = self._is_torn = False
        self._file: IO[bytes] | None = None
        if path is not None:
            self._file = open(path, "ab+", buffering=0, opener=open_private)  # noqa: SIM115 - closed by `close`
            if self._file.tell():
                self._file.seek(-1, 2)
                self._is_torn = self._file.read(1) != b"\n"  # by a kill

    def append(self, row: Any) -> None:
        """Write `row` as one line, perhaps with the next ones."""
        if self._file is not None:
            self._rows.append(msgspec.json.encode(row))
            if len(self._rows) >= self._at_once:
                self.flush()

    def flush(self) -> None:
        """Hand all rows to the operating system, in one write."""
        if self._file is None or not self._rows:
            return
        lines = b"\n".join([*[b""] * self._is_torn, *self._rows, b""])
        self._rows, left = [], lines
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            if not self._was_said:
                logger.error("%s cannot be written: %s. Until it can be, rows are lost.", self._path, error)
            self._was_said = True
        self._is_torn = bool(left) and (self._is_torn or left != lines)

    def close(self) -> None:
        """Write what waits and close the file; further rows are lost."""
        self.flush()
        file, self._file = self._file, None
        if file is not None:
            file.close()


def read_rows(path: Path | None, kind: type[Row]) -> Iterator[Row]:
    """The rows of `path` that are whole; nothing when there is no such file."""
    if path is None or not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield msgspec.json.decode(line, type=kind)
            except msgspec.DecodeError:
                continue


_USUAL = Request("data:,").to_dict()  # what a request has unless it is said otherwise


class _Url(msgspec.Struct):
    url: str


def pack_request(request: Request, spider: Spider) -> bytes:
    """MessagePack of all that is not as usual about the request.

    Raises:
        ValueError: its meta would come back as something else, or its callback is not a method of the spider.
    """
    fields = request.to_dict(spider=spider)
    if "_class" not in fields:  # others may have other defaults
        fields = {name: value for name, value in fields.items() if name == "url" or value != _USUAL.get(name, ...)}
    try:
        packed = msgspec.msgpack.encode(fields, enc_hook=_plain)
        same = msgspec.msgpack.decode(packed) == fields  # not so for sets, tuples, dates and objects
    except (TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error
    if not same:
        raise ValueError("its meta holds what is not a number, text, list or dict of these")
    return packed


def _plain(value: object) -> str:
    """What lxml and parsel give for text is text: a link extractor puts it into meta."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__}, which is not text, number, list or dict")


def packed_url(packed: bytes) -> str | None:
    """The URL of a packed request, even where the rest cannot be read any more; None when these are other bytes."""
    try:
        return msgspec.msgpack.decode(packed, type=_Url).url
    except msgspec.DecodeError:
        return None


def unpack_request(packed: bytes, spider: Spider) -> Request:
    """What `pack_request` was given.

    Raises:
        ValueError: the spider has no such method any more, its class is gone or has changed, or these are other bytes.
    """
    try:
        fields: dict[str, Any] = msgspec.msgpack.decode(packed)
        return request_from_dict(fields, spider=spider)
    except Exception as error:  # to find its class, modules are imported, which may do anything
        raise ValueError(f"{type(error).__name__}: {error}") from error


def restored(packed: bytes, spider: Spider, url: str, **meta: object) -> Request:
    """What `pack_request` was given; where that cannot be read a request for its URL, with this meta.

    Raises:
        ValueError: There is but a URL for which Scrapy makes no request.
    """
    try:
        if packed:
            return unpack_request(packed, spider)
    except ValueError as error:
        logger.warning(
            "The request for %s cannot be read: if it is sent again, it is by its URL, with the spider's default "
            "callback (%s).",
            printable(url),
            printable(str(error)),
        )
    return Request(url, meta=meta)
