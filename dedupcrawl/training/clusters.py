"""Rows of a site's log → its duplicate clusters (spec 5, "From a crawl log to duplicate clusters").

Two URLs are of one cluster when their pages have the same content, or when one leads to the other: by a redirect, by a
verdict of the content checks, by a confirmed alias, or by a rel=canonical that the contents do not contradict.

Content is the digest of the main text. The content checks also compare headlines, the text beside the main text, and
pictures, so if a crawl kept two pages with one digest, they are two pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dedupcrawl.training.false_clusters import unlike_clusters
from dedupcrawl.training.page_rows import FAULTS, PageRow

UNLIKE = "unlike URLs"
SHARED = "content of several pages"
DISBELIEVED = "canonical link not believed"
NEAR = 3  # bits of a SimHash in which near-duplicates differ, at most (Manku et al., WWW 2007, Sect. 2)
# ... of one page at two times, asked for by the same arguments. Of 228 such pairs of a forum 191 have one digest, 29
# others are within 3 bits, 6 within 6.
NEAR_OF_ONE_REQUEST = 6
_64_BITS = (1 << 64) - 1  # a number of 64 bits

Link = tuple[str, str]
"""Two URLs that lead to one page."""


class SitePages(NamedTuple):
    """URLs of one site, in their order, each once; three columns of shape (n,)."""

    urls: Sequence[str]
    # Which of them lead to one page. Clusters count from 0 in the order of their smallest URLs, so they depend on
    # nothing but the URLs and what they lead to. A cluster of one URL is a page without duplicates
    clusters: Sequence[int]
    importance: Sequence[float]  # 0 where nothing is known

    def at(self, rows: Sequence[int]) -> SitePages:
        urls, clusters, importance = self
        return SitePages(
            [urls[row] for row in rows], [clusters[row] for row in rows], [importance[row] for row in rows]
        )

    def sizes(self) -> Counter[int]:
        """Cluster → URLs of it."""
        return Counter(self.clusters)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The URLs of a site and which of them lead to one page."""

    pages: SitePages
    false: Counter[str] = field(default_factory=Counter)  # reason → clusters of two URLs and more that were left out
    left_out: Counter[str] = field(default_factory=Counter)  # reason → URLs left out with them, or alone


def clusters_of(rows: Sequence[PageRow]) -> Clusters:
    """Cluster all rows of a site, in the order of the log.

    Of several rows of a URL the last fetched counts. False clusters are left out: error pages, empty pages, and single
    pages served for many unlike URLs (a soft 404, a login wall, an empty listing).
    """
    pages = {row.url: row for row in sorted(filter(_is_of_a_page, rows), key=lambda row: (_is_answer(row), _time(row)))}
    links = _links(pages, rows)
    for url in dict.fromkeys(end for link in links for end in link):
        pages.setdefault(url, PageRow(url))  # nothing is known of it but that it leads there
    kept = _kept(rows)
    several = _contents_of_several(pages, kept)
    labels = _labels(pages, links, several)
    false, left_out = Counter[str](), Counter[str]()
    sizes = Counter(labels.values())
    for number, reason in enumerate(FAULTS):
        faulty = Counter(labels[url] for url, row in pages.items() if row.fault == number)
        false[reason], left_out[reason] = sum(size > 1 for size in faulty.values()), faulty.total()
    good = sorted(url for url, row in pages.items() if row.fault is None)
    unlike = unlike_clusters(good, [labels[url] for url in good])
    sizes = Counter(labels[url] for url in good)
    false[UNLIKE], left_out[UNLIKE] = len(unlike), sum(sizes[label] for label in unlike)
    numbers, linked = dict[int, int](), list[str]()
    for url in good:
        label = labels[url]
        if label in unlike:
            continue
        # What leads to a page that was not fetched, or that was left out, alone: nothing is known of it.
        if pages[url].content is None and sizes[label] == 1:
            left_out[DISBELIEVED] += pages[url].canonical is not None
            continue
        if pages[url].content in several and sizes[label] == 1 and url not in kept:
            left_out[SHARED] += 1  # the checks did not say which of them it is
            continue
        numbers.setdefault(label, len(numbers))
        linked.append(url)
    site_pages = SitePages(
        linked, [numbers[labels[url]] for url in linked], [pages[url].importance or 0.0 for url in linked]
    )
    return Clusters(site_pages, +false, +left_out)


def _is_of_a_page(row: PageRow) -> bool:
    return _is_answer(row) or row.canonical is not None


def _is_answer(row: PageRow) -> bool:
    """A mere canonical link says less than any answer."""
    return row.content is not None or row.fault is not None or row.redirect_to is not None


def _time(row: PageRow) -> tuple[bool, int]:
    """A time that is not known comes before all others."""
    return row.fetched_at is not None, row.fetched_at or 0


def _links(pages: Mapping[str, PageRow], rows: Sequence[PageRow]) -> list[Link]:
    """Pairs of URLs that lead to one page.

    A page's own word for its canonical URL is believed when nothing speaks against it: of all pages that name this URL,
    and the page that it leads to, those whose content is known have one. (The second page of a list often names the
    first.) Or when the page is a near-duplicate of the one that it names, by their SimHash, at its own path. Of a page
    without content it is believed only where it names the page's own path.

    No word counts for an alias that failed: a crawl has compared the two pages.
    """
    redirects = [(url, row.redirect_to) for url, row in pages.items() if row.redirect_to is not None]
    tried = {row.url: row for row in sorted((row for row in rows if row.alias_of is not None), key=_time)}
    held = [(url, row.alias_of) for url, row in tried.items() if row.alias_of is not None and row.alias_held]
    failed = {(url, row.alias_of) for url, row in tried.items() if row.alias_held is False}
    links = [*_verdicts(pages, rows), *held, *_named(pages), *_near(pages), *_respelled(pages)]
    links = [(one, other) for one, other in links if (one, other) not in failed and (other, one) not in failed]
    return [*redirects, *links]


def _named(pages: Mapping[str, PageRow]) -> Iterator[Link]:
    """Pages and their canonical URLs, where one content at most is known of all that name it, and of itself."""
    naming = dict[str, list[PageRow]]()
    for row in pages.values():
        if row.canonical is not None and (row.content is not None or row.names_own):
            naming.setdefault(row.canonical, []).append(row)
    for to, some in naming.items():
        there = [pages[to]] if to in pages else []
        if len({row.content for row in (*some, *there)} - {None}) <= 1:
            yield from ((row.url, to) for row in some)


def _verdicts(pages: Mapping[str, PageRow], rows: Sequence[PageRow]) -> list[Link]:
    """Pages and what the content checks found them to be duplicates of.

    A verdict is on the page that the check saw, so only that of a URL's last fetch counts, or that of a row which holds
    nothing else. What resembles a page that itself resembles a third need not resemble the third: a verdict that names
    a URL which has a verdict joins nothing.
    """
    alone = sorted((row for row in rows if row.duplicate_of is not None and not _is_of_a_page(row)), key=_time)
    last = {row.url: row.duplicate_of for row in (*pages.values(), *alone) if row.duplicate_of is not None}
    return [(url, to) for url, to in last.items() if to not in last]


def _near(pages: Mapping[str, PageRow]) -> Iterator[Link]:
    """Pages and their canonical URLs, of which the SimHash agrees."""
    for row in pages.values():
        there = pages.get(row.canonical or "")
        if row.names_own and there is not None and _differ(row, there) <= NEAR:
            yield row.url, there.url


def _respelled(pages: Mapping[str, PageRow]) -> Iterator[Link]:
    """Pages with one set of arguments, in any order, "+" being "%20", of which the SimHash agrees.

    Scrapy's own filter takes such URLs for one request, so the two are a page at two times.
    """
    first = dict[tuple[str, ...], PageRow]()
    for url in sorted(url for url, row in pages.items() if "?" in url and row.simhash is not None):
        path, _, query = url.partition("?")
        row = first.setdefault((path, *sorted(query.replace("+", "%20").split("&"))), pages[url])
        if row.url != url and _differ(row, pages[url]) <= NEAR_OF_ONE_REQUEST:
            yield url, row.url


def _differ(one: PageRow, other: PageRow) -> int:
    """Bits in which the SimHash of two pages differs; all where one has none."""
    if one.simhash is None or other.simhash is None:
        return 64
    return ((one.simhash ^ other.simhash) & _64_BITS).bit_count()


def _kept(rows: Iterable[PageRow]) -> dict[str, int | None]:
    """URLs of the pages that the content checks told from all others → the crawl in which they did, the last one."""
    return {row.url: row.kept_in for row in sorted((row for row in rows if row.kept_in is not None), key=_time)}


def _contents_of_several(pages: Mapping[str, PageRow], kept: Mapping[str, int | None]) -> set[int | None]:
    of_kept = [(pages[url].content, run) for url, run in kept.items() if url in pages]
    return {content for (content, _), count in Counter(of_kept).items() if count > 1} - {None}


def _labels(pages: Mapping[str, PageRow], links: Iterable[Link], several: Collection[int | None]) -> dict[str, int]:
    """URL → a number that is equal for pages that have the same content or that links join.

    The contents of `several` pages join nothing.
    """
    number = {url: row for row, url in enumerate(pages)}
    same = dict[tuple[int, int | None], int]()
    nodes = [
        row if page.content is None or page.content in several else same.setdefault((page.content, page.fault), row)
        for row, page in enumerate(pages.values())
    ]
    good = [link for link in links if all(pages[end].fault is None for end in link)]
    first, second = ([nodes[number[link[end]]] for link in good] for end in (0, 1))
    joined = components(first, second, len(nodes))
    return {url: joined[node] for url, node in zip(pages, nodes, strict=True)}


def components(first: Iterable[int], second: Iterable[int], count: int) -> list[int]:
    """For each of this many nodes, the smallest node of its component, with edges between `first` and `second`."""
    root = list(range(count))

    def smallest(node: int) -> int:
        while root[node] != node:
            root[node] = node = root[root[node]]
        return node

    for one, other in zip(first, second, strict=True):
        low, high = sorted((smallest(one), smallest(other)))
        root[high] = low
    return [smallest(node) for node in range(count)]
