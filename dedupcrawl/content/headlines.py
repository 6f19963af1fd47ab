"""Headlines: what a page of a site says that it is about, where its main text says the same as another page's.

Of a shop's products many have one description, and name and price stand around it. Titles alone prove little: they name
sections, counts and dates as well. So two pages are about different things when each title has a telling word or number
that the other has not, and the longest line of the page itself that its title has, its h1 say, is about it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.content.wording import symbols_of, telling


def headlines(title: str, asides: Sequence[str]) -> list[frozenset[int]]:
    """The telling words of a title, and then those of each line beside the main text that says nothing else."""
    of_title = _told(title)
    lines = (_told(line) for line in asides if len(line) <= len(title)) if of_title else ()
    return [of_title, *(line for line in lines if line and line <= of_title)]


def are_of_others(new: Sequence[frozenset[int]], kept_title: str, is_bare: bool) -> bool:
    """Whether a page is about something else than a kept one of its site.

    Args:
        new: The new page's headlines.
        kept_title: The kept page's title.
        is_bare: Whether the new page has nothing beside its main text. Then the titles must have nothing in common.
    """
    title, *lines = new
    kept = _told(kept_title)
    own = title - kept
    if not own or title >= kept:
        return False
    if is_bare:
        return own == title
    longest = max(map(len, lines), default=0)  # shorter ones name the site or a section
    return any(line & own for line in lines if len(line) == longest)


def _told(text: str) -> frozenset[int]:
    return frozenset(telling(symbols_of(SymbolText.of((text,)))).tolist())
