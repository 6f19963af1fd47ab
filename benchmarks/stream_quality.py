"""What a user gets: pages in streaming order through the detector with the default checks, on an index in LMDB.

    python -m benchmarks.stream_quality [--data DIR] [--half report] [--checks exact,simhash]

Every page is dropped for a page kept before it, or kept. The drop of a planted variant is right when its keeper is the
original or another variant of it, or has at least three quarters of its words all the same, because some documents are
nearly the same text. The drop of a page that only looks like another is wrong. The documents are split in halves by a
hash of their names: what was chosen was chosen on "tune", nothing on "report".
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.long_pages import long_documents, long_look_alikes
from benchmarks.planted import FALSE_SHARE, Paragraphs, differing_share, shingle_jaccard, size
from benchmarks.planted_cases import Case, look_alikes, originals, other_things, variants, versions
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, make_checks
from dedupcrawl.content.evidence import Evidence, compare
from dedupcrawl.content.model import TARGET_PRECISION, packaged
from dedupcrawl.core.features import FEATURES
from dedupcrawl.core.main_outline import packed as outline
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import View, is_worth_comparing
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

ALIKE = 0.8  # Jaccard similarity from which two versions should be found


@dataclass(frozen=True, slots=True)
class Row:
    """One page of a stream.

    Attributes:
        kind: How it was made.
        group: Pages of one group say the same.
        page: Its paragraphs.
        duplicate: Whether an earlier page of the group was in the stream.
    """

    kind: str
    group: str
    page: Paragraphs
    duplicate: bool

    @property
    def may_go(self) -> bool:
        """Whether an earlier page may say the same: it was made to, or it is a document that nothing was done to."""
        return self.duplicate or self.kind == "original"


def planted(data: Path, half: str) -> list[Row]:
    """Originals, their variants, and pairs of pages that only look alike; shuffled, but each original first."""
    chance = random.Random(7)
    pages = originals(data, half, chance)
    return rows_of(pages, list(variants(pages, chance)), list(look_alikes(pages, chance)), chance)


def hard(data: Path, half: str) -> list[Row]:
    """Originals, and other pages in nearly the same words."""
    chance = random.Random(7)
    pages = originals(data, half, chance)
    return rows_of(pages, [], list(other_things(pages, chance)), chance)


def long(data: Path, half: str) -> list[Row]:
    """Long pages, and others that say something more or else in one place."""
    chance = random.Random(7)
    pages = long_documents(data, half, chance)
    return rows_of(pages, [], list(long_look_alikes(pages, chance)), chance)


def rows_of(
    pages: dict[str, Paragraphs], duplicates: Sequence[Case], look_alike: Sequence[Case], chance: random.Random
) -> list[Row]:
    """Pages and what was made of them, shuffled, but each page before what was made of it."""
    names = {page: name for name, page in pages.items()}
    first: dict[str, Row] = {name: Row("original", name, page, False) for name, page in pages.items()}
    others = [
        Row(f"{names[case.kept][:2]}: {case.kind}", names[case.kept], case.new, case.duplicate) for case in duplicates
    ]
    for number, case in enumerate(look_alike):
        group = names.get(case.kept, f"look-alike {number}")
        first.setdefault(group, Row("first of its template", group, case.kept, False))
        others.append(Row(case.kind, f"{group} other {number}", case.new, False))
        if group not in pages:
            others.append(first[group])
    others += [row for row in first.values() if row.kind == "original"]
    chance.shuffle(others)
    # An original, and a bulletin's, stand where the first page made from it would.
    return list(_originals_first(others, first))


def _originals_first(rows: Iterable[Row], first: dict[str, Row]) -> Iterator[Row]:
    given: set[str] = set()
    for row in rows:
        group = row.group.split(" other ")[0]
        if group not in given:
            given.add(group)
            yield first[group]
        if row is not first[group]:
            yield row


@dataclass(slots=True)
class Outcome:
    """Verdicts on a stream, and what it cost.

    Attributes:
        verdicts: One a row.
        cpu: Seconds of CPU, from the paragraphs to the verdict, index and its merges included.
        slowest: Milliseconds of CPU of the slowest page.
        bytes_a_page: Of the index's files, by kept page.
        pages: Kept.
    """

    verdicts: list[Verdict]
    cpu: float
    slowest: float
    bytes_a_page: float
    pages: int


def stream(rows: Sequence[Paragraphs], names: Sequence[str]) -> Outcome:
    """Judge the pages in their order; page i has the URL i."""
    checks = make_checks(names, {})
    verdicts: list[Verdict] = []
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="stream-quality-") as folder:
        index = LmdbIndex(Path(folder), checks)
        detector = Detector(index, run="run")
        begin = time.process_time()
        for number, paragraphs in enumerate(rows):
            started = time.process_time()
            page = Page(f"http://site{number % 50}.example/articles/{number}.html", paragraphs=paragraphs)
            verdicts.append(detector.judge(Analysis(page, detector.index.secret), checks))
            slowest = max(slowest, time.process_time() - started)
        cpu = time.process_time() - begin
        info = index.info()
        index.close()
        pages = int(info["pages"])
        return Outcome(verdicts, cpu, slowest * 1000, int(info["bytes"]) / pages, pages)


def number_of(url: str) -> int:
    return int(url.rsplit("/", 1)[1].removesuffix(".html"))


def report_planted(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Print recall by kind, false drops and the cost."""
    outcome = stream([row.page for row in rows], names)
    found: dict[tuple[bool, str], list[bool]] = defaultdict(list)
    by_check: Counter[str] = Counter()
    wrong = differing = 0
    for row, verdict in zip(rows, outcome.verdicts, strict=True):
        dropped = verdict.duplicate_of is not None
        right = False
        if verdict.duplicate_of is not None:
            keeper = rows[number_of(verdict.duplicate_of)]
            by_check[verdict.check or ""] += 1
            differs = differing_share(row.page, keeper.page) > FALSE_SHARE
            differing += differs
            right = row.may_go and (keeper.group == row.group or not differs)
            wrong += not right
        found[row.duplicate, row.kind].append(right if row.duplicate else dropped)
    for duplicate, title in ((True, "rightly dropped"), (False, "dropped, though not planted")):
        if not any(is_duplicate is duplicate for is_duplicate, _ in found):
            continue
        kinds = sorted((kind, facts) for (is_duplicate, kind), facts in found.items() if is_duplicate is duplicate)
        table(title, ["pages", "share"], [(kind, [len(facts), statistics.mean(facts)]) for kind, facts in kinds])
    drops = by_check.total()
    print(
        f"\n{drops} drops, {wrong} wrong (precision {1 - wrong / max(1, drops):.4f}); {differing} pages differ from "
        f"their keeper in over a quarter of their words; by check: {dict(by_check)}"
    )
    kept = [row.page for row, verdict in zip(rows, outcome.verdicts, strict=True) if not verdict.duplicate_of]
    words, kept_words = (statistics.mean(map(size, pages)) for pages in ([row.page for row in rows], kept))
    print(
        f"{len(rows)} pages of {words:.0f} words: {len(rows) / outcome.cpu:,.0f} a CPU second, "
        f"{1e6 * outcome.cpu / len(rows):.0f} µs each, the slowest {outcome.slowest:.1f} ms; "
        f"{outcome.bytes_a_page:.0f} bytes of index for each of {outcome.pages} kept pages of {kept_words:.0f} words"
    )


def report_versions(data: Path, half: str, names: Sequence[str], language: str) -> None:
    """Print what is dropped of later versions, what evidence refused there and why, and the false pairs."""
    pairs = [pair for pair in versions(data, half) if pair[0].startswith(language)]
    pages = [earlier for _, earlier, _ in pairs] + [later for _, _, later in pairs]
    outcome = stream(pages, names)
    alike = [shingle_jaccard(earlier, later) for _, earlier, later in pairs]
    bands: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    false = elsewhere = 0
    for number, (_, earlier, later) in enumerate(pairs):
        keeper = outcome.verdicts[len(pairs) + number].duplicate_of
        if keeper and number_of(keeper) % len(pairs) != number:
            elsewhere += 1
            false += differing_share(later, pages[number_of(keeper)]) > FALSE_SHARE
        if alike[number] >= ALIKE:
            supersedes = outcome.verdicts[len(pairs) + number].evidence.get("supersedes", [])
            found_all = number in map(number_of, supersedes)
            for band in ("the same" if alike[number] == 1 else "changed", "all"):
                bands[band].append((keeper is not None, keeper is not None or found_all))
            if keeper is None and not found_all:
                views = bare(later), bare(earlier)
                reasons[refusal(compare(*views, packaged()) if is_worth_comparing(*views) else None)] += 1
    table(
        f"{language}: versions, Jaccard >= {ALIKE}",
        ["pairs", "dropped", "or superseding"],
        [(f"words: {kind}", [len(facts), *np.mean(facts, axis=0).tolist()]) for kind, facts in sorted(bands.items())],
    )
    compared = len(pages) * (len(pages) - 1) / 2
    print(f"refused by the evidence: {dict(reasons)}")
    print(
        f"dropped for a document of another name: {elsewhere}; {false} of these differ in over a quarter "
        f"of their words, {1e6 * false / compared:.1f} in a million pairs"
    )


def bare(text: tuple[str, ...]) -> View:
    """A main text, without the rest of its page."""
    return View("", "", "", outline(SymbolText.of(text)), PageContext(), Template())


def refusal(found: Evidence | None) -> str:
    """What spoke most against a pair."""
    model = packaged()
    if found is None:
        return "little in common"
    if found.probability >= model.threshold(TARGET_PRECISION):
        return "not refused: no check brought it up"
    values = dict(zip((feature.name for feature in FEATURES), found.values, strict=True))
    return min(model.weights, key=lambda name: model.weights[name] * values[name])


def table(title: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[float | int | str]]]) -> None:
    print(f"\n{title:34}" + "".join(f"{column:>14}" for column in columns))
    for name, values in rows:
        shown = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in values)
        print(f"{name:34}" + "".join(f"{value:>14}" for value in shown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of test data that holds text/")
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--checks", default=",".join(DEFAULT_CHECKS), help=f"of {', '.join(CHECK_NAMES)}")
    given = parser.parse_args()
    data, names = data_folder(given.data), given.checks.split(",")
    report_planted(planted(data, given.half), names)
    print("\nOther pages in nearly the same words")
    report_planted(hard(data, given.half), names)
    print("\nLong pages, and others that say something more or else in one place")
    report_planted(long(data, given.half), names)
    for language in ("zh", "en"):
        report_versions(data, given.half, names, language)


if __name__ == "__main__":
    main()
