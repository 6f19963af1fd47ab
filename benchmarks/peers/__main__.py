"""The package's checks beside five libraries, in one run, on planted pages and on two releases of a documentation.

    python -m benchmarks.peers [--data DIR] [--figures DIR]

Only documents of the half "report" are judged. A peer runs as its documentation shows it, and with the setting that
has the best F1 on the other half. All methods see the same pages in the same order; CPU times are medians of three
runs in turn.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.markdown import folders, show, table
from benchmarks.peers.methods import Peer, Setting, all_peers
from benchmarks.peers.plot import Point, plot
from benchmarks.peers.run import Run, bytes_a_page, run_ours, run_peer, run_published
from benchmarks.peers.stream import ALIKE, KINDS, LANGUAGES, Quality, VersionPages, planted_rows, quality
from benchmarks.planted import Paragraphs, size
from benchmarks.planted_cases import Row
from dedupcrawl.content.checks.registry import CHECK_NAMES, DEFAULT_CHECKS, make_checks

RUNS = 3
TIMED_ON = 2000  # pages
SLOW = 10.0  # seconds of CPU from which on a method is timed once
TUNED_ON = 2000  # pages of the other half that a peer's best setting is chosen on


@dataclass(frozen=True, slots=True)
class Method:
    """A line of the tables.

    Attributes:
        name: For people.
        setting: For people, too.
        run: Judges a stream.
        kept_bytes: What is kept of a page, in bytes; None where its runs say so, or nobody does.
    """

    name: str
    setting: str
    run: Callable[[Sequence[Paragraphs]], Run]
    kept_bytes: Callable[[], float | None] = lambda: None


def best(peer: Peer, rows: Sequence[Row]) -> tuple[Setting, Quality]:
    """The setting with the highest F1 on these pages."""
    pages = [row.page for row in rows]
    tried = [(setting, quality(rows, run_peer(setting, pages).matches)) for setting in peer.tried]
    return max(tried, key=lambda pair: pair[1].f1)


def methods(language: str, tune: Sequence[Row]) -> list[Method]:
    """Ours with the defaults, ours by check, and the peers.

    These pages have no titles. Shingles are no paper's check but a source of candidates for evidence. Concepts take
    longest by far, and have a benchmark of their own: here they run once.
    """
    found = [Method("dedupcrawl", "the default checks", partial(run_ours, DEFAULT_CHECKS))]
    names = [name for name in CHECK_NAMES if name != "title"]
    for name, check in zip(names, make_checks(names, {}), strict=True):
        if name != "shingles" and (name != "concepts" or language == "en"):
            found.append(Method(name, "as published", partial(run_published, check)))
        if name != "concepts":
            found.append(Method(name, "with evidence", partial(run_ours, [name])))
    others = [row.page for row in tune]
    for peer in all_peers(language):
        tuned, _ = best(peer, tune[:TUNED_ON])
        for way, setting in (("as documented", peer.documented), ("best on the tuning half", tuned)):
            kept_bytes = partial(bytes_a_page, language, peer.name, setting.name, others)
            found.append(Method(peer.name, f"{way}: {setting.name}", partial(run_peer, setting), kept_bytes))
        print(f"{language}: {peer.name}: {tuned.name}", flush=True)
    return found


def speeds(found: Sequence[Method], rows: Sequence[Row]) -> list[float]:
    """Pages a CPU second: medians of runs in turn."""
    pages = [row.page for row in rows[:TIMED_ON]]
    spent: list[list[float]] = [[] for _ in found]
    for _ in range(RUNS):
        for method, seconds in zip(found, spent, strict=True):
            if not seconds or seconds[0] < SLOW:
                seconds.append(method.run(pages).cpu)
    return [len(pages) / statistics.median(seconds) for seconds in spent]


def quality_table(found: Sequence[Method], rows: Sequence[Row]) -> tuple[str, list[Point]]:
    """Recall by kind, precision, look-alikes, speed and size."""
    lines: list[Sequence[object]] = []
    points = []
    for method, speed in zip(found, speeds(found, rows), strict=True):
        run = method.run([row.page for row in rows])
        made = quality(rows, run.matches)
        kept = run.bytes_a_page if run.bytes_a_page is not None else method.kept_bytes()
        lines.append(
            (
                method.name,
                method.setting,
                *(f"{made.recall[kind]:.3f}" for kind in KINDS),
                f"{made.mean_recall:.3f}",
                f"{made.precision:.4f}",
                f"{made.templates:.2f}",
                f"{made.bulletins:.3f}",
                f"{speed:,.0f}",
                f"{kept:,.0f}" if kept is not None else "–",
            )
        )
        points.append(Point(method.name, method.setting, made.mean_recall, made.precision, made.bulletins))
    head = (
        "method",
        "setting",
        *KINDS,
        "recall, all but excerpt",
        "precision",
        "85 % templates dropped",
        "bulletins dropped",
        "pages a CPU second",
        "bytes a page",
    )
    return table(head, lines), points


def versions_table(found: Sequence[Method], versions: VersionPages) -> str:
    """Two releases of the Chinese documentation."""
    lines: list[Sequence[object]] = []
    for method in found:
        if method.name == "concepts":
            continue
        matches = method.run(versions.pages).matches
        lines.append(
            (
                method.name,
                method.setting,
                f"{versions.recall(matches):.3f}",
                f"{versions.false_per_million(matches):.1f}",
            )
        )
    return table(("method", "setting", "Jaccard >= .8: dropped", "false drops in a million pairs"), lines)


def main() -> None:
    data, figures = folders(__doc__, "text/ and html/")
    points: dict[str, list[Point]] = {}
    for language, name in LANGUAGES.items():
        rows = planted_rows(data, "report", language)
        found = methods(language, planted_rows(data, "tune", language))
        lines, points[name] = quality_table(found, rows)
        words = sum(size(row.page) for row in rows) / len(rows)
        show(f"{name}: {len(rows):,} pages of {words:.0f} words", lines)
    versions = VersionPages.of(data, "report", "zh")
    pairs = sum(alike >= ALIKE for alike in versions.alike)
    show(f"Two releases: {pairs} pairs of Jaccard >= {ALIKE}", versions_table(found, versions))
    plot(points, figures / "peers.png")


if __name__ == "__main__":
    main()
