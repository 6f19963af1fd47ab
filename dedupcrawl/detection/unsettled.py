"""Pages that were judged before it was known what their site repeats: they are judged again once it is.

The signatures of a page leave out what its site repeats, and of the first pages of a template nobody knows that yet. So
the pages judged last stay in memory, and when blocks turn out to recur, those that hold them are read anew. An index
holds hashes of 15 bits, of which no signature can be made. Who ends, or judges many pages before the fifth of a
template comes, leaves some as they were: of kept ones that costs a duplicate. Of two pages of a site of which nothing
is known, one is dropped only where that is surer than elsewhere (see `dedupcrawl.detection.comparison`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from itertools import pairwise

from dedupcrawl.content import main_outline
from dedupcrawl.content.checks.base import Check
from dedupcrawl.detection.analysis import OWN_SYMBOLS, Reading
from dedupcrawl.detection.comparison import Comparison
from dedupcrawl.index.rows import Entry
from dedupcrawl.page import Page

MOST_UNSETTLED = 400
"""Pages that may be judged again."""

_MOST_CHARACTERS = 4_000_000  # of all of them
_STRING = 50  # characters; what a string takes besides its own
_MUCH = 0.3  # of the text that a page was signed by; what is less, the checks find it in spite of


class Unsettled:
    """A page that was judged as it was read, and may have to be judged again.

    Attributes:
        entry: What the index keeps of it, or would, had it not been dropped.
        checks: By which it was signed.
        compared: Makes the comparison of another reading of it with what was kept before it.
        request: What to ask for to fetch it again, packed, where it was dropped; else empty.
        stays: Whether it was kept whatever it duplicates, or is an update of what was kept at its URL.
        is_item: Whether it is an item that is judged by itself, and no page.
        blocks: Those of its main text.
        characters: Of all its texts, and `_STRING` for each.
        spare: So many symbols more may turn out to recur before the page is judged again; of a page that says next to
            nothing any block is enough.
    """

    def __init__(  # noqa: PLR0913 - each may be left out or is of one page
        self,
        page: Page,
        entry: Entry,
        checks: Sequence[Check],
        reading: Reading,
        compared: Callable[[Entry, Reading], Comparison],
        *,
        request: bytes = b"",
        stays: bool = False,
        is_item: bool = False,
    ) -> None:
        self.page, self.checks, self.compared, self.request, self.stays = page, checks, compared, request, stays
        self.is_item = is_item
        self.blocks = frozenset(main_outline.read(entry.outline).blocks.hashes)
        lines = [texts for one in fields(page) if isinstance(texts := getattr(page, one.name), tuple)]
        self.characters = len(page.title) + len(page.keywords) + len(page.description)
        self.characters += sum(sum(map(len, texts)) + _STRING * len(texts) for texts in lines)
        self.settle(entry, reading)

    @property
    def is_due(self) -> bool:
        """Whether enough of it has turned out to recur."""
        return self._recurred and self.spare < 0

    def settle(self, entry: Entry, reading: Reading) -> None:
        """It was judged by this reading, as this entry."""
        self.entry, self._recurred = entry, False
        own = len(reading.own.hashes)
        self.spare = min(int(_MUCH * own), own - OWN_SYMBOLS)

    def lose(self, blocks: Collection[int]) -> None:
        """These blocks of it have turned out to recur."""
        read = main_outline.read(self.entry.outline).blocks
        sizes = zip(read.hashes, pairwise([0, *read.ends]), strict=True)
        self._recurred = True
        self.spare -= sum(end - begin for block, (begin, end) in sizes if block in blocks)


class UnsettledPages:
    """The pages judged last, by their hosts; the oldest make room."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, str] = OrderedDict()  # of their URLs
        self._pages: defaultdict[str, dict[str, Unsettled]] = defaultdict(dict)
        self._due: set[str] = set()  # hosts that may have pages which are
        self._characters = 0

    def __len__(self) -> int:
        """Pages in memory."""
        return len(self._hosts)

    def add(self, host: str, one: Unsettled) -> None:
        """Remember a page that was judged."""
        self.remove(one.entry.url)
        self._hosts[one.entry.url] = host
        self._pages[host][one.entry.url] = one
        self._characters += one.characters
        while len(self._hosts) > MOST_UNSETTLED or self._characters > _MOST_CHARACTERS:
            self.remove(next(iter(self._hosts)))

    def recur(self, host: str, blocks: Collection[int]) -> None:
        """These blocks of a host have turned out to recur."""
        if not blocks or host not in self._pages:
            return
        recurring = set(blocks)
        for one in self._pages[host].values():
            if found := recurring.intersection(one.blocks):
                one.lose(found)
                self._due.add(host)

    def due(self, host: str) -> list[Unsettled]:
        """The pages of a host that are to be judged again; each until it is settled or removed."""
        if host not in self._due:
            return []
        due = [one for one in self._pages[host].values() if one.is_due]
        if not due:
            self._due.discard(host)
        return due

    def remove(self, url: str) -> None:
        """Forget a page."""
        host = self._hosts.pop(url, None)
        if host is None:
            return
        self._characters -= self._pages[host].pop(url).characters
        if not self._pages[host]:
            del self._pages[host]
            self._due.discard(host)
