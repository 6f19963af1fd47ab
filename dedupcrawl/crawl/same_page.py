"""Whether two URLs lead to one page, asked while a crawl goes on: by what their site is known to repeat so far."""

from __future__ import annotations

from collections.abc import Callable

import mmh3
import msgspec

from dedupcrawl.content import evidence, main_outline
from dedupcrawl.content.around import Around
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.content.furniture import RECURRING, Furniture
from dedupcrawl.content.model import packaged
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.index.rows import Entry
from dedupcrawl.sites import host_of

FurnitureOf = Callable[[str], Furniture]
"""Host → what its pages repeat, as far as it is known."""

_NOTHING = Around({}, {}, frozenset())
_LIKELY = 0.5  # probability from which two pages are taken for one: here a wrong answer costs a fetch, no page


class Look(msgspec.Struct, frozen=True):
    """What is kept of a page until it is compared.

    Attributes:
        outline: Its text (see content.main_outline).
        around: What it says beside its text.
    """

    outline: bytes
    body: bytes
    host: str = ""
    around: Around = _NOTHING

    @classmethod
    def at(cls, analysis: Analysis) -> Look:
        """What there is to see of a page."""
        return cls(analysis.outline, analysis.page.body_digest, host_of(analysis.page.url), analysis.around)

    @classmethod
    def of(cls, entry: Entry) -> Look:
        """What an index knows of a page."""
        return cls(entry.outline, b"", host_of(entry.source), Around.from_bytes(entry.asides))


NOWHERE = Look(b"", b"")  # of a URL that has no page


def same_page(asked: Look, canonical: Look, furniture_of: FurnitureOf) -> bool | None:
    """Whether who asked for the one page is served by the other; None when there is nothing to tell by."""
    if asked.body and asked.body == canonical.body:
        return True
    if not asked.outline:
        return None  # an image, a JavaScript shell
    if asked.outline == canonical.outline:
        return True
    if not canonical.outline:
        return False
    texts, around = (asked.outline, canonical.outline), (asked.around, canonical.around)
    known = furniture_of(asked.host), furniture_of(canonical.host)
    if evidence.is_own_text_equal(*texts, known) or evidence.is_own_text_said(*texts, around, known):
        return True
    found = evidence.compare_texts(*texts, packaged(), known)
    return found is not None and found.probability >= _LIKELY


def is_known(look: Look, furniture_of: FurnitureOf) -> bool:
    """Whether enough pages of a host have come to tell its counters and clocks from what a page says."""
    return furniture_of(look.host).pages >= RECURRING


def is_kept_with_lines_beside(outline: bytes, analysis: Analysis) -> bool:
    """Whether an outline is that of a page whose main text says too little, and was kept with lines that stand beside.

    Which of them are its own depends on what was known of its site by then: none that the page has speaks against it.
    """
    page = analysis.page
    kept, main = (set(main_outline.read(one).blocks.hashes) for one in (outline, analysis.outline))
    lines = main_outline.packed(SymbolText.of((*page.asides, *page.link_lines)))
    return main <= kept <= main.union(main_outline.read(lines).blocks.hashes)


def digest_of_text(analysis: Analysis) -> bytes:
    """A digest of a page's main text, or of all that it says where that is next to nothing; 16 bytes.

    Of pages that were dropped as nearly, but not surely duplicates in first crawls of four archives 528 had the
    main text of another one: all 528 were one page with it.
    """
    page, symbols = analysis.page, analysis.text.hashes
    if len(symbols) >= ExactCheck().min_symbols:
        return mmh3.mmh3_x64_128_digest(symbols.astype("<u8", copy=False).tobytes())
    said = (page.title, *page.paragraphs, *page.asides, *page.link_lines)
    return mmh3.hash_bytes("\n".join(said).encode("utf-8", "surrogatepass"))
