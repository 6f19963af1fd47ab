"""Three views of what a page says, so that no drop is judged by the project's own extractor alone.

"own" is the main text as dedupcrawl sees it, "visible" all text of the body (lxml), "peer" trafilatura's main text.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache

from parsel import Selector
from w3lib.encoding import resolve_encoding

from benchmarks.replay.store import StoredPage
from dedupcrawl.content.html import extract
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

Words = tuple[str, ...]
"""Symbols in text order: whole words, and single ideographs in Chinese."""

_KEPT = 512  # texts in memory: many drops have the same keeper


def own_page(page: StoredPage) -> Page:
    """The page as the checks see it."""
    return extract(page.body, page.url, encoding=_charset(page))


@lru_cache(maxsize=_KEPT)
def own_words(page: StoredPage) -> Words:
    """The main text that the checks saw."""
    return _words(own_page(page).paragraphs)


@lru_cache(maxsize=_KEPT)
def visible_words(page: StoredPage) -> Words:
    """All text of the body but scripts and styles, whatever it is there for."""
    if not page.body:
        return ()
    root = Selector(body=page.body, encoding=_charset(page) or "utf-8", type="html").root
    for element in root.xpath("//script|//style|//noscript|//template"):
        if element.getparent() is not None:
            element.drop_tree()
    body = root.find("body")
    return _words((" ".join((root if body is None else body).itertext()),))


@lru_cache(maxsize=_KEPT)
def peer_words(page: StoredPage) -> Words | None:
    """Trafilatura's main text; None where it finds none."""
    import trafilatura

    text = trafilatura.extract(page.body, include_comments=False)
    return _words((text,)) if text else None


def difference(dropped: Words, kept: Words) -> float:
    """Share of the dropped page's words, counted with their repetitions, that the kept page lacks; 0 for no words."""
    if not dropped:
        return 0.0
    return (Counter(dropped) - Counter(kept)).total() / len(dropped)


def label(words: Words, least: int) -> str | None:
    """A digest that is equal for equal texts; None for less than `least` characters, where a text says too little."""
    if sum(map(len, words)) < least:
        return None
    return hashlib.blake2b("\n".join(words).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _charset(page: StoredPage) -> str | None:
    return resolve_encoding(page.mime.partition("charset=")[2])


def _words(paragraphs: tuple[str, ...]) -> Words:
    return tuple(SymbolText.of(paragraphs).symbols)
