"""What a crawl log says of the crawl as a whole: responses, bytes, time, and when duplicates were met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dedupcrawl.crawl_logs.registry import format_of
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.sites import site_of

_PAUSE = 60_000  # milliseconds; a longer gap between two responses is one between two crawls
_HOST = r"^(?i)https?://(?:[^/?#@]*@)?([^/?#]*)"
_LONGEST_TITLE = 200  # characters

_URL_OF_RUN = pl.when(pl.col("run").is_null()).then("url").otherwise(pl.concat_str("run", "url", separator="\0"))

Hashes = NDArray[np.uint64]


@dataclass(slots=True)
class Crawled:
    """What the crawl log says.

    Attributes:
        responses: Rows with a status, redirects and errors too.
        pages: Of these, the ones with status 200.
        bytes: Of their bodies.
        duplicate_bytes: Of these, the bytes of pages that were found to be duplicates.
        seconds: That the crawl took, without pauses of more than a minute; 0 where no row has a time.
        pages_by_site: Registrable domain → pages.
        titles: URL → title, of the URLs that were asked for.
        at: Shape (pages,): when each page came, in milliseconds since the epoch, ascending.
        duplicate: Shape (pages,): whether it is a duplicate.
    """

    responses: int = 0
    pages: int = 0
    bytes: int = 0
    duplicate_bytes: int = 0
    seconds: float = 0.0
    pages_by_site: Counter[str] = field(default_factory=Counter)
    titles: dict[str, str] = field(default_factory=dict)
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    duplicate: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


def hashes_of(urls: Collection[str]) -> Hashes:
    """Shape (len(urls),): a 64-bit hash of each URL, as `read_crawled` compares them."""
    return pl.Series(urls, dtype=pl.String).hash().to_numpy()


def of_run(run: str, url: str) -> str:
    """What stands for a URL in one run: in another run its page may have been no duplicate."""
    return f"{run}\0{url}"


def read_crawled(
    log: Path,
    duplicates: Hashes,
    titled: Collection[str],
    told: Callable[[int], None] = lambda _: None,
    run: str | None = None,
) -> tuple[Crawled, Tally]:
    """Read a crawl log once, in bounded memory: 9 bytes a page.

    Args:
        log: In any format that `train` reads.
        duplicates: `hashes_of` the URLs whose pages are duplicates, `of_run` for rows that say of which run they are,
            and as they are for others.
        titled: The URLs whose titles are wanted.
        told: Is told how many bytes of the file are read.
        run: Only the rows of this crawl.

    Raises:
        LogError: The file is no crawl log.
    """
    found, tally = Crawled(), Tally()
    log_format = format_of(log)
    wanted = pl.Series(titled, dtype=pl.String).unique()
    hashed = pl.Series(duplicates, dtype=pl.UInt64).unique()
    times, flags = [found.at], [found.duplicate]
    hosts: Counter[str] = Counter()
    for batch in log_format.read(log, tally) if log_format else ():
        found_out = pl.any_horizontal(pl.col("duplicate_of", "alias_of").is_not_null())  # rows that are of no response
        is_response = ~found_out | pl.col("bytes").is_not_null()
        rows = batch.filter(pl.col("url").is_not_null() & is_response & (run is None or pl.col("run") == run))
        pages = rows.filter(pl.col("status").fill_null(200) == 200)
        pages = pages.with_columns(
            pl.col("bytes").fill_null(0),
            fetched_at=pl.col("fetched_at").dt.epoch("ms").fill_null(0),
            duplicate=_URL_OF_RUN.hash().is_in(hashed.implode()),
        )
        found.responses += rows.height
        found.pages += pages.height
        found.bytes += int(pages["bytes"].sum())
        found.duplicate_bytes += int(pages.filter("duplicate")["bytes"].sum())
        times.append(pages["fetched_at"].to_numpy())
        flags.append(pages["duplicate"].to_numpy())
        named = pages.filter(pl.col("title").is_not_null() & pl.col("url").is_in(wanted.implode()))
        titles = named.select("url", pl.col("title").str.slice(0, _LONGEST_TITLE))
        found.titles.update(titles.iter_rows())
        counted = pages.select(host=pl.col("url").str.extract(_HOST)).group_by("host").len()
        hosts.update({str(host or ""): count for host, count in counted.iter_rows()})
        told(tally.bytes_read)
    for host, count in hosts.items():
        found.pages_by_site[site_of(host)] += count
    at = np.concatenate(times)
    order = at.argsort(kind="stable")
    found.at, found.duplicate = at[order], np.concatenate(flags)[order]
    known = found.at[found.at > 0]
    found.seconds = float(np.minimum(np.diff(known), _PAUSE).sum()) / 1000 if len(known) else 0.0
    return found, tally
