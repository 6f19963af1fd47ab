"""Site by site over a frame that is sorted by site."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl


def pages_by_site(urls: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Slices of `Clusters.urls`, one a site; a group_by of many small sites would cost more than the slices."""
    start = 0
    for length, site in urls.select(pl.col("site").rle().struct.unnest()).iter_rows():
        yield site, urls.slice(start, length)
        start += length
