"""What is kept beside a URL: which page is a list of it, and of which it is one; by DEDUP_KEEP_TEXT texts and items."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import mmh3

_TEXT = "text"
ITEM = "item/"
"""How the names of all items begin."""

_LISTED_BY = "listed_by"
_LISTS = "lists"

_TEXT_LIMIT = 1_000_000  # characters of a main text that are kept
_LIMIT = 1 << 24  # bytes of one attachment, unpacked: what is more was not packed here
_LEVEL = 6


class AttachmentError(ValueError):
    """What lies beside a URL cannot be read."""


def listing(listed_by: str, page: str) -> Iterator[tuple[str, str, bytes]]:
    """URL, name and bytes of what is kept beside a page and a list of it; of a page but the last list."""
    yield page, _LISTED_BY, listed_by.encode("utf-8", "replace")
    listed = page.encode("utf-8", "replace")
    yield listed_by, f"{_LISTS}/{mmh3.hash(listed, signed=False):08x}", listed


def lists_of(attachments: Mapping[str, bytes]) -> dict[str, list[str]]:
    """URLs of a page that lists this one, and of those that this one lists."""
    said = {name: raw.decode("utf-8", "replace") for name, raw in attachments.items()}
    return {key: sorted(url for name, url in said.items() if name.startswith(key)) for key in (_LISTED_BY, _LISTS)}


def packed_text(paragraphs: Iterable[str]) -> tuple[str, bytes]:
    """Name and bytes of a main text, paragraphs separated by newlines."""
    text = "\n".join(paragraphs)[:_TEXT_LIMIT]
    return _TEXT, zlib.compress(text.encode("utf-8", "replace"), _LEVEL)


def packed_item(number: int, json: str) -> tuple[str, bytes]:
    """Name and bytes of one item of a page, numbered from 0 on, as JSON; an AttachmentError where it is too large."""
    raw = json.encode("utf-8", "replace")
    if len(raw) > _LIMIT:
        raise AttachmentError(f"an item of {len(raw)} bytes is not kept, only up to {_LIMIT}")
    return f"{ITEM}{number:06}", zlib.compress(raw, _LEVEL)


def text_of(attachments: Mapping[str, bytes]) -> Sequence[str] | None:
    """The paragraphs of a kept main text, None when there is none; an AttachmentError where it cannot be read."""
    raw = attachments.get(_TEXT)
    return None if raw is None else _unpacked(raw).decode("utf-8", "replace").split("\n")


def items_of(attachments: Mapping[str, bytes]) -> list[bytes]:
    """The kept items of a page, each as JSON, in their order; an AttachmentError where one cannot be read."""
    return [_unpacked(raw) for name, raw in sorted(attachments.items()) if name.startswith(ITEM)]


def _unpacked(raw: bytes) -> bytes:
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(raw, _LIMIT)
    except zlib.error as error:
        raise AttachmentError(f"what is kept beside a page cannot be read: {error}") from None
    if not reader.eof:
        raise AttachmentError("what is kept beside a page is cut off or too large")
    return data
