"""Pages that were judged before it was known what their site repeats: they are judged again when it is.

The signatures of a page leave out what its site repeats, and for the first pages of a template that is not known yet.
So the pages that were judged last stay in memory, and when blocks turn out to recur, the pages that hold them are read
again. (An index only holds hashes of 15 bits, of which no signature can be made.) A process that ends, or judges many
pages before the fifth page of a template comes, leaves some verdicts as they were; for kept pages that costs a
duplicate. Of two pages of a site of which nothing is known, one is dropped only if that is more certain than elsewhere
(see `dedupcrawl.detection.comparison`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise

from dedupcrawl.content.checks.base import Check
from dedupcrawl.core import main_outline
from dedupcrawl.core.digests import Secret
from dedupcrawl.detection.analysis import OWN_SYMBOLS, Reading
from dedupcrawl.detection.comparison import Comparison
from dedupcrawl.index.record import Entry
from dedupcrawl.page import Page

MOST_PROVISIONAL = 400
"""Pages that may be judged again."""

_MOST_CHARACTERS = 4_000_000  # of all of them
_MUCH = 0.3  # of the text that a page was signed by; what is less, the checks find it in spite of


@dataclass(slots=True, eq=False)
class ProvisionalPage:
    """A page that was judged as it was read, and may have to be judged again.

    Attributes:
        entry: What the index keeps of it, or would, had it not been dropped.
        compared: Makes the comparison of another reading of it with what was kept before it.
        request: What to ask for to fetch it again, packed, where it was dropped; else empty.
        stays: Whether it was kept whatever it duplicates, or is an update of what was kept at its URL.
        is_item: Whether it is an item that is judged by itself, and no page.
        blocks: Those of its main text.
        characters: Of its texts, and what else it takes in bytes (`Page.weight`).
        recurred: Whether some of them have turned out to recur.
        spare: So many symbols more may, before the page is judged again; of a page that says next to nothing any block
            is enough.
    """

    page: Page
    entry: Entry
    checks: Sequence[Check]
    reading: InitVar[Reading]
    compared: Callable[[Entry, Reading], Comparison]
    request: bytes = b""
    stays: bool = False
    is_item: bool = False
    blocks: list[int] = field(init=False)
    characters: int = field(init=False)
    spare: int = field(init=False)
    secret: Secret = field(init=False)  # of the index
    recurred: bool = field(init=False)

    def __post_init__(self, reading: Reading) -> None:
        self.blocks = reading.view.main.hashes
        self.characters = self.page.weight
        self.secret = reading.own.secret
        self.settle(self.entry, reading)

    def settle(self, entry: Entry, reading: Reading) -> None:
        """It was judged by this reading, as this entry."""
        self.entry, self.recurred = entry, False
        own = len(reading.own)
        self.spare = min(int(_MUCH * own), own - OWN_SYMBOLS)

    def lose(self, blocks: Collection[int]) -> None:
        """These blocks of it have turned out to recur."""
        read = main_outline.read(self.entry.outline, self.secret)
        sizes = zip(read.hashes, pairwise([0, *read.ends]), strict=True)
        self.recurred = True
        self.spare -= sum(end - begin for block, (begin, end) in sizes if block in blocks)


class ProvisionalPages:
    """The pages judged last, by their hosts; the oldest make room."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[str, ProvisionalPage]] = OrderedDict()  # URL → host, page
        self._of: defaultdict[str, dict[str, ProvisionalPage]] = defaultdict(dict)  # host → URL → page
        self._due: set[str] = set()  # hosts that may have pages which are
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
        """These blocks of a host have turned out to recur."""
        for one in self._of.get(host, {}).values() if blocks else ():
            if found := set(blocks).intersection(one.blocks):
                one.lose(found)
                self._due.add(host)

    def due(self, host: str) -> list[ProvisionalPage]:
        """The pages of a host that are to be judged again; each until it is settled or removed."""
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
