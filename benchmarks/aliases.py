"""``python -m benchmarks.aliases [SITE…]``: what it costs to look for aliases in a page, and to keep a million of them.

Pages are those of stored crawls, each read once for all sources. A million aliases, 20 of a page as a forum has them,
are put into an index as a crawl puts them there, and some asked for in another order. Memory is what this process
holds of its own besides: hashes of the URLs that a crawl was led to. LMDB's pages are files', which the system drops
when it needs room.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

from benchmarks.markdown import table
from benchmarks.replay.store import DATA, NoDataError, load, sites
from dedupcrawl.aliases.alias import NAME, Alias
from dedupcrawl.aliases.sources import SOURCES, aliases_said
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.html import facts_of
from dedupcrawl.crawl.discoveries import Discoveries
from dedupcrawl.index.lmdb import LmdbIndex

_OF_A_PAGE = 20  # aliases
_REPEATS = 5
_ASKED = 20_000  # of the aliases


def main() -> int:
    """Print two tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.aliases", description=__doc__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="stored crawls (default: all)")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with crawls/ (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=1_000, help="of a site (default: %(default)s)")
    parser.add_argument("--aliases", type=int, default=1_000_000, help="that are kept (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        found = sites(arguments.data)
    except NoDataError as error:
        parser.exit(2, f"{error}\n")
    rows = [_looked_for(name, found[name], arguments.pages) for name in arguments.sites or found]
    print(table(("site", "pages", "KB a page", "aliases said", "of them by", "µs a page"), rows))
    with tempfile.TemporaryDirectory(prefix="aliases-") as folder:
        print(
            table(
                ("aliases", "tell one, µs", "ask for one, µs", "MB of memory", "MB on disk"),
                [_kept(Path(folder), arguments.aliases)],
            )
        )
    return 0


def _looked_for(name: str, path: Path, most: int) -> tuple[str, ...]:
    pages = [page for page in load(path) if page.mime.startswith(("text/html", "application/xhtml"))][:most]
    wanted, said = frozenset(SOURCES), Counter[str]()
    for page in pages:
        said.update(aliases_said(page.url, facts_of(page.body), {}, wanted).values())
    taken = []
    for _ in range(_REPEATS):
        begun = time.process_time()
        for page in pages:
            aliases_said(page.url, facts_of(page.body), {}, wanted)
        taken.append(time.process_time() - begun)
    size = sum(len(page.body) for page in pages) / len(pages) / 1024
    by = ", ".join(f"{source} {count:,}" for source, count in said.most_common()) or "–"
    cost = median(taken) / len(pages) * 1e6
    return name, f"{len(pages):,}", f"{size:.0f}", f"{said.total():,}", by, f"{cost:.0f}"


def _kept(folder: Path, count: int) -> tuple[str, ...]:
    """Aliases as `crawl.aliases` keeps them, and what a crawl remembers of the URLs that it was led to."""
    from scrapy import Request

    index = LmdbIndex(folder, make_checks(("exact",), {}))
    discoveries = Discoveries()
    before, begun = _own_memory(), time.process_time()
    for first in range(0, count, _OF_A_PAGE):
        row = Alias(_page(first), "permalink", "spider", "run", 1.5e9).to_bytes()
        index.attach_new(NAME, {_post(number): row for number in range(first, min(count, first + _OF_A_PAGE))})
    told = (time.process_time() - begun) / count * 1e6
    for number in range(count):
        discoveries.is_new(Request(_post(number)))
    memory = _own_memory() - before
    asked = random.Random(1).sample(range(count), min(count, _ASKED))
    begun = time.process_time()
    for number in asked:
        assert NAME in index.attached([_post(number)], NAME)[_post(number)]
    ask = (time.process_time() - begun) / len(asked) * 1e6
    index.close()
    disk = sum(file.stat().st_blocks for file in folder.rglob("*") if file.is_file()) * 512
    return f"{count:,}", f"{told:.1f}", f"{ask:.1f}", f"{memory / 1e6:.0f}", f"{disk / 1e6:.0f}"


def _page(number: int) -> str:
    return f"http://forum.example.com/viewtopic.php?t={number}"


def _post(number: int) -> str:
    return f"http://forum.example.com/viewtopic.php?p={number}"


def _own_memory() -> int:
    """Bytes of this process that are no file's."""
    rows = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith("Anonymous:")) * 1024


if __name__ == "__main__":
    sys.exit(main())
