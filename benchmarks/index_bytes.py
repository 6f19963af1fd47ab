"""What a page of a real crawl takes: on disk, in Redis, and on the network between Redis and the workers.

    python -m benchmarks.replay uci nankai --checks exact,feature_code,simhash --out FOLDER
    python -m benchmarks.index_bytes FOLDER…

Reads the indexes that replays left behind. What is on disk is the whole folder of the index, with the verdicts on what
was dropped, and then what it consists of, by the databases in LMDB. For Redis, all kept pages are offered again, by one
worker, to an index on a server of this command's own, and another worker reads them; bytes are those of the server's
statistics.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lmdb
import redis

from benchmarks.markdown import table
from benchmarks.offering import offer
from benchmarks.redis_process import redis_process
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Entry
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.settings import DedupSettings


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes a kept page.

    Attributes:
        disk: Of the LMDB index; of it `segments` are postings.
        segments: See `disk`.
        redis: Of the server's memory, for all keys (its `MEMORY USAGE`; clients' buffers come and go).
        sent: From the worker that keeps the page to the server.
        told: From the server to that worker, in answer.
        read: From the server to each other worker.
    """

    disk: float
    segments: float
    redis: float
    sent: float
    told: float
    read: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="as in --out of benchmarks.replay")
    given = parser.parse_args()
    found = [(folder, path) for folder in given.folders for path in sorted(folder.glob("*/on-0/.scrapy/dedup/index"))]
    if not found:
        sys.exit(f"no finished replay in {', '.join(map(str, given.folders))}: run benchmarks.replay with --out first")
    rows, parts = [], []
    with redis_process() as port:
        for folder, path in found:
            entries = list(_kept(path))
            checks = sorted({name for entry in entries for name in entry.signatures}, key=CHECK_NAMES.index)
            it = measured(path, entries, port)
            figures = (it.disk, it.segments, it.redis, it.sent, it.told, it.read)
            site = path.relative_to(folder).parts[0]
            rows.append((site, ", ".join(checks), f"{len(entries):,}", *(f"{figure:,.0f}" for figure in figures)))
            parts.append((site, *(f"{size / len(entries):,.0f}" for size in on_disk(path).values())))
    head = ("crawl", "checks", "pages kept", "disk", "of it postings", "Redis", "sent", "told", "each worker reads")
    print(table(head, rows))
    print(f"{table(('crawl', *_PARTS, 'other tables', 'free'), parts)}")


_PARTS = {
    "pages": ("pages", "pieces"),
    "attachments": ("attachments",),
    "verdicts": ("verdicts",),
    "rewrites": ("rewrites", "rewrite_keys"),
    "states": ("states",),
}


def on_disk(path: Path) -> dict[str, int]:
    """Bytes of the pages of LMDB that groups of databases take, that all others do, and that none does."""
    with lmdb.open(str(path), max_dbs=64, readonly=True, lock=False) as env, env.begin() as txn:
        sizes = {}
        for name, _ in list(txn.cursor()):
            found = txn.stat(env.open_db(name, txn, create=False))
            sizes[name.decode()] = found["branch_pages"] + found["leaf_pages"] + found["overflow_pages"]
        last, page = env.info()["last_pgno"] + 1, env.stat()["psize"]
    parts = {part: sum(sizes.pop(name, 0) for name in names) for part, names in _PARTS.items()}
    used = sum(parts.values()) + sum(sizes.values())
    return {part: size * page for part, size in (parts | {"other": sum(sizes.values()), "free": last - used}).items()}


def _kept(path: Path) -> Iterator[Entry]:
    index = open_index(str(path), ())
    yield from index.entries()
    index.close()


def measured(path: Path, entries: list[Entry], port: int) -> Bytes:
    """What the pages of one index take."""
    parameters = dict(DedupSettings.read({"DEDUP_RULES": []}).parameters)
    checks = make_checks(CHECK_NAMES, parameters)
    server: Any = redis.Redis(port=port)
    server.flushall()
    url = f"redis://127.0.0.1:{port}/0"
    writer = RedisIndex(url, checks, wait=60)
    before = server.info()
    for entry in entries:
        offer(writer, entry, compare=False)
    written = server.info()
    reader = RedisIndex(url, checks, wait=60)
    read = server.info()
    held = sum(server.memory_usage(key, samples=0) for key in server.scan_iter())
    reader.close()
    writer.close()

    def a_page(name: str, since: Any, until: Any) -> float:
        return (int(until[name]) - int(since[name])) / len(entries)

    files = [file for file in path.rglob("*") if file.is_file()]
    return Bytes(
        disk=sum(file.stat().st_blocks * 512 for file in files) / len(entries),
        segments=sum(file.stat().st_size for file in files if file.suffix == ".segment") / len(entries),
        redis=held / len(entries),
        sent=a_page("total_net_input_bytes", before, written),
        told=a_page("total_net_output_bytes", before, written),
        read=a_page("total_net_output_bytes", written, read),
    )


if __name__ == "__main__":
    main()
