"""How many links of a crawl have a URL that was met shortly before: what remembering so many of them saves.

Stored pages in their order, each URL once a page, as a spider that follows all links yields them. The last URLs are
remembered, the one that was met longest ago is forgotten first, as `crawl.dupe_filter` and `urls.normalizer` do.
"""

from __future__ import annotations

import argparse
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from parsel import Selector

from benchmarks.replay.store import DATA, NoDataError, StoredPage, load, sites

_SIZES = (100, 1_000, 10_000, 100_000)


def links(pages: Iterable[StoredPage]) -> Iterator[str]:
    """The URLs that each page leads to, without fragments."""
    for page in pages:
        if "html" not in page.mime:
            continue
        hrefs = Selector(page.body.decode("utf-8", "replace")).css("a::attr(href)").getall()
        found: dict[str, None] = {}
        for href in hrefs:
            try:
                url = urldefrag(urljoin(page.url, href.strip())).url
            except ValueError:
                continue
            if url.startswith("http"):
                found[url] = None
        yield from found


def hits(urls: Iterable[str], size: int) -> int:
    """How many of these were among the last `size` different ones before them."""
    count = 0
    known: OrderedDict[str, None] = OrderedDict()
    for url in urls:
        if url in known:
            count += 1
            known.move_to_end(url)
            continue
        if len(known) >= size:
            known.popitem(last=False)
        known[url] = None
    return count


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="all by default")
    parser.add_argument("--pages", type=int, default=5_000, help="first ones of each (default: %(default)s)")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args(arguments)
    try:
        known = sites(options.data)
    except NoDataError as error:
        parser.error(str(error))
    print("| site | links | met before | " + " | ".join(f"of the last {size:,}" for size in _SIZES) + " |")
    print("| --- " + "| ---: " * (len(_SIZES) + 2) + "|")
    for site in options.sites or known:
        urls = list(links(load(known[site])[: options.pages]))
        shares = [len(urls) - len(set(urls)), *(hits(urls, size) for size in _SIZES)]
        print(f"| {site} | {len(urls):,} | " + " | ".join(f"{share / len(urls):.3f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
