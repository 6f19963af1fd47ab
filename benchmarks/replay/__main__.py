"""``python -m benchmarks.replay SITE…``: crawl stored sites, dedup off and on, and say what it costs and saves.

The figures of each site come from one run: one loopback server, crawls that alternate, each a `scrapy crawl` process.
Items, logs and indexes stay in the folder that is named at the end.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from compileall import compile_dir
from pathlib import Path

from benchmarks.replay import report
from benchmarks.replay.run import ROOT, CrawlFailedError, served
from benchmarks.replay.store import NoDataError, sites
from benchmarks.texts import DEFAULT_DATA


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of stored crawls; none: list them")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the folder of real crawls [%(default)s]")
    parser.add_argument("--pages", type=int, help="only whole sections of the site, up to so many pages")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="crawls of each kind, off and on by turns")
    parser.add_argument("--checks", help="as in DEDUP_CHECKS")
    parser.add_argument("--calls", action="store_true", help="count calls too, in two more crawls, off and on")
    parser.add_argument("--out", type=Path, help="folder for results [a temporary one]")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that crawls and servers end with us
    try:
        known = sites(arguments.data)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 0 if arguments.data == DEFAULT_DATA else 2
    if min(arguments.repeat, arguments.pages or 1) < 1:
        parser.error("--repeat and --pages take a number from 1 on")
    if unknown := set(arguments.sites) - set(known):
        parser.error(f"no stored crawl {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if not arguments.sites:
        print("\n".join(known))
        return 0
    compile_dir(ROOT / "dedupcrawl", quiet=1)  # as pip does: no user's crawl compiles the package
    out = arguments.out or Path(tempfile.mkdtemp(prefix="replay-"))
    for name in arguments.sites:
        try:
            _replay(name, known[name], (out / name).absolute(), arguments)
        except CrawlFailedError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"\nlogs, items and indexes: {out}")
    return 0


def _replay(name: str, path: Path, out: Path, arguments: argparse.Namespace) -> None:
    checks = {"DEDUP_CHECKS": arguments.checks} if arguments.checks else {}
    with served(path, arguments.pages, out) as site:
        pages = site.pages
        size = sum(len(page.body) for page in pages.values()) / 1e6
        print(f"\n{name}: {len(pages)} pages stored, {size:.0f} MB", flush=True)
        off, on = [], []
        for turn in range(arguments.repeat):
            off.append(site.crawl(f"off-{turn}", dedup=False))
            on.append(site.crawl(f"on-{turn}", checks, dedup=True))
        print("\n".join(report.costs(off, on)), flush=True)
        if arguments.calls:
            counted = (
                site.crawl("calls-off", dedup=False, calls=True),
                site.crawl("calls-on", checks, dedup=True, calls=True),
            )
            print("\n".join(report.calls(*counted)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
