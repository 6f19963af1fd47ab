"""What a billion pages and ten billion URLs take, by arithmetic from measured figures, and a simulation of the shards.

    python -m benchmarks.scale_plan [--pages 1000000000] [--urls 10000000000]

Prints the tables of docs/scale.md. Everything that is not measured is assumed, and printed as such.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from benchmarks.markdown import table

# Measured: figure, and the report that has it with its command.
FETCH_MS = 7.19  # CPU of a page without dedupcrawl: crawl-cost.md, replay uci
DEDUP_MS = 8.34 - 7.19  # what it adds: main text, signatures, search, the index on disk
JUDGE_MS = 0.557  # of that, a verdict by exact, feature_code, simhash: content-checks.md, peer_speed
OFFER_MS = 0.335  # of that, the search among 10^7 pages: page-index.md, index_scale
INDEX_BYTES = 995  # a page on disk: page-index.md, index_scale
HEAP_BYTES = 100  # a page in memory, ours and the benchmark's: page-index.md, index_scale
REDIS_BYTES = 1_135  # a page in Redis's memory: shared-index.md, shared_index, run 1
REDIS_MS = 0.185  # of the server
ROUND_TRIPS = 1.151
READING_MS = 0.065  # of a worker for a page that any worker keeps
LEARN_URLS = 12_328  # a CPU second: learning.md, training_speed
SPARK_FACTOR = (63.3 - 35.3) / (23.6 - 0.9)  # CPU of a row on Spark by that of one here: scale.md, spark_overhead
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000_000)
    parser.add_argument("--urls", type=int, default=10_000_000_000)
    given = parser.parse_args()
    print(f"{given.pages:,} pages in {DAYS} days:\n")
    print(table(("what", "how much"), crawl_plan(given.pages)))
    print("\nWhere each index ends on such a machine, whichever comes first:\n")
    print(table(("index", "memory", "disk", "ends at", "by"), index_limits()))
    print(f"\n{given.urls:,} URLs to learn from, {given.pages:,} pages to check in batch order:\n")
    print(table(("what", "CPU hours", "wall hours on 100 cores", "dollars"), batch_plan(given.pages, given.urls)))
    print(f"\nShards by a hash of the site, {given.pages:,} pages of {SITES:,} sites by Zipf's law:\n")
    print(
        table(
            ("exponent", "quota", "shards", "largest site", "fullest shard / mean", "GB in Redis", "not judged"),
            shards(given.pages),
        )
    )
    print("\nPostings that a search looks at, by SimHash's four blocks of 16 bits:\n")
    print(table(("pages in one index", "postings a query"), hot_blocks()))


def crawl_plan(pages: int) -> list[tuple[str, str]]:
    rate = pages / (DAYS * 86_400)
    fetching, ours = rate * FETCH_MS / 1e3, rate * DEDUP_MS / 1e3
    cores = (fetching + ours) / BUSY
    count, redis_gb = -(-pages // SHARD_PAGES), pages * REDIS_BYTES / 1e9
    disk_gb, memory_gb = SHARD_PAGES * INDEX_BYTES / 1e9, SHARD_PAGES * HEAP_BYTES / 1e9
    return [
        ("pages a second", f"{rate:,.0f}"),
        ("from the net", f"{rate * PAGE_KB / 1e3:,.0f} MB/s"),
        ("cores busy with fetching and parsing", f"{fetching:.1f}"),
        ("cores busy with dedupcrawl", f"{ours:.2f}"),
        (f"cores at {BUSY:.0%} load", f"{cores:.0f}"),
        ("dollars for them", f"{cores * DAYS * 24 * CORE_HOUR:,.0f}"),
        ("index on disk", f"{pages * INDEX_BYTES / 1e9:,.0f} GB"),
        (f"indexes of {SHARD_PAGES:,} pages", f"{count:,}"),
        ("… each, on disk and in memory", f"{disk_gb:.0f} GB, {memory_gb:.0f} GB"),
        ("… all on Redis", f"{redis_gb:,.0f} GB of memory, {redis_gb / MEMORY_GB:.0f} servers"),
        ("server time on Redis, all indexes", f"{rate * REDIS_MS / 1e3:.2f} cores"),
        ("round trips a second, all indexes", f"{rate * ROUND_TRIPS:,.0f}"),
    ]


def index_limits() -> list[tuple[str, str, str, str, str]]:
    rows = []
    for name, memory, disk in (
        ("LMDB, one machine", HEAP_BYTES, INDEX_BYTES),
        ("one Redis, the server", REDIS_BYTES, REDIS_BYTES),
        ("one Redis, each worker's copy", 8, REDIS_BYTES),
    ):
        by_memory, by_disk = MEMORY_GB * 1e9 / memory, DISK_GB * 1e9 / disk
        ends = min(by_memory, by_disk, 2**32)
        by = {by_memory: "memory", by_disk: "disk"}.get(ends, "page numbers of 32 bits")
        rows.append((name, f"{memory} B a page", f"{disk} B a page", f"{ends:.1e} pages", by))
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

    text = pages * (DEDUP_MS - JUDGE_MS) / 1e3
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
                        f"{fullest * REDIS_BYTES / 1e9:,.0f}",
                        f"{1 - sizes.sum() / pages:.0%}",
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
