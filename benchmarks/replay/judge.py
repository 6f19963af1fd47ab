"""Were the drops right? Against published clusters, against equal texts, and by how many words differ."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.replay.store import StoredPage
from benchmarks.replay.texts import Words, difference, label, own_words, peer_words, visible_words
from dedupcrawl.index.open import open_index

FALSE_ABOVE = 0.25
"""A drop is false when the kept page lacks more than this share of the dropped page's words."""

LEAST_CHARACTERS = 100
"""A text with fewer letters and digits has no label: pages that say next to nothing are equal, but no duplicates."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A page that was dropped, and for what."""

    url: str
    keeper: str
    check: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Score:
    """Drops against one definition of "the same page".

    Attributes:
        name: Of the definition.
        redundant: Pages that could be dropped: of each group of equal ones, all but one.
        found: Of these, how many were dropped.
        judged: Drops of which the definition can say something.
        right: Of these, how many are equal to the page that was kept for them.
    """

    name: str
    redundant: int
    found: int
    judged: int
    right: int

    @property
    def recall(self) -> float:
        return self.found / self.redundant if self.redundant else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.judged if self.judged else 1.0


@dataclass(frozen=True, slots=True)
class WordDifference:
    """How much of a dropped page its keeper lacks, by each view of the text; `peer` is None where it has no text."""

    drop: Drop
    own: float
    visible: float
    peer: float | None

    @property
    def false(self) -> bool:
        """By the project's own main text, as the goal is stated."""
        return self.own > FALSE_ABOVE

    @property
    def suspect(self) -> bool:
        """By its own main text or by that of the peer."""
        return self.false or (self.peer or 0.0) > FALSE_ABOVE


def read_drops(index: Path) -> list[Drop]:
    """The drops that a crawl left in its index."""
    opened = open_index(f"lmdb:{index}", [])
    try:
        return [
            Drop(verdict.url, verdict.duplicate_of or "", verdict.check or "", verdict.similarity or 0.0)
            for verdict in (row.verdict for row in opened.recorded())
            if verdict.is_duplicate
        ]
    finally:
        opened.close()


def scores(
    drops: Sequence[Drop], fetched: Collection[str], pages: Mapping[str, StoredPage], clusters: Iterable[Sequence[str]]
) -> list[Score]:
    """All definitions: the published clusters where there are any, and equal texts in two views."""
    published = {url: str(number) for number, cluster in enumerate(clusters) for url in cluster}
    views: dict[str, Callable[[StoredPage], Words]] = {"main text": own_words, "visible text": visible_words}
    made = [_score("identical HTML, published clusters", drops, fetched, published)] if published else []
    for name, view in views.items():
        labels = {url: label(view(pages[url]), LEAST_CHARACTERS) for url in fetched}
        made.append(_score(f"identical {name}", drops, fetched, {url: it for url, it in labels.items() if it}))
    return made


def word_differences(drops: Iterable[Drop], pages: Mapping[str, StoredPage]) -> list[WordDifference]:
    """Each drop beside its keeper, by keeper; the slow peer is asked where a visible word is gone."""
    has_peer = find_spec("trafilatura") is not None
    measured = []
    for drop in sorted(drops, key=lambda drop: drop.keeper):
        dropped, kept = pages[drop.url], pages[drop.keeper]
        visible = difference(visible_words(dropped), visible_words(kept))
        theirs = (peer_words(dropped), peer_words(kept)) if has_peer and visible else (None, None)
        peer = difference(theirs[0], theirs[1]) if theirs[0] and theirs[1] else None
        own = difference(own_words(dropped), own_words(kept))
        measured.append(WordDifference(drop, own, visible, peer))
    return measured


def write_suspects(differences: Iterable[WordDifference], pages: Mapping[str, StoredPage], path: Path) -> None:
    """One JSON row for each drop that may be false, the worst first, with some of the words that were lost."""
    with path.open("w", encoding="utf-8") as file:
        for it in sorted(differences, key=lambda it: -max(it.own, it.peer or 0.0)):
            lost = Counter(own_words(pages[it.drop.url])) - Counter(own_words(pages[it.drop.keeper]))
            row = {
                **asdict(it.drop),
                "own_difference": round(it.own, 3),
                "visible_difference": round(it.visible, 3),
                "peer_difference": None if it.peer is None else round(it.peer, 3),
                "own_words": [len(own_words(pages[url])) for url in (it.drop.url, it.drop.keeper)],
                "lost": [word for word, _ in lost.most_common(30)],
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def missed(drops: Collection[Drop], fetched: Collection[str], pages: Mapping[str, StoredPage]) -> list[list[str]]:
    """Groups of kept pages with identical visible text: what the checks did not find."""
    dropped = {drop.url for drop in drops}
    groups: dict[str, list[str]] = defaultdict(list)
    for url in fetched:
        if url not in dropped and (it := label(visible_words(pages[url]), LEAST_CHARACTERS)):
            groups[it].append(url)
    return sorted(
        (sorted(group) for group in groups.values() if len(group) > 1), key=lambda group: (-len(group), group)
    )


def _score(name: str, drops: Sequence[Drop], fetched: Collection[str], labels: Mapping[str, str]) -> Score:
    sizes = Counter(labels[url] for url in fetched if url in labels)
    dropped = Counter(labels[drop.url] for drop in drops if drop.url in labels)
    judged = [drop for drop in drops if drop.url in labels and drop.keeper in labels]
    return Score(
        name,
        redundant=sum(size - 1 for size in sizes.values()),
        found=sum(min(count, sizes[it] - 1) for it, count in dropped.items()),
        judged=len(judged),
        right=sum(labels[drop.url] == labels[drop.keeper] for drop in judged),
    )
