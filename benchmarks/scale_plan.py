"""What a billion pages and ten billion URLs take, by arithmetic from measured figures, and a simulation of the shards.

    python -m benchmarks.scale_plan [--pages 1000000000] [--urls 10000000000]

Prints the tables of docs/measured/scale.md, which a test compares with it. What is not measured is assumed; it says so.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.markdown import table


@dataclass(frozen=True, slots=True)
class Page:
    """What a page takes by some checks, in the dearer of two replayed crawls: nankai, or uci's first 6,000 pages.

    Attributes:
        checks: Named for people.
        fetch_ms: CPU of a page without dedupcrawl: benchmarks.replay, crawl-cost.md.
        dedup_ms: What it adds: main text, signatures, search, the index on disk.
        disk: Bytes of an LMDB index, as all bytes here: benchmarks.index_bytes, page-index.md.
        redis: In Redis's memory.
        sent: From the worker that keeps the page to Redis.
        read: From Redis to each other worker of the same index.
    """

    checks: str
    fetch_ms: float
    dedup_ms: float
    disk: int
    redis: int
    sent: int
    read: int


# Measured: figure, and the report that has it with its command.
PAGES = (
    Page("exact, feature_code, simhash", 9.87, 13.97 - 9.87, 3_190, 1_437, 1_714, 1_264),
    Page("these, shingles, mwo", 11.87, 18.44 - 11.87, 3_933, 1_908, 3_183, 1_670),
)
TEXT_MS = 0.593  # reading, main text, symbols: crawl-cost.md, replay uci, without the verdict
JUDGE_MS = 0.557  # a verdict by exact, feature_code, simhash: peer_speed, when these were printed
OFFER_MS = 0.335  # of that, the search among 10^7 pages: page-index.md, index_scale
HEAP_BYTES = 100  # a page in memory, ours and the benchmark's: page-index.md, index_scale
REDIS_MS = 0.071  # of the server for a page: shared-index.md, shared_index, median
ROUND_TRIPS = 1.151
READING_MS = 0.065  # of a worker for a page that any worker keeps
LEARN_URLS = 6_266  # a CPU second: learning.md, training_speed --rows 100000
SPARK_FACTOR = (72.8 - 34.8) / (34.4 - 1.0)  # CPU of a row on Spark by that of one here: scale.md, spark_overhead
PAPER_URLS = 1_530  # a second a node: Koppula et al. (2010), Sect. 5

# Assumed.
DAYS = 30
PAGE_KB = 30  # of HTML as it comes over the net
BUSY = 0.5  # of a core's time that is planned with
CORES, MEMORY_GB, DISK_GB = 16, 64, 2_000  # of a machine
CORE_HOUR = 0.05  # dollars, memory and disk included
LOG_BYTES = 200  # a row of a crawl log
SHARD_PAGES = 10_000_000  # of an index: as far as it was measured
SITES = 1_000_000
QUOTA = 1_000_000  # DEDUP_SITE_QUOTA
FULL = 0.75  # of a Redis server's memory that is planned with: the rest is for its buffers and for rewriting its file
WORKERS = 4  # that share an index on Redis


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000_000)
    parser.add_argument("--urls", type=int, default=10_000_000_000)
    given = parser.parse_args()
    for title, text in tables(given.pages, given.urls).items():
        print(f"{title}:\n\n{text}")


def tables(pages: int, urls: int) -> dict[str, str]:
    """The tables of docs/measured/scale.md, by what they are about."""
    checks = [page.checks for page in PAGES]
    hours = ("what", "CPU hours", "wall hours on 100 cores", "dollars")
    full = ("exponent", "quota", "shards", "largest site", "fullest shard / mean", "GB in Redis", "not judged")
    return {
        f"{pages:,} pages in {DAYS} days, by checks": table(("what", *checks), crawl_plan(pages)),
        "Where each index ends on such a machine, whichever comes first": table(
            ("index", "checks", "memory", "disk", "ends at", "by"), index_limits()
        ),
        "Postings that a search looks at, by SimHash's four blocks of 16 bits": table(
            ("pages in one index", "postings a query"), hot_blocks()
        ),
        f"Shards by a hash of the site, {pages:,} pages of {SITES:,} sites by Zipf's law": table(full, shards(pages)),
        f"{urls:,} URLs to learn from, {pages:,} pages to check in batch order": table(hours, batch_plan(pages, urls)),
    }


def crawl_plan(pages: int) -> list[tuple[str, ...]]:
    """One column for each of PAGES."""
    columns = [_planned(pages, page) for page in PAGES]
    return [(what, *(column[what] for column in columns)) for what in columns[0]]


def _planned(pages: int, page: Page) -> dict[str, str]:
    rate = pages / (DAYS * 86_400)
    fetching, ours = rate * page.fetch_ms / 1e3, rate * page.dedup_ms / 1e3
    cores = (fetching + ours) / BUSY
    count = -(-pages // SHARD_PAGES)
    disk_gb, redis_gb = SHARD_PAGES * page.disk / 1e9, SHARD_PAGES * page.redis / 1e9
    on_a_server = int(MEMORY_GB * FULL / redis_gb)
    read = rate * page.read * (WORKERS - 1)
    return {
        "pages a second": f"{rate:,.0f}",
        "from the net": f"{rate * PAGE_KB / 1e3:,.0f} MB/s",
        "cores busy with fetching and parsing": f"{fetching:.1f}",
        "cores busy with dedupcrawl": f"{ours:.1f}",
        f"cores at {BUSY:.0%} load": f"{cores:.0f}",
        "dollars for them": f"{cores * DAYS * 24 * CORE_HOUR:,.0f}",
        "indexes on disk": f"{pages * page.disk / 1e9:,.0f} GB",
        f"indexes of {SHARD_PAGES:,} pages": f"{count:,}",
        "… each, on disk and in memory": f"{disk_gb:.0f} GB, {SHARD_PAGES * HEAP_BYTES / 1e9:.0f} GB",
        "… each, on Redis": f"{redis_gb:.1f} GB, {on_a_server} on a server",
        "… all on Redis": f"{pages * page.redis / 1e9:,.0f} GB of memory, {-(-count // on_a_server)} servers",
        "server time on Redis, all indexes": f"{rate * REDIS_MS / 1e3:.2f} cores",
        "round trips a second, all indexes": f"{rate * ROUND_TRIPS:,.0f}",
        "to Redis, all indexes": f"{rate * page.sent / 1e6:.1f} MB/s",
        f"from Redis, all indexes, {WORKERS} workers each": f"{read / 1e6:.1f} MB/s",
    }


def index_limits() -> list[tuple[str, ...]]:
    rows = list[tuple[str, ...]]()
    for page in PAGES:
        for name, memory, disk in (
            ("LMDB, one machine", HEAP_BYTES, page.disk),
            ("one Redis, the server", page.redis / FULL, page.redis),
            ("one Redis, each worker's copy", 8, page.read),
        ):
            by_memory, by_disk = MEMORY_GB * 1e9 / memory, DISK_GB * 1e9 / disk
            ends = min(by_memory, by_disk, 2**32)
            by = {by_memory: "memory", by_disk: "disk"}.get(ends, "page numbers of 32 bits")
            rows.append((name, page.checks, f"{memory:.0f} B a page", f"{disk} B a page", f"{ends:.1e} pages", by))
    return rows


def batch_plan(pages: int, urls: int) -> list[tuple[str, str, str, str]]:
    def row(name: str, seconds: float, cores: int = 100) -> tuple[str, str, str, str]:
        hours = seconds / 3600
        return (
            name,
            f"{hours:,.0f}",
            f"{hours / cores / (BUSY if cores > 1 else 1):,.1f}",
            f"{hours / BUSY * CORE_HOUR:,.0f}",
        )

    text = pages * TEXT_MS / 1e3
    judging = pages * JUDGE_MS / 1e3
    return [
        row("train, local engine's CPU", urls / LEARN_URLS),
        row(f"train on Spark, {urls * LOG_BYTES / 1e12:.0f} TB of log", urls / LEARN_URLS * SPARK_FACTOR),
        row("… at the paper's rate a node", urls / PAPER_URLS),
        row("check: reading, main text, symbols", text),
        row("check: judging, a scope of sites", judging),
        row("check: judging, a scope of all: one core", judging, 1),
    ]


def shards(pages: int) -> list[tuple[str, ...]]:
    """Sites go to shards by a hash: what the fullest shard has. Medians of some draws."""
    rows = list[tuple[str, ...]]()
    for exponent in (0.8, 1.0, 1.2):
        share = 1.0 / np.arange(1, SITES + 1) ** exponent
        for quota in (None, QUOTA):
            sizes: NDArray[np.float64] = share / share.sum() * pages
            if quota:
                sizes = np.minimum(sizes, quota)
            for count in (16, 128):
                fullest = np.median([fullest_of(sizes, count, seed) for seed in range(5)])
                mean = sizes.sum() / count
                rows.append(
                    (
                        f"{exponent}",
                        f"{quota:,}" if quota else "none",
                        f"{count}",
                        f"{sizes[0]:,.0f}",
                        f"{fullest / mean:.2f}",
                        f"{fullest * PAGES[0].redis / 1e9:,.0f}",
                        f"{max(0.0, 1 - sizes.sum() / pages):.0%}",
                    )
                )
    return rows


def fullest_of(sizes: NDArray[np.float64], count: int, seed: int) -> float:
    where = np.random.default_rng(seed).integers(count, size=len(sizes))
    return float(np.bincount(where, weights=sizes, minlength=count).max())


def hot_blocks() -> list[tuple[str, str]]:
    return [(f"{pages:,}", f"{4 * pages / 2**16:,.0f}") for pages in (10**6, 10**7, 10**8, 10**9)]


if __name__ == "__main__":
    main()
