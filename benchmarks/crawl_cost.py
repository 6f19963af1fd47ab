"""What dedupcrawl adds to a crawl, as one table: stored sites, crawled without it and with it by turns.

    python -m benchmarks.crawl_cost [SITE…] [--pages 1000] [--repeat 3] [--with NAME=VALUE]…

A row a site, by benchmarks.replay; with `--with` another row for the same crawl with that setting of Scrapy's or ours,
by turns with the first two. REPLAY_GC=N,N,N is one of the replay's: thresholds of the garbage collector. CPU and
peak memory are those of the whole process, medians; "more CPU" is the median of the pairs, with the least and the
most. Calls, LMDB transactions, and how many of them write, are counted in one more crawl of each kind, but not where
the garbage collector alone is told something else. The load is that of the whole machine, the crawl and the server of
its pages (1 to 1.5) included. The last line is the start of a crawl, by benchmarks.start_cost.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from compileall import compile_dir
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import start_cost
from benchmarks.markdown import table
from benchmarks.replay.report import more
from benchmarks.replay.run import ROOT, CrawlFailedError, Run, Site, served
from benchmarks.replay.store import DATA, NoDataError, sites

_HEAD = (
    *("site", "setting", "pages", "CPU off, s", "on, s", "more CPU, %", "Python calls a page, more", "C calls, more"),
    *("LMDB transactions a page (that write)", "garbage collection, off and on, %", "peak off and on, MB", "load"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The crawls of one kind: the timed ones, and the one whose calls were counted, where they were."""

    timed: Sequence[Run]
    counted: Run | None


@dataclass(frozen=True, slots=True)
class Measured:
    """The crawls of one site.

    Attributes:
        off: Without the add-on.
        on: With it: what was set besides → the crawls.
        loads: Of the machine, after each timed crawl.
    """

    off: Kind
    on: Mapping[str, Kind]
    loads: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sites", nargs="*", default=["uci", "nankai"], metavar="SITE", help="stored crawls [%(default)s]"
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real crawls [%(default)s]")
    parser.add_argument(
        "--pages", type=int, default=1000, help="whole sections of the site, up to so many [%(default)s]"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="N", help="crawls of each kind, by turns [%(default)s]"
    )
    parser.add_argument("--with", dest="given", action="append", default=[], metavar="NAME=VALUE", help="another row")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that crawls and servers end with us
    if min(arguments.repeat, arguments.pages) < 1:
        parser.error("--repeat and --pages take a number from 1 on")
    try:
        known = sites(arguments.data)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 0 if arguments.data == DATA else 2
    if unknown := set(arguments.sites) - set(known):
        parser.error(f"no stored crawl {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    compile_dir(ROOT / "dedupcrawl", quiet=1)  # as pip does: no user's crawl compiles the package
    rows: list[tuple[str, ...]] = []
    try:
        for name in arguments.sites:
            with (
                tempfile.TemporaryDirectory(prefix="crawl-cost-") as out,
                served(known[name], arguments.pages, Path(out) / name) as site,
            ):
                rows += _rows(name, measured(site, ["", *arguments.given], arguments.repeat))
    except CrawlFailedError as error:
        print(error, file=sys.stderr)
        return 1
    print(table(_HEAD, rows))
    print(f"The start of a crawl: {start_cost.measured(arguments.repeat):.2f} CPU seconds more.")
    return 0


def measured(site: Site, kinds: Sequence[str], repeat: int) -> Measured:
    """Crawl a site without the add-on and with it, for each of `kinds`, NAME=VALUE or nothing."""
    off: list[Run] = []
    on: dict[str, list[Run]] = {kind: [] for kind in kinds}
    loads = []
    for turn in range(repeat):
        off.append(site.crawl(f"off-{turn}", dedup=False))
        for number, kind in enumerate(kinds):
            on[kind].append(site.crawl(f"on-{number}-{turn}", _setting(kind), dedup=True))
            loads.append(os.getloadavg()[0])
    counted = {
        kind: site.crawl(f"calls-{number}", _setting(kind), dedup=True, calls=True)
        for number, kind in enumerate(kinds)
        if not kind.startswith("REPLAY_GC")
    }
    return Measured(
        Kind(off, site.crawl("calls-off", dedup=False, calls=True)),
        {kind: Kind(on[kind], counted.get(kind)) for kind in kinds},
        loads,
    )


def _setting(kind: str) -> dict[str, str]:
    name, _, value = kind.partition("=")
    return {name: value} if name else {}


def _rows(name: str, found: Measured) -> Iterator[tuple[str, ...]]:
    off = found.off
    for kind, on in found.on.items():
        ratios = more(off.timed, on.timed, lambda run: run.cpu_s)
        yield (
            name,
            kind,
            f"{on.timed[0].pages:,}",
            f"{median(run.cpu_s for run in off.timed):.1f}",
            f"{median(run.cpu_s for run in on.timed):.1f}",
            f"{median(ratios):.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f})",
            *_calls(off.counted, on.counted),
            " and ".join(f"{100 * median(run.gc_share for run in kind.timed):.1f}" for kind in (off, on)),
            " and ".join(f"{median(run.peak_mb for run in kind.timed):.0f}" for kind in (off, on)),
            f"{min(found.loads):.1f} to {max(found.loads):.1f}",
        )


def _calls(off: Run | None, on: Run | None) -> tuple[str, str, str]:
    """Python and C calls a page that the add-on adds, and the transactions."""
    if off is None or on is None:
        return "", "", ""
    return (
        f"{on.python_calls / on.pages - off.python_calls / off.pages:,.0f}",
        f"{on.c_calls / on.pages - off.c_calls / off.pages:,.0f}",
        f"{on.transactions / on.pages:.1f} ({on.infos / on.pages:.1f})",
    )


if __name__ == "__main__":
    sys.exit(main())
