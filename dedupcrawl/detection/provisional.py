"""Provisional verdicts: pages judged before their site's template was known are judged again once it is.

The signatures of a page leave out its site's template, which is not known yet when the first pages of a site arrive. So
the pages judged last stay in memory, and when some of their blocks turn out to be template, the detector judges them
again. (The index holds only hashes of 15 bits, from which no signature can be computed.) If the process ends, or judges
many pages before the fifth page of a template arrives, some verdicts stay as they were; for kept pages that costs a
duplicate. While nothing is known of a site, a drop needs more certainty than elsewhere (see
`dedupcrawl.detection.comparison`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection
from itertools import pairwise

import msgspec

from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import Secret
from dedupcrawl.core.view import OWN_SYMBOLS
from dedupcrawl.detection.analysis import Reading
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.index.record import Entry
from dedupcrawl.page import Page

MOST_PROVISIONAL = 400
"""Most pages in memory that may be judged again."""

_MOST_CHARACTERS = 4_000_000  # of all of them together
_MUCH = 0.3  # share of the signed text that must turn out to be template; the checks tolerate less


class ProvisionalPage(msgspec.Struct, eq=False):
    """A judged page that may have to be judged again.

    Attributes:
        entry: Its entry in the index, or for a dropped page the one that it would have.
        asked: How it was judged. It is compared only with what was kept before its entry, and with its keeper.
        keeper: For a dropped page, the URL of its keeper; else empty.
        request: For a dropped page, the packed request that fetches it again; else empty.
        stays: Whether it is never marked as a duplicate: it was kept by force, or is an update.
        blocks: Hashes of the blocks of its main text.
        characters: Memory that it takes: characters of text plus bytes of the rest (`Page.weight`).
        recurred: Whether some of the blocks have turned out to be template since.
        spare: Number of symbols that may still turn out to be template before the page is judged again; below 0 any
            block is enough.
    """

    page: Page
    entry: Entry
    asked: Asked
    keeper: str
    request: bytes
    stays: bool
    blocks: list[int]
    characters: int
    secret: Secret  # the secret of the index
    spare: int = 0
    recurred: bool = False

    @classmethod
    def of(  # noqa: PLR0913 - its fields
        cls, page: Page, entry: Entry, asked: Asked, reading: Reading, keeper: str, request: bytes, stays: bool
    ) -> ProvisionalPage:
        """A page that was judged by this reading."""
        blocks, secret = reading.view.main.hashes, reading.own.secret
        one = cls(page, entry, asked, keeper, request, stays, blocks, page.weight, secret)
        one.settle(entry, reading)
        return one

    def settle(self, entry: Entry, reading: Reading) -> None:
        """Record that the page was judged by this reading and has this entry."""
        self.entry, self.recurred = entry, False
        own = len(reading.own)
        self.spare = min(int(_MUCH * own), own - OWN_SYMBOLS)

    def lose(self, blocks: Collection[int]) -> None:
        """Record that these blocks of the page have turned out to be template."""
        read = main_outline.read(self.entry.outline, self.secret)
        sizes = zip(read.hashes, pairwise([0, *read.ends]), strict=True)
        self.recurred = True
        self.spare -= sum(end - begin for block, (begin, end) in sizes if block in blocks)


class ProvisionalPages:
    """The pages judged last, by host; the oldest are removed first."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[str, ProvisionalPage]] = OrderedDict()  # URL → host, page
        self._of: defaultdict[str, dict[str, ProvisionalPage]] = defaultdict(dict)  # host → URL → page
        self._due: set[str] = set()  # hosts that may have pages to judge again
        self._characters = 0

    def add(self, host: str, one: ProvisionalPage) -> None:
        """Remember a page that was judged."""
        self.remove(one.entry.url)
        self._pages[one.entry.url] = host, one
        self._of[host][one.entry.url] = one
        self._characters += one.characters
        while len(self._pages) > MOST_PROVISIONAL or self._characters > _MOST_CHARACTERS:
            self.remove(next(iter(self._pages)))

    def recur(self, host: str, blocks: Collection[int]) -> None:
        """Record that these blocks of a host have turned out to be template."""
        for one in self._of.get(host, {}).values() if blocks else ():
            if recurring := set(blocks).intersection(one.blocks):
                one.lose(recurring)
                self._due.add(host)

    def due(self, host: str) -> list[ProvisionalPage]:
        """The pages of a host that must be judged again; each is returned until it is settled or removed."""
        if host not in self._due:
            return []
        due = [one for one in self._of.get(host, {}).values() if one.recurred and one.spare < 0]
        if not due:
            self._due.discard(host)
        return due

    def remove(self, url: str) -> None:
        """Forget a page."""
        if url in self._pages:
            host, one = self._pages.pop(url)
            self._characters -= one.characters
            del self._of[host][url]
            if not self._of[host]:
                del self._of[host]
