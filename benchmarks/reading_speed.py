"""How many instructions it takes to read pages of HTML and to sign them, as callgrind counts them.

    python -m benchmarks.reading_speed [SITE…] [--pages 200]

    read    from the body to what is known of the page, but for its headings and anchors
    four    read, and signed by exact, simhash, shingles and title
    default read with its headings and anchors, and signed by the default checks

Pages are signed knowing what their site repeats, which was learned from all of them before. So what the core remembers
of lines, links and tags is at hand too, as it is of most pages of a crawl. What a page takes is that of all pages less
the first quarter.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.instructions import hand_back, handed_over, is_counting, per_page, start_again
from benchmarks.replay.store import load, sites
from benchmarks.texts import data_folder
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.core.digests import SECRET_BYTES, Secret
from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis, Reading

SITES = ("uci", "nankai")
FOUR = ("exact", "simhash", "shingles", "title")
DEFAULT = (*FOUR, "feature_code", "mwo")
WAYS: Mapping[str, Sequence[str]] = {"read": (), "four": FOUR, "default": DEFAULT}  # name → checks that sign
PAGES = 200
SECRET = Secret(bytes(SECRET_BYTES))  # each index has another one


class Html(NamedTuple):
    """A page as a crawl stored it, decoded."""

    url: str
    text: str


class Work:
    """The pages, and what their sites repeat."""

    def __init__(self, pages: Sequence[Html]) -> None:
        self._checks = {way: make_checks(names, {}) for way, names in WAYS.items()}
        self._pages = [(page.text.encode(), page.url, urlsplit(page.url).netloc) for page in pages]
        self._repeated: defaultdict[str, Template] = defaultdict(Template)
        for body, url, host in self._pages:
            page = extract(body, url, encoding="utf-8", fields=False)
            if self._repeated[host].is_new(page.title):
                Analysis(page, SECRET).learn(self._repeated[host], page.title)

    def __call__(self, way: str, count: int) -> None:
        """Read the first pages, and sign them."""
        for body, url, host in self._pages[:count]:
            page = extract(body, url, encoding="utf-8", fields="mwo" in WAYS[way])
            if checks := self._checks[way]:
                Reading.of(Analysis(page, SECRET), self._repeated[host]).signatures(checks)


def counted(pages: Sequence[Html]) -> dict[str, float]:
    """Way → instructions a page, in a process that runs under callgrind."""
    do = Work(pages)
    return {way: per_page(partial(do, way), len(pages) // 4, len(pages)) for way in WAYS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", nargs="*", metavar="SITE", default=SITES, help="stored crawls [uci nankai]")
    parser.add_argument("--data", help="folder of test data that holds crawls/")
    parser.add_argument("--pages", type=int, default=PAGES, help="of each, spread over the crawl [%(default)s]")
    given = parser.parse_args()
    if is_counting():
        hand_back([counted([Html(*page) for page in pages]) for pages in handed_over()])
        return
    known = sites(data_folder(given.data))
    if unknown := set(given.sites) - set(known):
        parser.error(f"no stored crawl {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    samples = [sampled(known[site], given.pages) for site in given.sites]
    for site, pages, found in zip(given.sites, samples, start_again(samples), strict=True):
        print(f"| {site}, {len(pages)} pages | million instructions a page |\n| --- | ---: |")
        for way, instructions in found.items():
            print(f"| {way} | {instructions / 1e6:.4g} |")


def sampled(path: Path, count: int) -> list[Html]:
    """So many pages of a stored crawl, evenly spread."""
    pages = load(path)
    chosen = pages[:: max(1, len(pages) // count)][:count]
    return [Html(page.url, page.body.decode("utf-8", "replace")) for page in chosen]


if __name__ == "__main__":
    main()
