"""Reprints in other layouts, and other pages in the same one: with what is learned of sites, and without.

    python -m benchmarks.reprints [--data DIR] [--half report] [--checks exact,simhash] [--draws 5]

Sites are made of real pages: the article is taken out of a labelled page (`benchmarks.layouts`), and in its place other
texts are set, as HTML. Every site has 30 documents of its own. Labelled articles are set into the layouts of two sites
each: the second one is a reprint, and should be dropped. And every site has pages that must not be: documents of 15 to
60 words, one in the words of another but for a name or an amount, pages without a text of their own, and a text in a
page that was kept without one. Pages come in random order, a reprint after its first print.

"before" is the same stream with every page on a host of its own, so that nothing can be learned. Layouts, articles and
documents are those of one half; nothing was chosen on "report". There are few Chinese articles, and much depends on
which layouts they are set into and in which order: so the sites are drawn several times, and all draws are counted.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checks_quality import table
from benchmarks.extraction import LabelledPage, chinese, english
from benchmarks.layouts import Layout
from benchmarks.planted import Paragraphs, head, size
from benchmarks.planted_cases import originals, other_slots
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.verdict import Verdict

SITES = 8  # of each language
WORDS = 40, 150  # of a document
DOCUMENTS = 30  # of each site
NEGATIVES = 4  # of each kind and site
REPRINTS = 60  # of each language, at most as many as there are articles

REPRINT, FIRST, DOCUMENT = "reprint", "first print", "document"


@dataclass(frozen=True, slots=True)
class SetPage:
    """One page of the stream.

    Attributes:
        kind: What it is.
        group: Pages that say the same have the same.
        site: Number of its layout.
        body: HTML.
        url_path: Its place on its site.
    """

    kind: str
    group: str
    site: str
    body: bytes
    url_path: str


def pages(data: Path, half: str, draw: int) -> list[SetPage]:
    """The stream of one draw."""
    chance = random.Random(11 + 10 * draw)
    texts = originals(data, half, chance)
    stream: list[SetPage] = []
    for language, labelled in (("en", english(data)), ("zh", chinese(data))):
        mine = [page for page in labelled if page.half == half]
        layouts = [it for page in mine if (it := Layout.of(page.name, page.markup, page.gold)) is not None]
        sites = [(f"{language}{number}", it) for number, it in enumerate(chance.sample(layouts, SITES))]
        documents = [
            piece for name, text in texts.items() if name.startswith(language) for piece in _pieces(text, chance)
        ]
        chance.shuffle(documents)
        stream += _of_language(sites, iter(documents), mine, chance)
    chance.shuffle(stream)
    return list(_first_prints_first(stream))


def _pieces(text: Paragraphs, chance: random.Random) -> Iterator[Paragraphs]:
    """Documents, none of which has a paragraph of another."""
    while text:
        piece = head(text, chance.randint(*WORDS))
        text = text[len(piece) :]
        if size(piece) >= WORDS[0]:
            yield piece


def _of_language(
    sites: Sequence[tuple[str, Layout]],
    documents: Iterator[Paragraphs],
    articles: Sequence[LabelledPage],
    chance: random.Random,
) -> Iterator[SetPage]:
    made = 0

    def page(kind: str, group: str, site: tuple[str, Layout], text: Paragraphs) -> SetPage:
        nonlocal made
        made += 1
        headline = " ".join("".join(text).split()[:6])[:60] or "Untitled"
        return SetPage(kind, group, site[0], site[1].page(headline, text), f"{site[0]}-{made}.html")

    for site in sites:
        name = site[0]
        short = [head(next(documents), chance.randint(15, 60)) for _ in range(NEGATIVES)]
        for number, text in enumerate(short):
            yield page("a short document", f"{name} short {number}", site, text)
        own = [next(documents) for _ in range(DOCUMENTS)]
        for number, text in enumerate(own):
            yield page(DOCUMENT, f"{name} document {number}", site, text)
        for number, text in enumerate(chance.sample(own, NEGATIVES)):
            for kind, counts in (("another name", (1, 0)), ("another amount", (0, 1))):
                if (changed := other_slots(text, own, *counts, chance)) is not None:
                    yield page(kind, f"{name} {kind} {number}", site, changed)
        for number in range(NEGATIVES):
            yield page("a line of its own", f"{name} line {number}", site, head(next(documents), 1))
    for article in chance.sample(list(articles), min(REPRINTS, len(articles))):
        text = tuple(line for line in map(str.strip, article.gold.splitlines()) if line)
        if size(text) >= 50:
            one, other = chance.sample(sites, 2)
            yield page(FIRST, article.name, one, text)
            yield page(REPRINT, article.name, other, text)


def _first_prints_first(stream: Sequence[SetPage]) -> Iterator[SetPage]:
    """The stream, but that a first print comes before its reprint."""
    first = {page.group: page for page in stream if page.kind == FIRST}
    given: set[str] = set()
    for page in stream:
        if page.kind == REPRINT and page.group not in given:
            given.add(page.group)
            yield first[page.group]
        elif page.kind == FIRST:
            if page.group in given:
                continue
            given.add(page.group)
        yield page


@dataclass(frozen=True, slots=True)
class Outcome:
    """Verdicts on a stream, and what it cost in microseconds of CPU a page, without extraction."""

    verdicts: list[Verdict]
    cost: float
    bytes_a_page: float


def judged(stream: Sequence[SetPage], names: Sequence[str], *, learning: bool) -> Outcome:
    """Judge the pages in their order, on an index in LMDB."""
    checks = make_checks(names, {})
    verdicts = []
    cpu = 0.0
    with tempfile.TemporaryDirectory(prefix="reprints-") as folder:
        index = LmdbIndex(Path(folder), checks)
        detector = Detector(index, run="run")
        for number, it in enumerate(stream):
            host = f"{it.site}.example" if learning else f"page{number}.{it.site}.example"
            page = extract(it.body, f"http://{host}/{it.url_path}", fields="mwo" in names)
            begin = time.process_time()
            verdicts.append(detector.judge(Analysis(page, detector.index.secret), checks))
            cpu += time.process_time() - begin
        detector.close()
        info = index.info()
        index.close()
    return Outcome(verdicts, 1e6 * cpu / len(stream), int(info["bytes"]) / int(info["pages"]))


def right(page: SetPage, verdict: Verdict, by_path: dict[str, SetPage]) -> bool:
    """Whether a reprint was dropped for its first print, or a page that must not be dropped was kept."""
    if page.kind == REPRINT:
        keeper = by_path[verdict.duplicate_of.rsplit("/", 1)[1]] if verdict.duplicate_of else None
        return keeper is not None and keeper.group == page.group
    return not verdict.is_duplicate


def supersedes_first(page: SetPage, verdict: Verdict, by_path: dict[str, SetPage]) -> bool:
    """Whether a reprint that was kept marks its first print superseded: its layout says more around it."""
    earlier = (by_path[url.rsplit("/", 1)[1]] for url in verdict.evidence.get("supersedes", []))
    return any(it.group == page.group for it in earlier)


def report(streams: Sequence[Sequence[SetPage]], names: Sequence[str]) -> None:
    """Print shares by kind, before and after, over all streams; of reprints those of each stream, too."""
    found: dict[str, tuple[list[bool], list[bool]]] = defaultdict(lambda: ([], []))
    by_stream: dict[str, list[str]] = defaultdict(list)
    either: dict[str, list[bool]] = defaultdict(list)
    costs: tuple[list[float], list[float]] = [], []
    sizes: tuple[list[float], list[float]] = [], []
    for stream in streams:
        by_path = {page.url_path: page for page in stream}
        of_stream: dict[str, list[bool]] = defaultdict(list)
        for side, learning in enumerate((False, True)):
            outcome = judged(stream, names, learning=learning)
            costs[side].append(outcome.cost)
            sizes[side].append(outcome.bytes_a_page)
            for page, verdict in zip(stream, outcome.verdicts, strict=True):
                kind, is_right = f"{page.site[:2]}: {page.kind}", right(page, verdict, by_path)
                found[kind][side].append(is_right)
                if learning and page.kind == REPRINT:
                    of_stream[kind].append(is_right)
                    either[kind].append(is_right or supersedes_first(page, verdict, by_path))
        for kind, facts in sorted(of_stream.items()):
            by_stream[kind].append(f"{statistics.mean(facts):.3f}")
    for title, wanted in (("reprints found", True), ("other pages dropped", False)):
        rows = [
            (kind, [len(before), *(abs((not wanted) - statistics.mean(side)) for side in (before, after))])
            for kind, (before, after) in sorted(found.items())
            if kind.endswith(REPRINT) is wanted
        ]
        table(title, ["pages", "before", "after"], rows)
    for kind, shares in by_stream.items():
        print(f"{kind}, by draw: {', '.join(shares)}; dropped or superseding: {statistics.mean(either[kind]):.3f}")
    print(
        f"{sum(map(len, streams))} pages; µs of CPU a page: {statistics.median(costs[0]):.0f} before, "
        f"{statistics.median(costs[1]):.0f} after; bytes of index a kept page: {statistics.median(sizes[0]):.0f}, "
        f"{statistics.median(sizes[1]):.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds html/ and text/")
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--checks", default=",".join(DEFAULT_CHECKS), help=f"of {', '.join(CHECK_NAMES)}")
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    data = data_folder(given.data)
    report([pages(data, given.half, draw) for draw in range(given.draws)], given.checks.split(","))


if __name__ == "__main__":
    main()
