"""Pages of text, and the URLs of items on them."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dedupcrawl.core.page import Page

__all__ = ["Page", "item_url", "packed", "page_of_item", "paragraphs_of", "unpacked"]

_ITEM = re.compile(r"(.+)#[1-9][0-9]{0,8}", re.DOTALL)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a plain text: its lines that are not empty."""
    return tuple(line for line in map(str.strip, text.splitlines()) if line)


def packed(page: Page) -> bytes:
    return msgspec.msgpack.encode(page.fields())


def unpacked(packed_page: bytes) -> Page:
    said = msgspec.msgpack.decode(packed_page).items()
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in said}
    return Page(**fields)


def item_url(page: str, number: int) -> str:
    """The URL that stands for an item without its own: the page's URL with the item's 1-based position.

    >>> item_url("http://a.example/list", 2)
    'http://a.example/list#2'
    """
    return f"{page}#{number}"


def page_of_item(url: str) -> str | None:
    """The page of an item whose URL `item_url` made; None for any other URL.

    >>> page_of_item("http://a.example/list#2"), page_of_item("http://a.example/list#top")
    ('http://a.example/list', None)
    """
    found = _ITEM.fullmatch(url)
    return found[1] if found else None
