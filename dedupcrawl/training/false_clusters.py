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
MOST_SLOTS = 1_000_000  # that are looked at at a time, and of a site at all: of each some 300 bytes are held at once
_HASHES = 1 << 32


def unlike_clusters(pages: pl.DataFrame) -> pl.Series:
    """The labels, sorted, of the clusters whose URLs differ in slots that name pages elsewhere on their site.

    `pages` has a row a URL: site, url and label (integers, of one site each). Time is linear in the URLs of the sites
    that have a cluster of many URLs at all; other sites cost a count.
    """
    large = pages.group_by("label").agg(size=pl.len()).filter(pl.col("size") >= MANY)
    if large.is_empty():
        return pages["label"].clear()
    sites = pages.join(large, on="label", how="semi")["site"].unique()
    if len(sites) < pages["site"].n_unique():
        pages = pages.filter(pl.col("site").is_in(sites.implode()))
    found = [unlike_among(part.join(large, on="label", how="left")) for part in _thinned(pages)]
    labels: pl.Series = pl.concat(found).sort()
    return labels


def unlike_among(pages: pl.DataFrame) -> pl.Series:
    """The same of URLs that were thinned, with the size of the label's cluster before that, null where it is small."""
    slots, is_large = _slots(pages), pages["size"].is_not_null()
    of_large = is_large.gather(slots["row"])
    varied = _varied(slots.filter(of_large))
    pairs = _minimal_pairs(slots.filter(~of_large).join(varied, on="slot", how="semi"))
    naming = (
        varied.join(pairs, on="slot")
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
            steps = some.select("site").join(part, on="site", maintain_order="left")["step"]
            some = some.filter(in_sample(some["url"], steps))
        yield some


def in_sample(urls: pl.Series, step: pl.Series) -> pl.Series:
    """Shape (n,): whether each URL is one in `step`, any; the same ones in every process, of any machine."""
    hashes = pl.Series(np.fromiter(map(mmh3.hash, urls), np.int64, len(urls)))  # no list of all: they may be millions
    taken: pl.Series = hashes % _HASHES % step.cast(pl.Int64) == 0
    return taken


def _slots(pages: pl.DataFrame) -> pl.DataFrame:
    """One row a slot of a URL: the URL's row, its label, and, as hashes, shape, place, slot, value and rest.

    `place` is where the slot stands in URLs of one `shape`: the depth of the path, or 0 for host and arguments. `slot`
    is what it is on its site: an argument is known by its name whatever the path, a segment by the depth of the path
    and the segment before it. `rest` is the URL without the value: equal for URLs that differ in this slot alone. The
    scheme counts for nothing.
    """
    before_query, query = _halves(_halves(pages["url"], "#")[0], "?")
    front = before_query.str.splitn("/", 4).struct.unnest()  # scheme, nothing, host, path
    urls = pages.select(pl.col("site").hash(), "label").with_row_index("row")
    segments = _parts(front["field_3"].fill_null(""), "/").list.eval(pl.element().hash())
    args = _parts(query.fill_null("").str.replace_all(";", "&", literal=True), "&")
    depth = segments.list.len()
    of_host = urls.with_columns(value=front["field_2"].hash(), before=None, at=None, shape=pl.lit(0))
    of_path = urls.with_columns(value=segments, before=segments.list.shift(), at=pl.int_ranges(depth))
    of_path = of_path.with_columns(shape=depth.cast(pl.Int32)).explode("value", "before", "at")
    of_args = urls.with_columns(value=args, before=None).explode("value").filter(pl.col("value") != "")
    name = pl.col("value").str.extract("^([^=]*)")
    of_args = of_args.with_columns(pl.col("value").hash(), at=name.hash(), shape=pl.lit(0))
    place = pl.struct("shape", "at").hash()
    slot = pl.struct("site", place, "before").hash()
    kinds = (of_host, of_path, of_args)
    slots = pl.concat(one.select("row", "label", "shape", "value", place=place, slot=slot) for one in kinds)
    part = pl.struct("place", "value").hash()
    return slots.with_columns(rest=part.sum().over("row") - part)


def _halves(texts: pl.Series, mark: str) -> tuple[pl.Series, pl.Series]:
    """What is before the first mark, and what is behind it: null where there is none."""
    halves = texts.str.splitn(mark, 2).struct.unnest()
    return halves["field_0"], halves["field_1"]


def _parts(texts: pl.Series, mark: str) -> pl.Series:
    """The first parts of each text, one at least."""
    if (texts.str.count_matches(mark, literal=True) >= _MOST_SEGMENTS).any():  # lists of all would be too long
        texts = texts.str.extract(rf"^([^{mark}]*(?:{mark}[^{mark}]*){{0,{_MOST_SEGMENTS - 1}}})")
    return texts.str.split(mark)


def _varied(slots: pl.DataFrame) -> pl.DataFrame:
    """The slots in which the URLs of a large cluster differ: label, shape, place, slot and values."""
    places = slots.select("label", "place", "value").unique().group_by("label", "place").agg(values=pl.len())
    places = places.filter(pl.col("values") > _FEW)
    return slots.join(places, on=["label", "place"]).select("label", "shape", "place", "slot", "values").unique()


def _minimal_pairs(slots: pl.DataFrame) -> pl.DataFrame:
    """How many minimal pairs there are for each slot, and how many of them lead apart: slot, pairs, apart."""
    alike = slots.group_by("slot", "rest").agg(
        pairs=pl.col("value").n_unique().cast(pl.Int64) - 1, apart=pl.col("label").n_unique().cast(pl.Int64) - 1
    )
    return (
        alike.filter(pl.col("pairs") > 0)
        .with_columns(apart=pl.min_horizontal("apart", "pairs"))
        .group_by("slot")
        .agg(pl.col("pairs").sum(), pl.col("apart").sum())
    )
