"""``python -m benchmarks.crash_safety``: is a page ever lost when a crawl is killed, or its disk full?

A part of a stored site is crawled from a loopback server, every page and an item each, in processes forked from this
one; for `start` a site that is made up. A main text is lost when no page in any feed shows it, nor one of which a
quarter of the words differs.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from benchmarks.crash_safety.crawling import CrawlFailedError
from benchmarks.crash_safety.disk import disk_table
from benchmarks.crash_safety.killing import resumed, started_over
from benchmarks.crash_safety.kills import Site
from benchmarks.crash_safety.start_queue import start_queue_table
from benchmarks.crash_safety.texts import Texts
from benchmarks.replay.run import Server
from benchmarks.replay.store import DATA, NoDataError, load, sample, sites

PARTS = ("kills", "jobdir", "disk", "start")


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
    parts = set(arguments.parts or PARTS)
    folder = Path(tempfile.mkdtemp(prefix="crash-"))
    try:
        if "start" in parts:
            print(start_queue_table(folder / "start", arguments.seed), flush=True)
        if parts != {"start"}:
            _stored_site(parts, sites(arguments.data)[arguments.site], folder, arguments)
    except NoDataError as error:
        print(error, file=sys.stderr)
        return 0 if arguments.data == DATA else 2
    except KeyError:
        parser.error(f"no stored crawl {arguments.site}")
    except CrawlFailedError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"logs, feeds and indexes: {folder}")
    return 0


def _stored_site(parts: Collection[str], path: Path, folder: Path, given: argparse.Namespace) -> None:
    pages = sample(load(path), given.pages)
    texts = Texts(pages)
    urls = folder / "urls.txt"
    urls.write_text("".join(f"{page.url}\n" for page in pages), encoding="utf-8")
    print(f"{given.site}: {len(pages)} pages, {len(texts)} main texts; seed {given.seed}\n", flush=True)
    with Server(path, given.pages) as port:
        site = Site(urls, port, texts)
        if "kills" in parts:
            print(started_over(site, folder / "kills", given.kills, given.seed), flush=True)
        if "jobdir" in parts:
            print(resumed(site, folder / "jobdir", given.kills, given.seed), flush=True)
        if "disk" in parts:
            print(disk_table(site, folder / "disk", given.disks, given.seed), flush=True)


if __name__ == "__main__":
    sys.exit(main())
