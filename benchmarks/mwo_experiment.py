"""Minimum weight overlapping: the paper's experiment, what its filters lose, and what a growing repository costs.

    python -m benchmarks.mwo_experiment [--data DIR] [--output docs/measured/mwo.md] [--pages 20000]

Only documents of the "report" half are used; threshold and dynamic threshold were chosen on the other one.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.checks_quality import postings_of
from benchmarks.markdown import table
from benchmarks.mwo_filters import Order, TwoSidedIndex, by_frequency, by_hash, ordered, paper_passes
from benchmarks.mwo_records import Record, record_of
from benchmarks.planted import Paragraphs, size
from benchmarks.planted_cases import SOURCES, look_alikes, originals, variants, versions
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.mwo import MARGIN, MwoCheck, least_overlap
from dedupcrawl.content.terms import STOPPED, term_sequence
from dedupcrawl.core.overlap import TOTAL, overlap
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

mpl.use("Agg")
from matplotlib import pyplot as plt

OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "mwo.md"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
QUERIES = 10
REPOSITORY = 50  # pages that are no near-duplicates, for each query
NEAR = (59, 167)  # near-duplicates of a query in the paper's Table 4, least and most
NOT_NEAR = "excerpt of 40%"  # a part of a page is no near-duplicate of it
SAMPLE = 2000  # pages whose document frequencies a frozen order is made of
TIMED = 200  # queries that are timed

Signed = tuple[str, bytes]


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


def by_kind(pages: dict[str, Paragraphs]) -> str:
    """How many of each kind of variant and look-alike reach each threshold."""
    chance = random.Random(5)
    few = {name: pages[name] for name in chance.sample(sorted(pages), min(400, len(pages)))}
    shares: dict[tuple[bool, str], list[float]] = {}
    for case in (*variants(few, chance), *look_alikes(few, chance)):
        new, kept = signature(case.new, "http://b.example/new"), signature(case.kept, "http://a.example/kept")
        shares.setdefault((not case.duplicate, case.kind), []).append(mwo(new, kept) if new and kept else 0.0)
    rows = [
        (
            "look-alike" if alike else "duplicate",
            kind,
            len(found),
            *(f"{np.mean(np.array(found) >= t):.3f}" for t in THRESHOLDS),
        )
        for (alike, kind), found in sorted(shares.items())
    ]
    return table(("", "kind", "pairs", *(f"MWO >= {t}" for t in THRESHOLDS)), rows)


def jaccard(one: Paragraphs, other: Paragraphs) -> float:
    """Of the sets of 5-symbol shingles."""
    sets = [
        set(zip(*(symbols[n:] for n in range(5)), strict=False))
        for symbols in (SymbolText.of(one).symbols, SymbolText.of(other).symbols)
    ]
    return len(sets[0] & sets[1]) / max(1, len(sets[0] | sets[1]))


def table_versions(data: Path) -> str:
    """Two releases of one documentation: does the later page find the earlier one, and what else."""
    pairs = [(name, earlier, later, jaccard(earlier, later)) for name, earlier, later in versions(data, "report")]
    rows = []
    old = {name: made for name, earlier, _, _ in pairs if (made := signature(earlier, f"http://a.example/7.5/{name}"))}
    new = {name: made for name, _, later, _ in pairs if (made := signature(later, f"http://a.example/8.5/{name}"))}
    names = sorted(old)
    for threshold in THRESHOLDS:
        kept = Kept(MwoCheck(threshold), [old[name] for name in names])
        found = {name: {names[page] for page in kept.found(made)} for name, made in new.items()}
        cells = []
        for least, most in ((0.8, 1.0), (0.5, 0.8), (0.0, 0.5)):
            some = [name for name, _, _, alike in pairs if name in new and least <= alike <= most and name in old]
            cells.append(f"{sum(name in found[name] for name in some)} of {len(some)}")
        others = sum(len(hits - {name}) for name, hits in found.items())
        rows.append((threshold, *cells, others, f"{1e6 * others / (len(new) * len(old)):.0f}"))
    head = ("threshold", "Jaccard >= .8 found", ".5 – .8", "< .5", "other pages found", "per million pairs")
    return table(head, rows)


def losses(pages: dict[str, Paragraphs]) -> str:
    """True pairs that the paper's filters drop, of real pages and of records with uneven weights."""
    chance = random.Random(6)
    few = {name: pages[name] for name in chance.sample(sorted(pages), min(150, len(pages)))}
    cases = list(variants(few, chance))
    real = [made for case in cases for page in (case.new, case.kept) if (made := signature(page))]
    uneven: list[bytes] = []
    for _ in range(300):
        words = {f"w{chance.randrange(60)}": 1 + int(1000 * chance.random() ** 4) for _ in range(20)}
        for _ in range(3):
            changed = {word: max(1, int(weight * chance.uniform(0.3, 3))) for word, weight in words.items()}
            uneven.append(record_of(changed, most=80))
    rows = []
    for kind, records in (("real pages", real), ("20 terms, uneven weights", uneven)):
        arrays = list(map(Record.from_bytes, records))
        order = by_frequency(arrays)
        sorted_records = [ordered(record, order) for record in arrays]
        for threshold in THRESHOLDS:
            least = least_overlap(threshold)
            check = MwoCheck(threshold)
            true = prefix_lost = both_lost = ours_lost = 0
            kept = Kept(check, records)
            for one in range(0, len(records), 3):
                found = kept.found(records[one])
                for other in range(len(records)):
                    if other == one or overlap(records[one], records[other]) < least:
                        continue
                    true += 1
                    in_c, in_m = paper_passes(sorted_records[one], sorted_records[other], threshold)
                    prefix_lost += not in_c
                    both_lost += not in_m
                    ours_lost += other not in found
            rows.append((kind, threshold, true, prefix_lost, both_lost, ours_lost))
    head = (
        "records",
        "threshold",
        "pairs with MWO >= t",
        "lost by the paper's prefix",
        "by prefix and position",
        "by ours",
    )
    return table(head, rows)


def mixed_pages(pages: dict[str, Paragraphs], count: int) -> list[bytes]:
    """As many pages as are asked for: pieces of some fifty terms of real pages, five a page; one in ten a near-copy."""
    chance = random.Random(7)
    pieces: dict[str, list[Counter[str]]] = {}
    for name, page in pages.items():
        terms = [term for term in term_sequence(SymbolText.of(page).text) if term != STOPPED]
        pieces.setdefault(name[:2], []).extend(Counter(terms[n : n + 50]) for n in range(0, len(terms), 50))
    made: list[list[Counter[str]]] = []
    for _ in range(count):
        if made and chance.random() < 0.1:
            parts = list(chance.choice(made))
            parts[chance.randrange(5)] = chance.choice(pieces[chance.choice(list(pieces))])
        else:
            parts = chance.sample(pieces[chance.choice(list(pieces))], 5)
        made.append(parts)
    check = MwoCheck()
    return [record_of(sum(parts, Counter()), dropped=check.dropped, most=check.max_terms) for parts in made]


def growth(pages: dict[str, Paragraphs], count: int, figure: Path) -> str:
    """Candidates, postings and CPU time of a query as the repository grows, against shared orders."""
    records = mixed_pages(pages, count + TIMED)
    queries, repository = records[-TIMED:], records[:-TIMED]
    sample = list(map(Record.from_bytes, repository[:SAMPLE]))
    sizes = [step for step in (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000) if step <= count]
    orders: list[tuple[str, Order, float]] = [
        (f"frozen sample, β = {MARGIN:g}", by_frequency(sample), MARGIN),
        ("frozen sample, β = 0", by_frequency(sample), 0.0),
        (f"hash order, β = {MARGIN:g}", by_hash, MARGIN),
    ]
    rows: list[Sequence[object]] = []
    curves: dict[tuple[float, str], list[float]] = {}
    for threshold in (0.5, 0.8):
        check = MwoCheck(threshold)
        for step in sizes:
            kept = Kept(check, repository[:step])
            times, numbers, true = [], [], []
            for query in queries:
                start = time.process_time()
                found = kept.candidates(query)
                times.append(time.process_time() - start)
                numbers.append(len(found))
                true.append(sum(check.compare(query, kept.signatures[page]) is not None for page in found))
            terms = statistics.mean(len(Record.from_bytes(record)) for record in repository[:step])
            rows.append(
                (
                    threshold,
                    step,
                    "ours: live order, one side",
                    f"{terms:.0f}",
                    f"{statistics.mean(true):.2f}",
                    f"{statistics.mean(numbers):.2f}",
                    f"{1e6 * statistics.median(times):.0f}",
                )
            )
            curves.setdefault((threshold, "ours"), []).append(statistics.mean(numbers))
            for name, order, margin in orders if step <= 20_000 else ():
                index = TwoSidedIndex(
                    dict(enumerate(map(Record.from_bytes, repository[:step]))), order, threshold, margin
                )
                found_there = [index.candidates(Record.from_bytes(query))[0] for query in queries]
                rows.append(
                    (
                        threshold,
                        step,
                        name,
                        f"{index.postings / step:.0f}",
                        f"{statistics.mean(true):.2f}",
                        f"{statistics.mean(found_there):.2f}",
                        "",
                    )
                )
                curves.setdefault((threshold, name), []).append(statistics.mean(found_there))
    plot(sizes, curves, figure)
    head = (
        "threshold",
        "pages",
        "search",
        "postings a page",
        "duplicates a query",
        "candidates a query",
        "median CPU µs",
    )
    return table(head, rows)


def plot(sizes: Sequence[int], curves: dict[tuple[float, str], list[float]], figure: Path) -> None:
    panels, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for (threshold, name), values in curves.items():
        axis = axes[int(threshold > 0.6)]
        axis.loglog(sizes[: len(values)], values, marker="o", label=name)
        axis.set_title(f"t = {threshold}")
        axis.set_xlabel("pages in the repository")
    axes[0].set_ylabel("candidates to compare, a query")
    axes[0].legend()
    panels.tight_layout()
    panels.savefig(figure, dpi=110)


TEXT = """# Minimum weight overlapping, measured

Made by `python -m benchmarks.mwo_experiment`. Pages are the "report" half of two documentations, Chinese and English;
what was chosen by measuring (threshold .5, dynamic threshold .1, 80 terms) was chosen on the other half.

## The paper's experiment (Table 4), t = .5

Each repository holds planted near-duplicates of the query (up to 10 % of the words edited, blocks shuffled, cut to
70 %, wrapped in a template) and the 50 pages of its language that are most like it. The last column is the paper's
reduction by the filters, on 50 pages of which four are near-duplicates.

{table_4}
## By kind

Share of pairs whose MWO reaches the threshold. Look-alikes are not duplicates: MWO weighs words and cannot tell them
apart, which is why a match is a candidate that evidence has to confirm. A 40 % excerpt is not near its page either.

{by_kind}
## Two releases of one documentation

{versions}
## What the paper's filters lose

They count terms while MWO weighs them. The package's search is exact; these filters are in the benchmark only.

{losses}
## A growing repository

Pages are put together of pieces of real ones, one in ten a near-copy. "Ours" posts a kept page under all its terms and
cuts only the query to a prefix, in the order of the index's own counts at that moment. The others cut both sides to
prefixes of one order, which has to be known to both (frozen after {sample:,} pages, or the hash); their postings depend
on the threshold.

{growth}
![Candidates a query](mwo-growth.png)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder that holds text/ and html/")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--pages", type=int, default=20_000, help="largest repository")
    options = parser.parse_args()
    data = data_folder(options.data)
    pages = originals(data, "report", random.Random(3))
    text = TEXT.format(
        table_4=table_4(pages),
        by_kind=by_kind(pages),
        versions=table_versions(data),
        losses=losses(pages),
        growth=growth(pages, options.pages, options.output.with_name("mwo-growth.png")),
        sample=SAMPLE,
    )
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
