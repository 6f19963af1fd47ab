"""The pages of one site in crawl logs, and which of them are the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from dedupcrawl.crawl_logs.tally import Progress, Tally
from dedupcrawl.sites import ascii_form
from dedupcrawl.training.clusters import clusters_of
from dedupcrawl.training.parts import parted, work_on


def urls_and_clusters(
    site: str, logs: Sequence[Path], progress: Progress
) -> tuple[list[str], list[int], dict[int, int]]:
    """The site's URLs, the number of each one's cluster, and the SimHash of each cluster as far as known.

    Raises:
        LogError: A log cannot be read.
    """
    urls: list[str] = []
    clusters: list[int] = []
    bits: dict[int, int] = {}
    with parted(logs, Tally(), progress) as parts:
        for found in work_on(parts, partial(_of_site, site=site), "reading", progress, 1):
            urls += found["url"].to_list()
            clusters += found["cluster"].to_list()
            bits |= simhashes(found)
    return urls, clusters, bits


def simhashes(pages: pl.DataFrame) -> dict[int, int]:
    """The SimHash of each cluster of one site, as far as known: the smallest of its pages'."""
    return dict(pages.drop_nulls("simhash").group_by("cluster").agg(pl.col("simhash").min()).iter_rows())


def _of_site(rows: pl.DataFrame, site: str) -> pl.DataFrame:
    return clusters_of(rows.filter(pl.col("site").is_in([site, ascii_form(site)]))).urls.select(
        "url", "cluster", "simhash"
    )
