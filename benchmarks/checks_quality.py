"""Recall and false finds of the default checks, alone and confirmed by evidence.

    python -m benchmarks.checks_quality [--data DIR] [--half report]
    python -m benchmarks.checks_quality --choices

The documents are split in halves by a hash of their names. All constants were chosen on "tune" (what `--choices`
prints is always of that half); "report" was not looked at for it. A check finds a pair when its search over all
originals brings up the kept page and `compare` accepts it; *confirmed* adds that the evidence lets the page be dropped.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.planted import Paragraphs, size, words
from benchmarks.planted_cases import SOURCES, Case, look_alikes, originals, variants, versions
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.feature_code import ANCHOR_SETS, FeatureCodeCheck
from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.checks.simhash import FEATURES, MAX_DISTANCE, SimHashCheck
from dedupcrawl.content.evidence import compare_texts
from dedupcrawl.content.model import TARGET_PRECISION, packaged
from dedupcrawl.core.main_outline import packed as outline
from dedupcrawl.core.postings import Tail, View
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page

FALSE_SHARE = 0.25  # a drop whose words differ from its keeper's in more is a false one


def postings_of(check: Check, signatures: Sequence[bytes | None]) -> View:
    """Pages and their postings in sorted arrays, as an index has them."""
    tail = Tail(check.payload_bits)
    for number, signature in enumerate(signatures):
        if signature is not None:
            tail.add(check.keys(signature), number)
    return View([tail.table()], [], check.payload_bits)


class Kept:
    """Kept pages and their postings, as an index would have them."""

    def __init__(self, checks: Sequence[Check], pages: Sequence[Paragraphs]) -> None:
        self.checks = checks
        self.pages = pages
        self.texts = [SymbolText.of(page) for page in pages]
        self.outlines = [outline(text) for text in self.texts]
        self._signatures = {check.name: [check.signature(Page(""), text) for text in self.texts] for check in checks}
        self._postings = {check.name: postings_of(check, self._signatures[check.name]) for check in checks}

    def found(self, check: Check, text: SymbolText) -> set[int]:
        """Pages that the check takes for keepers of a new text."""
        made = check.signature(Page(""), text)
        if made is None:
            return set()
        signatures = self._signatures[check.name]
        candidates = check.candidates(made, self._postings[check.name])
        return {page for page in candidates if check.compare(made, signatures[page] or b"") is not None}


def drops(new: bytes, kept: bytes) -> bool:
    """Whether evidence lets the new page be dropped for the kept one."""
    found = compare_texts(new, kept, packaged())
    return found is not None and found.probability >= packaged().threshold(TARGET_PRECISION)


def table(title: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[float | int | str]]]) -> None:
    print(f"\n{title:34}" + "".join(f"{column:>14}" for column in columns))
    for name, values in rows:
        shown = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)
        print(f"{name:34}" + "".join(f"{value:>14}" for value in shown))


def planted(kept: Kept, cases: Sequence[Case]) -> None:
    """Print recall by kind of variant, finds by kind of look-alike, and what would have been dropped."""
    number_of = {page: number for number, page in enumerate(kept.pages)}
    rows: dict[tuple[bool, str], list[list[bool]]] = defaultdict(list)
    dropped = look_alikes = elsewhere = differing = 0
    for case in cases:
        text = SymbolText.of(case.new)
        new_outline = outline(text)
        keeper = number_of[case.kept]
        found = [kept.found(check, text) for check in kept.checks]
        confirmed = {page for page in set().union(*found) if drops(new_outline, kept.outlines[page])}
        evidence = drops(new_outline, kept.outlines[keeper])
        rows[case.duplicate, case.kind].append(
            [
                *(keeper in pages for pages in found),
                any(keeper in pages for pages in found),
                keeper in confirmed,
                evidence,
            ]
        )
        if confirmed:
            dropped += 1
            look_alikes += not case.duplicate
            elsewhere += case.duplicate and keeper not in confirmed
            differing += min(differing_share(case.new, kept.pages[page]) for page in confirmed) > FALSE_SHARE
    columns = [*DEFAULT_CHECKS, "any", "confirmed", "evidence only"]
    for duplicate, title in ((True, "recall"), (False, "found though another page")):
        table(
            title,
            ["pairs", *columns],
            [
                (kind, [len(facts), *np.mean(facts, axis=0).tolist()])
                for (is_duplicate, kind), facts in rows.items()
                if is_duplicate is duplicate
            ],
        )
    print(
        f"{dropped} drops: {look_alikes} look-alikes, {elsewhere} variants for another page than theirs alone, "
        f"{differing} that differ from their keeper in over a quarter of their words"
    )


def two_versions(kept: Kept, pairs: Sequence[tuple[str, Paragraphs, Paragraphs]]) -> None:
    """Print what is found of a project's later documentation in its earlier one, by how alike they are."""
    bands: dict[str, list[list[bool]]] = defaultdict(list)
    others = false_drops = 0
    for number, (_, earlier, later) in enumerate(pairs):
        text = SymbolText.of(later)
        found = [kept.found(check, text) for check in kept.checks]
        new_outline = outline(text)
        evidence = drops(new_outline, kept.outlines[number])
        pages = {page for page in set().union(*found) if drops(new_outline, kept.outlines[page])}
        others += len(pages - {number})
        false_drops += sum(differing_share(later, kept.pages[page]) > FALSE_SHARE for page in pages)
        bands[_band(shingle_jaccard(earlier, later))].append(
            [*(number in pages for pages in found), any(number in pages for pages in found), number in pages, evidence]
        )
    columns = ["pairs", *DEFAULT_CHECKS, "any", "confirmed", "evidence only"]
    table(
        "two versions, by Jaccard",
        columns,
        [(b, [len(v), *np.mean(v, axis=0).tolist()]) for b, v in sorted(bands.items())],
    )
    print(
        f"confirmed for a document of another name: {others}; differing in over a quarter of its words: {false_drops}"
    )


def _band(jaccard: float) -> str:
    edges = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)
    return next(f"from {edge:.2f}" for edge in edges if jaccard >= edge)


def shingle_jaccard(a: Paragraphs, b: Paragraphs) -> float:
    """Of five symbols."""
    one, two = (
        {tuple(symbols[place : place + 5]) for place in range(len(symbols) - 4)}
        for symbols in (SymbolText.of(page).symbols for page in (a, b))
    )
    return len(one & two) / max(1, len(one | two))


def differing_share(new: Paragraphs, kept: Paragraphs) -> float:
    """Share of a page's words that its keeper does not have, each as often: a yardstick that knows no alignment."""
    its_words = Counter(words(new))
    return (its_words - Counter(words(kept))).total() / its_words.total()


def costs(pages: Sequence[Paragraphs], checks: Sequence[Check], variants_of: Sequence[Case]) -> None:
    """Print the CPU time a page; medians of five passes."""
    texts = [SymbolText.of(page) for page in pages]
    pairs = [(outline(SymbolText.of(case.new)), outline(SymbolText.of(case.kept))) for case in variants_of]
    symbols = statistics.mean(len(text.hashes) for text in texts)
    print(f"\nCPU µs a page, {len(pages)} pages of {symbols:.0f} symbols on average")

    def measure(name: str, work: Callable[[Any], object], things: Sequence[Any]) -> None:
        passes = []
        for _ in range(5):
            begin = time.process_time()
            for thing in things:
                work(thing)
            passes.append((time.process_time() - begin) / len(things) * 1e6)
        print(f"  {name:32}{statistics.median(passes):8.1f}")

    def sign(check: Check) -> Callable[[SymbolText], object]:
        return lambda text: check.signature(Page(""), text)

    measure("fold, symbols and hashes", lambda page: SymbolText.of(page).hashes, pages)
    for check in checks:
        measure(check.name, sign(check), texts)
    measure("outline", outline, texts)
    measure("evidence", lambda pair: drops(*pair), pairs)

    def everything(page: Paragraphs) -> None:
        text = SymbolText.of(page)
        for check in checks:
            check.signature(Page(""), text)
        outline(text)

    measure("all signatures and the outline", everything, pages)


def choices(pages: dict[str, Paragraphs], cases: Sequence[Case]) -> None:
    """Print what the choice of anchors, features and distance was made by."""
    for language in SOURCES:
        of_language = {page for name, page in pages.items() if name.startswith(language)}
        chosen = [case for case in cases if case.kept in of_language]
        kinds = list(dict.fromkeys(case.kind for case in chosen))
        settings: list[tuple[str, Check]] = [
            *((f"anchors {name}", FeatureCodeCheck(anchors=name)) for name in ANCHOR_SETS),
            *((f"{kind}, k = {k}", SimHashCheck(k, features=kind)) for kind in FEATURES for k in (3, 5, MAX_DISTANCE)),
        ]
        rows = []
        for name, check in settings:
            hits: dict[str, list[bool]] = defaultdict(list)
            for case in chosen:
                made = [check.signature(Page(""), SymbolText.of(page)) for page in (case.new, case.kept)]
                hits[case.kind].append(None not in made and check.compare(made[0] or b"", made[1] or b"") is not None)
            rows.append((name, [float(np.mean(hits[kind])) for kind in kinds]))
        print(f"\n{language}: " + "; ".join(f"[{number}] {kind}" for number, kind in enumerate(kinds)))
        table("found", [f"[{number}]" for number in range(len(kinds))], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--choices", action="store_true", help="print what constants were chosen by")
    given = parser.parse_args()
    data, half = data_folder(given.data), "tune" if given.choices else given.half
    chance = random.Random(7)
    pages = originals(data, half, chance)
    duplicates, others = list(variants(pages, chance)), list(look_alikes(pages, chance))
    mean = statistics.mean(map(size, pages.values()))
    print(f"{len(pages)} originals of the half {half!r}, {mean:.0f} words on average")
    if given.choices:
        choices(pages, duplicates)
        return
    checks = make_checks(DEFAULT_CHECKS, {})
    kept = Kept(checks, list(dict.fromkeys([*pages.values(), *(case.kept for case in others)])))
    planted(kept, [*duplicates, *others])
    pairs = list(versions(data, half))
    two_versions(Kept(checks, [earlier for _, earlier, _ in pairs]), pairs)
    costs(list(pages.values()), checks, duplicates)


if __name__ == "__main__":
    main()
