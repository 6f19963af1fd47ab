"""Minimum weight overlapping: the paper's experiment.

    python -m benchmarks.mwo_experiment [--data DIR]

Only documents of the "report" half are used; threshold and dynamic threshold were chosen on the other one.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.markdown import folders, show, table
from benchmarks.mwo_records import Record, postings_of
from benchmarks.planted import Paragraphs, size
from benchmarks.planted_cases import SOURCES, originals, variants
from dedupcrawl.content.checks.mwo import MwoCheck
from dedupcrawl.core.overlap import TOTAL, overlap
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

QUERIES = 10
REPOSITORY = 50  # pages that are no near-duplicates, for each query
NEAR = (59, 167)  # near-duplicates of a query in the paper's Table 4, least and most
NOT_NEAR = "excerpt of 40%"  # a part of a page is no near-duplicate of it


def signature(page: Paragraphs, url: str = "", check: MwoCheck | None = None) -> bytes | None:
    title = page[0][:80] if page else ""
    return (check or MwoCheck()).signature(Page(url, title=title, paragraphs=page), SymbolText.of(page))


def mwo(one: bytes, other: bytes) -> float:
    return overlap(one, other) / TOTAL


class Kept:
    """Pages and their postings in sorted arrays, as an index has them."""

    def __init__(self, check: MwoCheck, signatures: Sequence[bytes]) -> None:
        self.check, self.signatures = check, signatures
        self.postings = postings_of(check, signatures)

    def candidates(self, made: bytes) -> list[int]:
        pages: list[int] = self.check.candidates(made, self.postings)
        return pages

    def found(self, made: bytes) -> set[int]:
        return {page for page in self.candidates(made) if self.check.compare(made, self.signatures[page]) is not None}


def repositories(
    pages: dict[str, Paragraphs], chance: random.Random
) -> Iterator[tuple[str, bytes, list[bytes], list[bytes]]]:
    """Name, query, its near-duplicates and the pages of its language most like it, for each query."""
    made = {name: found for name, page in pages.items() if (found := signature(page, f"http://a.example/{name}"))}
    long = [name for name in made if size(pages[name]) >= 150]
    for number in range(QUERIES):
        name = chance.choice([name for name in long if name.startswith(list(SOURCES)[number % len(SOURCES)])])
        others = [other for other in made if other != name and other[:2] == name[:2]]
        others.sort(key=lambda other: -mwo(made[name], made[other]))
        near: list[bytes] = []
        wanted = chance.randint(*NEAR)
        pool = {name: pages[name], **{other: pages[other] for other in chance.sample(others, 20)}}
        while len(near) < wanted:
            cases = [case for case in variants(pool, chance) if case.kept is pages[name] and case.kind != NOT_NEAR]
            near += [found for case in cases if (found := signature(case.new, f"http://b.example/{chance.random()}"))]
        yield name, made[name], near[:wanted], [made[other] for other in others[:REPOSITORY]]


def table_4(pages: dict[str, Paragraphs]) -> str:
    """Precision and recall, and the reduction by the filters, at the paper's threshold."""
    rows: list[Sequence[object]] = []
    sums: list[tuple[float, float]] = []
    check = MwoCheck(0.5)
    for name, query, near, others in repositories(pages, random.Random(4)):
        found = Kept(check, [*near, *others]).found(query)
        right = sum(page < len(near) for page in found)
        fifty = [query, *near[:3], *others[: REPOSITORY - 4]]  # as many near-duplicates as the paper's example has
        kept = Kept(check, fifty)
        survivors = kept.candidates(query)
        terms = [
            len({term for made in group for term in Record.from_bytes(made).hashes.tolist()})
            for group in (fifty, [fifty[page] for page in survivors])
        ]
        precision, recall = right / max(1, len(found)), right / len(near)
        sums.append((precision, recall))
        rows.append(
            (
                name.split("#")[0],
                len(near),
                f"{precision:.1%}",
                f"{recall:.1%}",
                f"{terms[0]} × {len(fifty)} → {terms[1]} × {len(survivors)}",
            )
        )
    rows.append(("average", "", *(f"{statistics.mean(column):.1%}" for column in zip(*sums, strict=True)), ""))
    rows.append(("the paper's average", "59–167", "94.3%", "94.7%", "3000 × 50 → 2500 × 6"))
    return table(("query", "near-duplicates", "precision", "recall", "terms × pages → after the filters"), rows)


def main() -> None:
    data, _ = folders(__doc__, "text/ and html/")
    pages = originals(data, "report", random.Random(3))
    show("The paper's experiment (Table 4)", table_4(pages))


if __name__ == "__main__":
    main()
