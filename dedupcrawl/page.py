"""Pages of text, and what items of pages are called."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dedupcrawl.core.page import Page

__all__ = ["Page", "item_url", "packed", "page_of_item", "paragraphs_of", "unpacked"]

_ITEM = re.compile(r"(.+)#[1-9][0-9]{0,8}", re.DOTALL)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a plain text: its lines, without empty ones."""
    return tuple(line for line in map(str.strip, text.splitlines()) if line)


def packed(page: Page) -> bytes:
    """A page as bytes, for another process or for later."""
    return msgspec.msgpack.encode(page.fields())


def unpacked(packed_page: bytes) -> Page:
    """What `packed` was called on."""
    said = msgspec.msgpack.decode(packed_page).items()
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in said}
    return Page(**fields)


def item_url(page: str, number: int) -> str:
    """The URL that an item without one of its own is known by: its page's, and its 1-based position on the page.

    >>> item_url("http://a.example/list", 2)
    'http://a.example/list#2'
    """
    return f"{page}#{number}"


def page_of_item(url: str) -> str | None:
    """The page of an item that is known by its place there; None for any other URL.

    >>> page_of_item("http://a.example/list#2"), page_of_item("http://a.example/list#top")
    ('http://a.example/list', None)
    """
    found = _ITEM.fullmatch(url)
    return found[1] if found else None
