"""Clusters that only look like duplicates: one page served for many URLs that are meant to lead to different ones.

A soft 404, a login wall and an empty listing have one content for hundreds of URLs; so has a page with a hundred
thousand session ids. The difference shows in where their URLs differ. A *slot* is a place of a URL that takes a value:
the host, a segment of the path, an argument of the query. Two URLs of the site that differ only in this slot are a
minimal pair for it. If minimal pairs elsewhere on the site nearly always lead to different pages, the slot names pages
(`title=`, `/wiki/*`), and a cluster whose URLs have many values there has lost the pages that these name. If they lead
to the same page (`sid=`), or if there are none, the cluster is a real one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import mmh3

MANY = 50  # values in such slots: so many pages cannot be one; of fewer the proof on held-out clusters is the judge
_FEW = 3  # values of a slot that are not worth a look
_MOST_SEGMENTS = 64  # of a path that are looked at, and as many arguments: each is a row
_ENOUGH_PAIRS = 5  # minimal pairs elsewhere, before they are believed
_APART = 0.9  # of them lead to different pages where the slot names pages

_SLOT_MARKS = "/&;"  # a URL has about as many slots as these
_MOST_OF_A_URL = 2 * _MOST_SEGMENTS  # slots, about
_MOST_SLOTS = 1_000_000  # of a site that are looked at: of each some 300 bytes are held at once


def unlike_clusters(urls: Sequence[str], labels: Sequence[int]) -> set[int]:
    """The labels of the clusters of a site whose URLs differ in slots that name pages elsewhere on it.

    Time is linear in the URLs if there is a cluster of many URLs at all; otherwise it costs a count.
    """
    large = {label for label, size in Counter(labels).items() if size >= MANY}
    if not large:
        return set()
    slots = sum(min(sum(map(url.count, _SLOT_MARKS)), _MOST_OF_A_URL) for url in urls)
    step = (slots - 1) // _MOST_SLOTS + 1
    if step > 1:  # shares of minimal pairs stay what they are
        kept = [row for row, url in enumerate(urls) if in_sample(url, step)]
        urls, labels = [urls[row] for row in kept], [labels[row] for row in kept]
    return _unlike_among(urls, labels, large)


def in_sample(url: str, step: int) -> bool:
    """Whether a URL is one in `step`, any; the same ones in every process, of any machine."""
    return mmh3.hash(url, signed=False) % step == 0


class _Slot(NamedTuple):
    """Where the slot stands in URLs of one shape, `place`; and what it is on its site."""

    shape: int  # the depth of the path, or 0 for host and arguments
    at: int | str | None  # segment of the path, name of an argument, None for the host
    before: str | None  # a segment is known by the one before it, too; an argument by its name, whatever the path

    @property
    def place(self) -> tuple[int, int | str | None]:
        return self.shape, self.at


def _unlike_among(urls: Sequence[str], labels: Sequence[int], large: Collection[int]) -> set[int]:
    """The same of URLs that were thinned; `large` clusters were so before that."""
    # label → place → its values, and its slots
    values: defaultdict[int, defaultdict[tuple[int, int | str | None], tuple[set[str], set[_Slot]]]]
    values = defaultdict(lambda: defaultdict(lambda: (set(), set())))
    for url, label in zip(urls, labels, strict=True):
        if label in large:
            for slot, value in slots_of(url):
                its_values, its_slots = values[label][slot.place]
                its_values.add(value)
                its_slots.add(slot)
    varied = [
        (label, place[0], len(some), slots)
        for label, places in values.items()
        for place, (some, slots) in places.items()
        if len(some) > _FEW
    ]
    elsewhere = ((url, label) for url, label in zip(urls, labels, strict=True) if label not in large)
    pairs = _minimal_pairs(elsewhere, {slot for *_, slots in varied for slot in slots})
    most = Counter[tuple[int, int]]()  # label and shape → values of the slot that has most of them
    for label, shape, count, slots in varied:
        of_all, apart = (sum(pairs[slot][which] for slot in slots if slot in pairs) for which in (0, 1))
        if of_all >= _ENOUGH_PAIRS and apart >= _APART * of_all:
            most[label, shape] = max(most[label, shape], count)
    total = Counter[int]()
    for (label, _), count in most.items():
        total[label] += count
    return {label for label, count in total.items() if count >= MANY}


def slots_of(url: str) -> Iterator[tuple[_Slot, str]]:
    """The slots of a URL and their values. The scheme counts for nothing."""
    before_query, _, query = url.partition("#")[0].partition("?")
    _, host, path = (*before_query.split("/", 3)[1:], "", "", "")[:3]
    yield _Slot(0, None, None), host
    segments = path.split("/", _MOST_SEGMENTS)[:_MOST_SEGMENTS]
    before = None
    for at, segment in enumerate(segments):
        yield _Slot(len(segments), at, before), segment
        before = segment
    for argument in query.replace(";", "&").split("&", _MOST_SEGMENTS)[:_MOST_SEGMENTS]:
        if argument:
            yield _Slot(0, argument.partition("=")[0], None), argument


def _minimal_pairs(pages: Iterator[tuple[str, int]], wanted: Collection[_Slot]) -> dict[_Slot, tuple[int, int]]:
    """Slot → how many minimal pairs there are for it among URLs with their labels, and how many of them lead apart."""
    # slot and the rest of the URL, which is equal for URLs that differ in this slot alone → values and labels
    alike: defaultdict[tuple[_Slot, int], tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
    for url, label in pages:
        parts = [(slot, value, hash((slot.place, value))) for slot, value in slots_of(url)]  # of this process only
        total = sum(part for *_, part in parts)
        for slot, value, part in parts:
            if slot in wanted:
                values, labels = alike[slot, total - part]
                values.add(value)
                labels.add(label)
    pairs = dict[_Slot, tuple[int, int]]()
    for (slot, _), (values, labels) in alike.items():
        of_all, apart = pairs.get(slot, (0, 0))
        more = len(values) - 1
        pairs[slot] = of_all + more, apart + min(more, len(labels) - 1)
    return pairs
