"""Attachments of a URL: the page that lists it, pages that it lists, and with DEDUP_KEEP_TEXT its text and items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import mmh3

_TEXT = "text"
ITEM = "item/"
"""Prefix of the names of items."""

_LISTED_BY = "listed_by"
_LISTS = "lists"

_TEXT_LIMIT = 1_000_000  # characters of a main text that are kept
_LIMIT = 1 << 24  # bytes of an item


def listing(listed_by: str, page: str) -> Iterator[tuple[str, str, bytes]]:
    """URL, name and bytes of the attachments that link a page and a list of it; a page keeps only its latest list."""
    yield page, _LISTED_BY, listed_by.encode("utf-8", "replace")
    listed = page.encode("utf-8", "replace")
    yield listed_by, f"{_LISTS}/{mmh3.hash(listed, signed=False):08x}", listed


def lists_of(attachments: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The URL of the page that lists this one ("listed_by"), and of the pages that this one lists ("lists")."""
    texts = {name: raw.decode("utf-8", "replace") for name, raw in attachments.items()}
    return {key: sorted(url for name, url in texts.items() if name.startswith(key)) for key in (_LISTED_BY, _LISTS)}


def packed_text(paragraphs: Iterable[str]) -> tuple[str, bytes]:
    """Name and bytes of the attachment that holds a main text, its paragraphs separated by newlines."""
    return _TEXT, "\n".join(paragraphs)[:_TEXT_LIMIT].encode("utf-8", "replace")


def packed_item(number: int, json: str) -> tuple[str, bytes]:
    """Name and bytes of the attachment that holds one item, as JSON; its `number` on the page counts from 0.

    Raises:
        ValueError: The item is too large.
    """
    raw = json.encode("utf-8", "replace")
    if len(raw) > _LIMIT:
        raise ValueError(f"an item of {len(raw)} bytes is not kept, only up to {_LIMIT}")
    return f"{ITEM}{number:06}", raw


def text_of(attachments: Mapping[str, bytes]) -> Sequence[str] | None:
    """The paragraphs of the attached main text, or None without one."""
    raw = attachments.get(_TEXT)
    return None if raw is None else raw.decode("utf-8", "replace").split("\n")


def items_of(attachments: Mapping[str, bytes]) -> list[bytes]:
    """The attached items of a page, each as JSON, in page order."""
    return [raw for name, raw in sorted(attachments.items()) if name.startswith(ITEM)]
