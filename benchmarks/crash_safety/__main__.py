"""``python -m benchmarks.crash_safety``: is a page ever lost when a crawl is killed, or its disk full?

A part of a stored site is crawled from a loopback server, every page and an item each, in processes forked from this
one. A main text is lost when no page in any feed shows it, nor one of which a quarter of the words differs.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks.crash_safety.crawling import CrawlFailedError
from benchmarks.crash_safety.disk import disk_table
from benchmarks.crash_safety.killing import resumed, started_over
from benchmarks.crash_safety.kills import Site
from benchmarks.crash_safety.texts import Texts
from benchmarks.replay.run import Server
from benchmarks.replay.store import DATA, NoDataError, load, sample, sites

PARTS = ("kills", "jobdir", "disk")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash_safety", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} [all]")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real crawls [%(default)s]")
    parser.add_argument("--site", default="nankai", help="the stored crawl [%(default)s]")
    parser.add_argument("--pages", type=int, default=300, help="of it, at most [%(default)s]")
    parser.add_argument("--kills", type=int, default=20, help="[%(default)s]")
    parser.add_argument("--disks", type=int, default=6, help="small disks [%(default)s]")
    parser.add_argument("--seed", type=int, default=5, help="[%(default)s]")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that crawls and servers end with us
    try:
        path = sites(arguments.data)[arguments.site]
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 0 if arguments.data == DATA else 2
    except KeyError:
        parser.error(f"no stored crawl {arguments.site}")
    pages = sample(load(path), arguments.pages)
    texts = Texts(pages)
    folder = Path(tempfile.mkdtemp(prefix="crash-"))
    urls = folder / "urls.txt"
    urls.write_text("".join(f"{page.url}\n" for page in pages), encoding="utf-8")
    print(f"{arguments.site}: {len(pages)} pages, {len(texts)} main texts; seed {arguments.seed}\n", flush=True)
    parts = arguments.parts or PARTS
    try:
        with Server(path, arguments.pages) as port:
            site = Site(urls, port, texts)
            if "kills" in parts:
                print(started_over(site, folder / "kills", arguments.kills, arguments.seed), flush=True)
            if "jobdir" in parts:
                print(resumed(site, folder / "jobdir", arguments.kills, arguments.seed), flush=True)
            if "disk" in parts:
                print(disk_table(site, folder / "disk", arguments.disks, arguments.seed), flush=True)
    except CrawlFailedError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"logs, feeds and indexes: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
