"""Rows of a log → the duplicate clusters of each site (spec 5, "From a crawl log to duplicate clusters").

Two URLs are of one cluster when their pages have the same content, or when one leads to the other: by a redirect, by a
verdict of the content checks, by an alias that held, or by a rel=canonical that the contents do not contradict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from dedupcrawl.training.false_clusters import unlike_clusters
from dedupcrawl.training.page_rows import FAULTS

UNLIKE = "unlike URLs"
DISBELIEVED = "canonical link not believed"
_IS_OF_A_PAGE = pl.any_horizontal(pl.col("content", "fault", "redirect_to", "canonical").is_not_null())
Ints = npt.NDArray[np.int64]
NEAR = 3  # bits of a SimHash in which near-duplicates differ, at most (Manku et al., WWW 2007, Sect. 2)
# ... of one page at two times, asked for by the same arguments. Of 228 such pairs of a forum 191 have one digest, 29
# others are within 3 bits, 6 within 6.
NEAR_OF_ONE_REQUEST = 6


@dataclass(frozen=True, slots=True)
class Clusters:
    """The URLs of some sites and which of them lead to one page."""

    # columns site, url, cluster (u32) and importance; by site and URL, each URL once. `cluster`
    # counts from 0 within a site, in the order of the clusters' smallest URLs, so it depends on nothing but the URLs
    # and what they lead to. A cluster of one URL is a page without duplicates
    urls: pl.DataFrame
    false: Counter[str] = field(default_factory=Counter)  # reason → clusters of two URLs and more that were left out
    left_out: Counter[str] = field(default_factory=Counter)  # reason → URLs left out with them, or alone

    def by_site(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Slices of `urls`, one a site; a group_by of many small sites would cost more than the slices."""
        start = 0
        for length, site in self.urls.select(pl.col("site").rle().struct.unnest()).iter_rows():
            yield site, self.urls.slice(start, length)
            start += length


def clusters_of(rows: pl.DataFrame) -> Clusters:
    """Cluster all rows (`page_rows.PAGE_ROWS`) of some sites, in the order of the log.

    Of several rows of a URL the last fetched counts. False clusters are left out: error pages, empty pages, and single
    pages served for many unlike URLs (a soft 404, a login wall, an empty listing).
    """
    pages = _one_row_a_url(rows)
    links = _links(pages, rows)
    pages = _with_targets(pages, links)
    pages = pages.with_columns(label=_labels(pages, links))
    false: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    for number, reason in enumerate(FAULTS):
        faulty = pages.filter(pl.col("fault") == number)
        false[reason] = int((faulty.group_by("label").len()["len"] > 1).sum())
        left_out[reason] = faulty.height
    pages = pages.filter(pl.col("fault").is_null())
    unlike = pages["label"].is_in(unlike_clusters(pages.select("site", "url", "label")).implode())
    false[UNLIKE], left_out[UNLIKE] = pages.filter(unlike)["label"].n_unique(), int(unlike.sum())
    pages = pages.filter(~unlike)
    # What leads to a page that was not fetched, or that was left out, alone: nothing is known of it.
    known = pl.col("content").is_not_null() | (pl.len().over("label") > 1)
    left_out[DISBELIEVED] = int(pages.select((~known & pl.col("names_another")).sum()).item())
    return Clusters(_numbered(pages.filter(known)), +false, +left_out)


def _one_row_a_url(rows: pl.DataFrame) -> pl.DataFrame:
    """The last fetched row of each URL that says what its answer was; rows without time keep the log's order.

    Here and below a URL is a key by itself: its site is a function of it.
    """
    answers = _in_time(rows.filter(_IS_OF_A_PAGE)).drop("fetched_at")
    said = pl.any_horizontal(pl.col("content", "fault", "redirect_to").is_not_null())
    answers = answers.sort(said, maintain_order=True)  # a mere canonical link says less than any answer
    return answers.filter(pl.col("url").is_last_distinct())


def _in_time(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of their times; one that is not known comes before all others."""
    return rows.sort("fetched_at", nulls_last=False, maintain_order=True)


def _links(pages: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs of URLs that lead to one page: site, url, to.

    A page's own word for its canonical URL is believed when nothing speaks against it: of all pages that name this URL,
    and the page that it leads to, those whose content is known have one. (The second page of a list often names the
    first.) Or when the page is a near-duplicate of the one that it names, by their SimHash, at its own path. Of a page
    without content it is believed only where it names the page's own path.

    No word counts for an alias that failed: a crawl has compared the two pages.
    """
    redirects = pages.select("site", "url", to="redirect_to").drop_nulls("to")
    is_believable = pl.col("content").is_not_null() | pl.col("names_own")
    named = pages.filter(is_believable).select("site", "url", "content", to="canonical").drop_nulls("to")
    near = pl.concat([_near(pages), _respelled(pages)])
    if not named.is_empty():
        there = pages.select("content", to="url").join(named, on="to", how="semi")
        said = pl.concat([named.select("to", "content"), there.select("to", "content")])
        several = said.drop_nulls("content").group_by("to").agg(pl.col("content").n_unique() > 1)
        named = named.join(several.filter("content"), on="to", how="anti")
    tried = _in_time(rows.filter(pl.col("alias_of").is_not_null())).unique("url", keep="last", maintain_order=True)
    tried = tried.select("site", "url", "alias_held", to="alias_of")
    held, failed = tried.filter("alias_held").drop("alias_held"), tried.filter(~pl.col("alias_held"))
    said = pl.concat([_verdicts(pages, rows), held, named.select("site", "url", "to"), near])
    for one_way in (failed.select("url", "to"), failed.select(url="to", to="url")):
        said = said.join(one_way, on=["url", "to"], how="anti", maintain_order="left")
    return pl.concat([redirects, said]).unique(maintain_order=True)


def _verdicts(pages: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Pages and what the content checks found them to be duplicates of: site, url, to.

    A verdict is on the page that the check saw, so only that of a URL's last fetch counts, or that of a row which holds
    nothing else. What resembles a page that itself resembles a third need not resemble the third: a verdict that names
    a URL which has a verdict joins nothing.
    """
    alone = _in_time(rows.filter(~_IS_OF_A_PAGE & pl.col("duplicate_of").is_not_null()))
    said = pl.concat([frame.select("site", "url", to="duplicate_of").drop_nulls("to") for frame in (pages, alone)])
    verdicts = said.unique("url", keep="last", maintain_order=True)
    return verdicts.join(verdicts, left_on="to", right_on="url", how="anti")


def _near(pages: pl.DataFrame) -> pl.DataFrame:
    """Pages and their canonical URLs, of which the SimHash agrees: site, url, to."""
    there = pages.select("simhash", canonical="url").drop_nulls("simhash")
    pairs = pages.filter("names_own").join(there, on="canonical", suffix="_of_it")
    bits = (pl.col("simhash") ^ pl.col("simhash_of_it")).bitwise_count_ones()
    return pairs.filter(bits <= NEAR).select("site", "url", to="canonical")


def _respelled(pages: pl.DataFrame) -> pl.DataFrame:
    """Pages with one set of arguments, in any order, "+" being "%20", of which the SimHash agrees: site, url, to.

    Scrapy's own filter takes such URLs for one request, so the two are a page at two times.
    """
    path, query = (pl.col("url").str.splitn("?", 2).struct[i] for i in range(2))
    sorted_args = query.str.replace_all("+", "%20", literal=True).str.split("&").list.sort().list.join("&")
    asked = pages.filter(pl.col("url").str.contains("?", literal=True) & pl.col("simhash").is_not_null())
    asked = asked.select("site", "url", "simhash", path=path, args=sorted_args)
    first = pl.all().sort_by("url").first()
    asked = asked.join(asked.group_by("path", "args").agg(first), on=["path", "args"], suffix="_of_it")
    bits = (pl.col("simhash") ^ pl.col("simhash_of_it")).bitwise_count_ones()
    asked = asked.filter((pl.col("url") != pl.col("url_of_it")) & (bits <= NEAR_OF_ONE_REQUEST))
    return asked.select("site", "url", to="url_of_it")


def _with_targets(pages: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """What is needed of `pages`, and a row for each end of a link that is not among them."""
    names_another = pl.col("canonical").is_not_null()
    kept = ("site", "url", "content", "fault", "importance")
    pages = pages.select(*kept, names_another=names_another)
    ends = pl.concat([links.select("site", "url"), links.select("site", url="to")]).unique(maintain_order=True)
    return pl.concat([pages, ends.join(pages, on="url", how="anti")], how="diagonal") if links.height else pages


def _labels(pages: pl.DataFrame, links: pl.DataFrame) -> pl.Series:
    """Shape (len(pages),): equal for pages of one site that have the same content or that links join."""
    rows = pages.with_columns(row=pl.int_range(pl.len()))
    same = pl.col("row").min().over("site", "content", "fault")
    node = rows.select(pl.when(pl.col("content").is_null()).then("row").otherwise(same)).to_series().to_numpy()
    if not links.is_empty():
        good = rows.filter(pl.col("fault").is_null()).select("url", "row")
        ends = links.join(good, on="url").join(good.select(to="url", to_row="row"), on="to")
        first, second = node[ends["row"].to_numpy()], node[ends["to_row"].to_numpy()]
        node = components(first, second, len(node))[node]
    return pl.Series("label", node)


def components(first: Ints, second: Ints, count: int) -> Ints:
    """Shape (count,): of each node the smallest that edges between `first` and `second` join it to, on whatever way."""
    root = list(range(count))

    def smallest(node: int) -> int:
        while root[node] != node:
            root[node] = node = root[root[node]]
        return node

    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        low, high = sorted((smallest(one), smallest(other)))
        root[high] = low
    return np.fromiter(map(smallest, range(count)), dtype=np.int64, count=count)


def _numbered(pages: pl.DataFrame) -> pl.DataFrame:
    """The columns of `Clusters.urls`."""
    pages = (
        pages.sort("url").sort("site", maintain_order=True).with_row_index("row")
    )  # of both the keys would be copied
    first = pl.col("row").min().over("label")  # of its cluster: the smallest URL
    return pages.with_columns(first=first).select(
        "site",
        "url",
        cluster=(pl.col("first").rank("dense").over("site") - 1).cast(pl.UInt32),
        importance="importance",
    )
