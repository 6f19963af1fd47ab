"""Rows of a log → the duplicate clusters of each site (spec 5, "From a crawl log to duplicate clusters").

Rows are reduced to what they say of pages: site, URL, content and links between URLs. Two URLs are of one cluster when
their pages have the same content, or when one leads to the other: by a redirect, by a verdict of the content checks, by
an alias that held, or by a rel=canonical that the contents do not contradict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.datatypes import DataType, DataTypeClass

from dedupcrawl.crawl_logs.rows import LINKS
from dedupcrawl.sites import ascii_form, site_of
from dedupcrawl.training.false_clusters import unlike_clusters

FAULTS = ("error status", "empty page")
"""Why a row's content says nothing of its URL, best known first."""

PAGE_ROWS: dict[str, DataType | DataTypeClass] = {
    "site": pl.String,  # registrable domain, in ASCII: both spellings of an international name are one site
    "url": pl.String,  # without fragment, unless that begins with "!"
    "content": pl.Int64,  # hash of what says which page it is; null where the row has none, or is a redirect
    "fault": pl.UInt8,  # index into FAULTS, null for a good page
    "redirect_to": pl.String,  # each of the four: an absolute URL of the same site, other than `url`
    "canonical": pl.String,
    "duplicate_of": pl.String,
    "is_unique": pl.Boolean,  # whether its page was compared with all that the crawl had kept, and is none of it
    "alias_of": pl.String,
    "alias_held": pl.Boolean,  # whether it does lead to `alias_of`, as was found out
    "names_own": pl.Boolean,  # whether `canonical` is the row's own path with fewer arguments
    "simhash": pl.Int64,  # the 64 bits
    "importance": pl.Float64,
    "fetched_at": pl.Datetime("ms"),
}
"""Columns of the rows from which clusters are made; they mean the same wherever there is the same Polars."""

_HOST = r"^(?:[^\\@?#]*@)*(\[[^\]]*\]|[^\\:@?#]*)"  # of an authority, and of what may follow it
_FRAGMENT = r"#(?:[^!].*)?$"
# Digests of zero bytes: SHA-1 in hex and base32, MD5, SHA-256, MurmurHash3 x64 128.
_OF_NOTHING = (
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "d41d8cd98f00b204e9800998ecf8427e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "0" * 32,
)


@lru_cache(maxsize=1_000_000)  # of a log's hosts, which are asked for again with each batch
def _site(host: str) -> str:
    return ascii_form(site_of(host))


def sites_of(urls: pl.Expr, frame: pl.DataFrame) -> pl.Series:
    """Shape (n,): the registrable domain, in ASCII, of each http URL of an expression over `frame`; null for null."""
    authorities = frame.select(urls.str.splitn("/", 4).struct[2].alias("authority"))["authority"]
    unique = authorities.unique().drop_nulls()
    sites = pl.Series(map(_site, unique.str.extract(_HOST).str.to_lowercase()), dtype=pl.String)
    found: pl.Series = authorities.replace_strict(unique, sites, default=None)
    return found


def page_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a log (`crawl_logs.rows.SCHEMA`) → the same rows in the columns of `PAGE_ROWS`.

    Of the content the digest of the main text counts where there is one, else that of the bytes, else the SimHash:
    equal bytes are rarely seen (a clock, a token), equal main text is what a duplicate is. An alias that was not
    fetched, because its source had held, leads to its page like a redirect.
    """
    is_believed = pl.col("alias_of").is_not_null() & pl.col("alias_held").is_null()
    redirects = pl.col("status").is_between(300, 399).fill_null(pl.col("redirect_to").is_not_null())
    signature = pl.coalesce("t" + pl.col("text_digest"), "d" + pl.col("digest"), "s" + pl.col("simhash"))
    empty = pl.coalesce("text_digest", "digest").is_in(_OF_NOTHING) | (pl.col("bytes") == 0)
    pages = rows.select(
        url=_without_fragment(pl.col("url")),
        content=pl.when(~redirects & signature.is_not_null()).then(signature.hash().reinterpret(signed=True)),
        fault=pl.when(pl.col("status") >= 400).then(0).when(~redirects & empty).then(1).cast(pl.UInt8),
        importance="importance",
        fetched_at="fetched_at",
        redirect_to=pl.when(redirects).then("redirect_to").when(is_believed).then("alias_of"),
        canonical="canonical",
        duplicate_of="duplicate_of",
        is_unique=pl.col("unique").fill_null(value=False),
        alias_of=pl.when(~is_believed).then("alias_of"),
        alias_held="alias_held",
        simhash=_bits(pl.col("simhash")),
    )
    pages = pages.with_columns(sites_of(pl.col("url"), pages).alias("site"))
    for name in LINKS:
        pages = pages.with_columns(_without_fragment(_absolute(pl.col(name))).alias(name))
        is_of_site = sites_of(pl.col(name), pages) == pl.col("site")
        pages = pages.with_columns(pl.when(is_of_site & (pl.col(name) != pl.col("url"))).then(name))
    return pages.with_columns(_names_its_own_page().alias("names_own")).select(*PAGE_ROWS)


def _bits(simhash: pl.Expr) -> pl.Expr:
    """16 hexadecimal digits as a signed number; null for anything else."""
    digits = pl.when(simhash.str.contains(r"^[0-9A-Fa-f]{16}$")).then(simhash)
    return digits.str.to_integer(base=16, dtype=pl.UInt64, strict=False).reinterpret(signed=True)


def _names_its_own_page() -> pl.Expr:
    """Whether the canonical link is the row's own URL with fewer arguments, or none, and not the front page; or null.

    Nothing but the link is known of a page without a signature, and many sites have one link on pages of all kinds.
    """
    path, query = r"^([^?]*)", r"\?(.*)"
    of_url, of_link = (pl.col(name).str.extract(query).str.split("&") for name in ("url", "canonical"))
    fewer = of_link.is_null() | (of_link.list.set_difference(of_url).list.len() == 0)
    is_front = pl.col("canonical").str.contains(r"^[^:]*://[^/?]*/?(?:\?|$)")
    is_own = (pl.col("url").str.extract(path) == pl.col("canonical").str.extract(path)) & fewer & ~is_front
    return pl.when(pl.col("canonical").is_not_null()).then(is_own)


def _without_fragment(url: pl.Expr) -> pl.Expr:
    return pl.when(url.str.contains("#", literal=True)).then(url.str.replace(_FRAGMENT, "")).otherwise(url)


def _absolute(link: pl.Expr) -> pl.Expr:
    """A link resolved against the column "url" (RFC 3986, 5.2, dot segments left as they are); null if not http."""
    url = pl.col("url")
    return (
        pl.when(link.str.contains(r"^(?i)https?://[^/?#]"))
        .then(link)
        .when(link.str.contains(r"^[A-Za-z][A-Za-z0-9+.-]*:"))
        .then(None)
        .when(link.str.starts_with("//"))
        .then(url.str.extract(r"^([A-Za-z]+:)") + link)
        .when(link.str.starts_with("/"))
        .then(url.str.extract(r"^([A-Za-z]+://[^/?#]*)") + link)
        .when(link.str.starts_with("?"))
        .then(url.str.extract(r"^([^?#]*)") + link)
        .when(~link.str.starts_with("#"))
        .then(url.str.extract(r"^([A-Za-z]+://[^/?#]*/(?:[^?#]*/)?)") + link)
    )


UNLIKE = "unlike URLs"
DISBELIEVED = "canonical link not believed"
_IS_OF_A_PAGE = pl.any_horizontal(pl.col("content", "fault", "redirect_to", "canonical").is_not_null())
Ints = npt.NDArray[np.int64]
NEAR = 3  # bits of a SimHash in which near-duplicates differ, at most (Manku et al., WWW 2007, Sect. 2)


@dataclass(frozen=True, slots=True)
class Clusters:
    """The URLs of some sites and which of them lead to one page."""

    # columns site, url, cluster (u32), importance, simhash and is_unique; by site and URL, each URL once. `cluster`
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
    """Cluster all rows (`PAGE_ROWS`) of some sites, in the order of the log.

    Of several rows of a URL the last fetched counts. False clusters are left out: error pages, empty pages, and single
    pages served for many unlike URLs (a soft 404, a login wall, an empty listing).
    """
    unique = rows.filter("is_unique")["url"]  # said in rows of their own
    pages = _one_row_a_url(rows).with_columns(is_unique=pl.col("url").is_in(unique.implode()))
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
    near = _near(pages)
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


def _with_targets(pages: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """What is needed of `pages`, and a row for each end of a link that is not among them."""
    names_another = pl.col("canonical").is_not_null()
    kept = ("site", "url", "content", "fault", "importance", "simhash", "is_unique")
    pages = pages.select(*kept, names_another=names_another)
    ends = pl.concat([links.select("site", "url"), links.select("site", url="to")]).unique(maintain_order=True)
    return pl.concat([pages, ends.join(pages, on="url", how="anti")], how="diagonal") if links.height else pages


def _labels(pages: pl.DataFrame, links: pl.DataFrame) -> pl.Series:
    """Shape (len(pages),): equal for pages of one site that have the same content or that links join."""
    same = pages.select("content", row=pl.int_range(pl.len()), same=pl.struct("site", "content", "fault").hash())
    first = pl.when(pl.col("content").is_null()).then("row").otherwise(pl.col("row").min().over("same"))
    node = same.select(first).to_series().to_numpy()
    if not links.is_empty():
        good = pages.select("url", row=same["row"]).filter(pages["fault"].is_null())
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
        simhash="simhash",
        is_unique="is_unique",
    )
