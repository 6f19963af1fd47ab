"""Pages that the core reads, without what decodes them."""

from __future__ import annotations

from dedupcrawl.core import page
from dedupcrawl.core.facts import Facts
from dedupcrawl.page import Page
from dedupcrawl.sites import host_alike

URL = "http://www.a.example/folder/page?id=7"
LOCATED = b"a.example", b"a.example", b"/folder/page"
"""What `locate` says of it."""


def stays(target: str, base: str) -> bool | None:
    """Whether a link leads to a page, and to one of the site; not as `content.html` has it, but as easily told."""
    return None if target.startswith("mailto:") else "://" not in target + base


def read(markup: bytes, *, located: tuple[bytes, bytes, bytes] = LOCATED, fields: bool = True) -> Page:
    """A page of this markup."""
    facts = Facts(markup)
    return page.read(facts, URL, locate=lambda base: located, host_alike=host_alike, stays=stays if fields else None)


def told(found: Page) -> list[object]:
    """A page without what it shows besides its text, of which `test_secondary.py` tells, as JSON holds it."""
    fields = found.replace(secondary=(), resources=()).fields()
    return [[name, sorted(value) if isinstance(value, (set, frozenset)) else value] for name, value in fields.items()]


def shown(markup: bytes) -> list[str]:
    """The lines of all text that is shown."""
    found = page.read(Facts(b""), URL, locate=lambda base: LOCATED, host_alike=host_alike, selected=markup)
    return [] if found.selector_missed else list(found.paragraphs)
