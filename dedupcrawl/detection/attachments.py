"""What is kept beside a URL: which page is a list of it, and of which it is one; by DEDUP_KEEP_TEXT texts and items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import mmh3

_TEXT = "text"
ITEM = "item/"
"""How the names of all items begin."""

_LISTED_BY = "listed_by"
_LISTS = "lists"

_TEXT_LIMIT = 1_000_000  # characters of a main text that are kept
_LIMIT = 1 << 24  # bytes of an item


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
    return _TEXT, "\n".join(paragraphs)[:_TEXT_LIMIT].encode("utf-8", "replace")


def packed_item(number: int, json: str) -> tuple[str, bytes]:
    """Name and bytes of one item of a page, numbered from 0 on, as JSON; a ValueError where it is too large."""
    raw = json.encode("utf-8", "replace")
    if len(raw) > _LIMIT:
        raise ValueError(f"an item of {len(raw)} bytes is not kept, only up to {_LIMIT}")
    return f"{ITEM}{number:06}", raw


def text_of(attachments: Mapping[str, bytes]) -> Sequence[str] | None:
    """The paragraphs of a kept main text, None when there is none."""
    raw = attachments.get(_TEXT)
    return None if raw is None else raw.decode("utf-8", "replace").split("\n")


def items_of(attachments: Mapping[str, bytes]) -> list[bytes]:
    """The kept items of a page, each as JSON, in their order."""
    return [raw for name, raw in sorted(attachments.items()) if name.startswith(ITEM)]
