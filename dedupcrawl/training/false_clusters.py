"""Clusters that only look like duplicates: one page served for many URLs that are meant to lead to different ones.

A soft 404, a login wall and an empty listing have one content for hundreds of URLs; so has a page with a hundred
thousand session ids. What tells them apart is where their URLs differ. A *slot* is a place of a URL that takes a value:
the host, a segment of the path, an argument of the query. Two URLs of the site that differ in this slot alone are a
minimal pair for it. When minimal pairs elsewhere on the site nearly always lead to different pages, the slot names
pages (`title=`, `/wiki/*`), and a cluster whose URLs have many values there has lost what they name. When they lead to
the same page (`sid=`), or when there are none, the cluster is a real one.
"""

from __future__ import annotations

from collections.abc import Iterator

import mmh3
import numpy as np
import polars as pl

MANY = 50  # values in such slots: so many pages cannot be one; of fewer the proof on held-out clusters is the judge
_FEW = 3  # values of a slot that are not worth a look
_MOST_SEGMENTS = 64  # of a path that are looked at, and as many arguments: each is a row
_ENOUGH_PAIRS = 5  # minimal pairs elsewhere, before they are believed
_APART = 0.9  # of them lead to different pages where the slot names pages

SLOT_MARKS = "/&;"  # a URL has about as many slots as these
MOST_OF_A_URL = 2 * _MOST_SEGMENTS  # slots, about
MOST_SLOTS = 4_000_000  # that are looked at at a time, and of a site at all: of each some 300 bytes are held at once
_HASHES = 1 << 32

_HOST = r"^[A-Za-z]+://([^/?#]*)"
_PATH = rf"^[A-Za-z]+://[^/?#]*/([^/?#]*(?:/[^/?#]*){{0,{_MOST_SEGMENTS - 1}}})"
_QUERY = rf"^[^?#]*\?([^&;#]*(?:[&;][^&;#]*){{0,{_MOST_SEGMENTS - 1}}})"


def unlike_clusters(pages: pl.DataFrame) -> pl.Series:
    """The labels of the clusters whose URLs differ in slots that name pages elsewhere on their site.

    Args:
        pages: Columns site, url and label (integers, of one site each); one row a URL.

    Returns:
        Labels, sorted. Time is linear in the URLs of the sites that have a cluster of many URLs at all; other sites
        cost a count.
    """
    large = pages.group_by("label").agg(size=pl.len()).filter(pl.col("size") >= MANY)
    if large.is_empty():
        return pages["label"].clear()
    pages = pages.join(large, on="label", how="left").filter(pl.col("size").is_not_null().any().over("site"))
    labels: pl.Series = pl.concat([unlike_among(part) for part in _thinned(pages)]).sort()
    return labels


def unlike_among(pages: pl.DataFrame) -> pl.Series:
    """The same of URLs that were thinned.

    Args:
        pages: Columns site, url, label and size: of the label's cluster before thinning, null where it is small.
    """
    slots = _slots(pages)
    varied = _varied(slots.filter(pl.col("size").is_not_null()))
    pairs = _minimal_pairs(slots.filter(pl.col("size").is_null()))
    naming = (
        varied.join(pairs, on=["site", "slot"])
        .group_by("label", "shape", "place", "values")
        .agg(pl.col("pairs").sum(), pl.col("apart").sum())
        .filter((pl.col("pairs") >= _ENOUGH_PAIRS) & (pl.col("apart") >= _APART * pl.col("pairs")))
    )
    values = naming.group_by("label", "shape").agg(pl.col("values").max()).group_by("label").agg(pl.col("values").sum())
    many = values.filter(pl.col("values") >= MANY).sort("label")
    return many["label"]


def _thinned(pages: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The URLs of whole sites at a time, of a large site any: memory is bounded, whatever the URLs are.

    Shares of minimal pairs stay what they are.
    """
    slots = pl.col("url").str.count_matches(f"[{SLOT_MARKS}]").clip(upper_bound=MOST_OF_A_URL).cast(pl.Int64)
    sites = pages.group_by("site", maintain_order=True).agg(slots=slots.sum())
    step = (pl.col("slots") - 1) // MOST_SLOTS + 1
    left = pl.col("slots") // step
    sites = sites.select("site", step=step, part=(left.cum_sum() - 1) // MOST_SLOTS)
    for part in sites.partition_by("part"):
        some = pages if part.height == sites.height else pages.join(part, on="site", how="semi")
        if part.select((pl.col("step") > 1).any()).item():
            some = some.join(part.select("site", "step"), on="site")
            some = some.filter(in_sample(some["url"], some["step"])).drop("step")
        yield some


def in_sample(urls: pl.Series, step: pl.Series) -> pl.Series:
    """Shape (n,): whether each URL is one in `step`, any; the same ones in every process, of any machine."""
    hashes = pl.Series("hash", map(mmh3.hash, urls.to_list()), dtype=pl.Int64)
    taken = pl.DataFrame([hashes, step.alias("step").cast(pl.Int64)])
    return taken.select(pl.col("hash") % _HASHES % pl.col("step") == 0).to_series()


def _slots(pages: pl.DataFrame) -> pl.DataFrame:
    """One row a slot of a URL: site, label, size, and, as hashes, shape, place, slot, value and rest.

    `place` is where the slot stands in URLs of one `shape`: the depth of the path, or 0 for host and arguments. `slot`
    is what it is on the site: an argument is known by its name whatever the path, a segment by the depth of the path
    and the segment before it. `rest` is the URL without the value: equal for URLs that differ in this slot alone. The
    scheme counts for nothing.
    """
    keep = ["site", "label", "size", "url_id"]
    pages = pages.with_row_index("url_id").with_columns(
        segment=pl.col("url").str.extract(_PATH).fill_null("").str.split("/"),
        arg=pl.col("url").str.extract(_QUERY).str.replace_all(";", "&", literal=True).str.split("&"),
    )
    hosts = pages.select(
        *keep,
        shape=pl.lit(0, pl.UInt64),
        place=pl.lit(0, pl.UInt64),
        slot=pl.lit(0, pl.UInt64),
        value=pl.col("url").str.extract(_HOST).hash(),
    )
    length = pl.col("segment").list.len().cast(pl.Int64)  # one at least
    segments = (
        pages.select(*keep, "segment", shape=length.cast(pl.UInt64), first=length.cum_sum() - length)
        .explode("segment")
        .with_columns(value=pl.col("segment").hash(), position=pl.int_range(pl.len()) - pl.col("first"))
        .with_columns(before=pl.when(pl.col("position") > 0).then(pl.col("value").shift(1)).otherwise(0))
        .select(
            *keep,
            "shape",
            place=pl.struct("shape", "position").hash(),
            slot=pl.struct("shape", "position", "before").hash(),
            value="value",
        )
    )
    name = pl.col("arg").str.extract(r"^([^=]*)").hash()
    args = (
        pages.select(*keep, "arg")
        .drop_nulls("arg")
        .explode("arg")
        .filter(pl.col("arg") != "")
        .select(*keep, shape=pl.lit(0, pl.UInt64), place=name, slot=name, value=pl.col("arg").hash())
    )
    slots = pl.concat([hosts, segments, args]).with_columns(rest=pl.struct("place", "value").hash())
    whole = np.zeros(pages.height, dtype=np.uint64)  # of each URL
    url_id, part = slots["url_id"].to_numpy(), slots["rest"].to_numpy()
    np.add.at(whole, url_id, part)
    return slots.with_columns(rest=pl.Series(whole[url_id] - part)).drop("url_id")


def _varied(slots: pl.DataFrame) -> pl.DataFrame:
    """The slots in which the URLs of a large cluster differ: label, size, shape, place, slot, site and values."""
    places = slots.group_by("label", "place").agg(values=pl.col("value").n_unique()).filter(pl.col("values") > _FEW)
    return (
        slots.join(places, on=["label", "place"])
        .select("site", "label", "size", "shape", "place", "slot", "values")
        .unique()
    )


def _minimal_pairs(slots: pl.DataFrame) -> pl.DataFrame:
    """How many minimal pairs a site has for each slot, and how many of them lead apart: site, slot, pairs, apart."""
    alike = slots.group_by("site", "slot", "rest").agg(
        pairs=pl.col("value").n_unique().cast(pl.Int64) - 1, apart=pl.col("label").n_unique().cast(pl.Int64) - 1
    )
    return (
        alike.filter(pl.col("pairs") > 0)
        .with_columns(apart=pl.min_horizontal("apart", "pairs"))
        .group_by("site", "slot")
        .sum()
        .drop("rest")
    )
