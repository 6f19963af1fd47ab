"""Page: what the rest of the house sees of a response or of a row of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from operator import attrgetter

_ITEM = re.compile(r"(.+)#[1-9][0-9]{0,8}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)  # a text in place of the title would be no error
class Page:
    """A web page, reduced to what the content checks look at. All strings are plain text, never markup.

    Attributes:
        url: Where the page was found, after redirects.
        title: Text of the title element, or of a row's ``title``.
        paragraphs: The main text, one string per natural paragraph, in page order, without empty ones.
        asides: The other visible text that is not a link, likewise: what stands around the main text, or is the page's
            own text where the main text was not recognized.
        link_lines: The other visible text, likewise: lines that are mostly links, such as menus and listings.
        links: Where its links lead on its own host, each once, as `dedupcrawl.content.links.local_form` has it.
        main_links: Those that stand amid its main text, or at its heading.
        headings: Texts of h1 … h6, in page order.
        keywords: Content of the meta keywords element.
        description: Content of the meta description element.
        anchors_same_site: Texts of the links within the page's registrable domain.
        anchors_other_sites: Texts of the links that leave it.
        body_digest: 16 bytes, BLAKE2b of the undecoded body; empty when there was no body (a text row).
        body_tells: Whether equal bodies mean equal pages: it is not text at all (an image, a PDF), or HTML with text.
            Not so for the same JavaScript shell, or the same JSON, under two URLs.
        selector_missed: Whether there is a selector of main texts (DEDUP_SELECTOR) that found none here.
        also_at: Other URLs that lead to the page: a list may link to one of them.

    Raises:
        TypeError: A field of text holds anything else.
    """

    url: str = field(kw_only=False)
    title: str = ""
    paragraphs: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    keywords: str = ""
    description: str = ""
    anchors_same_site: tuple[str, ...] = ()
    anchors_other_sites: tuple[str, ...] = ()
    body_digest: bytes = b""
    body_tells: bool = False
    asides: tuple[str, ...] = ()
    link_lines: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    main_links: tuple[str, ...] = ()
    selector_missed: bool = False
    also_at: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:  # to join them is the quickest way to see that all are text: 2 µs for 250 of them
            "".join(_TEXTS(self))
            lists = _LISTS(self)
            for texts in lists:
                "".join(texts)
            if {*map(type, lists)} == {tuple}:
                return
        except TypeError:
            pass
        raise TypeError(_what_is_no_text(self))


_TEXTS, _LISTS = (
    attrgetter(*(one.name for one in fields(Page) if one.type == of)) for of in ("str", "tuple[str, ...]")
)


def _what_is_no_text(page: Page) -> str:
    for one in fields(page):
        value = getattr(page, one.name)
        if one.type == "str" and not isinstance(value, str):
            return f"the {one.name} of a page is text, not {type(value).__name__}."
        if one.type == "tuple[str, ...]":
            odd = [text for text in value if not isinstance(text, str)] if type(value) is tuple else [value]
            if odd:
                return f"the {one.name} of a page are a tuple of texts, not {type(odd[0]).__name__}."
    raise AssertionError("all are text")


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a plain text: its lines, without empty ones."""
    return tuple(line for line in map(str.strip, text.splitlines()) if line)


def item_url(page: str, number: int) -> str:
    """The URL that an item without one of its own is known by: its page's, and the how manieth there it is, from 1 on.

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
