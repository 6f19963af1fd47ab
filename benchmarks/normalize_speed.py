"""The normalizer with a million rules of 100,000 hosts, beside `w3lib.canonicalize_url` in the same run.

    python -m benchmarks.normalize_speed [--hosts 100000]

Writes the rule files into a temporary folder, ten rules a host, and measures in a process of its own, so that the
memory is the normalizer's: start-up, a crawl of 1,000 hosts, the same URLs again, and one URL of every host. The files
are in the page cache, as they have just been written.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.progress import track
from w3lib.url import canonicalize_url

from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, file_name, write_rules

CRAWLED_HOSTS = 1_000
URLS_OF_A_HOST = 50
REPEATS = 5

RULES = (
    Rule("session", "rewrite", drop=("sid", "PHPSESSID", "utm_*")),
    Rule("index", "rewrite", match="/{folders*}/index.html", to="/{folders}/"),
    Rule("title", "rewrite", match="/index.php?title={page}", unless=("*",), to="/wiki/{page}"),
    Rule("printable", "rewrite", match="/index.php?title={page}&printable=yes", to="/wiki/{page}"),
    Rule("print", "rewrite", match="/print/{page*}", to="/{page}"),
    Rule("start", "rewrite", match="/viewtopic.php?start=0", to="/viewtopic.php"),
    Rule("comments", "rewrite", match="/{year:digits}/{month:digits}/{slug}/feed", to="/{year}/{month}/{slug}/"),
    Rule("product", "rewrite", match="/shop/{title}-{id:digits}.html", to="/product/{id}"),
    Rule("friends", "equivalence", match="/friends-{}", to="/friends-{}"),
    Rule("order", "rewrite", convert="sort-query"),
)

URLS = (
    "http://{host}/wiki/Casino_Royale_{n}",
    "http://{host}/index.php?title=Casino_Royale_{n}&printable=yes",
    "http://{host}/index.php?title=Casino_Royale_{n}&action=history",
    "http://{host}/viewtopic.php?f=2&t={n}&sid=53985daccba41e6c4518d6d6e1ca02cb",
    "http://{host}/viewtopic.php?t={n}&start=0&postdays=0&postorder=asc&highlight=",
    "http://{host}/2009/03/ece{n}-spring-programming-assignment/feed",
    "http://{host}/2009/03/ece{n}-spring-programming-assignment/",
    "http://{host}/art/{n}/index.html",
    "http://{host}/shop/the-lord-of-the-rings-{n}.html?utm_source=feed&utm_medium=rss",
    "http://{host}/product/{n}?colour=red&size=12",
    "http://{host}/friends-lttU7d6kIuGq{n}",
    "http://{host}/images/{n}.jpg",
)


def host_name(n: int) -> str:
    return f"shop{n:06d}.com"


def write_files(folder: Path, hosts: int) -> None:
    """A rule file for each host: one as `train` writes it, and copies of it under other names."""
    first = host_name(0)
    content = write_rules(folder, SiteRules(first, RULES)).read_text(encoding="utf-8")
    for n in track(range(1, hosts), "writing rule files", transient=True):
        (folder / file_name(host_name(n))).write_text(content.replace(first, host_name(n)), encoding="utf-8")


def urls_of(hosts: Sequence[int], a_host: int) -> list[str]:
    """Shuffled URLs of these hosts, as a crawler meets them."""
    chance = random.Random(0)
    urls = [
        URLS[(host + i) % len(URLS)].format(host=host_name(host), n=chance.randrange(10**6))
        for host in hosts
        for i in range(a_host)
    ]
    chance.shuffle(urls)
    return urls


def cpu_of(function: Callable[[str], object], urls: Sequence[str]) -> float:
    """CPU microseconds a URL."""
    start = time.process_time()
    for url in urls:
        function(url)
    return (time.process_time() - start) / len(urls) * 1e6


def peak_memory() -> float:
    """Largest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(folder: Path, hosts: int) -> list[tuple[str, str]]:
    """The figures, as lines of a table."""
    empty = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    normalizer = Normalizer.from_paths([folder])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    started = peak_memory()

    crawled = urls_of(random.Random(1).sample(range(hosts), min(hosts, CRAWLED_HOSTS)), URLS_OF_A_HOST)
    normalize = normalizer.normalize
    first = cpu_of(normalize, crawled)
    again, w3lib = [], []
    for _ in range(REPEATS):
        again.append(cpu_of(normalize, crawled))
        w3lib.append(cpu_of(canonicalize_url, crawled))
    changed = sum(normalize(url).kind != "unchanged" for url in crawled) / len(crawled)
    after_crawl = peak_memory()
    cold = cpu_of(normalize, urls_of(range(hosts), 1))

    ours, theirs = statistics.median(again), statistics.median(w3lib)
    return [
        ("start-up", f"{wall:.2f} s ({cpu:.2f} s CPU)"),
        ("w3lib.canonicalize_url", f"{theirs:.2f} µs a URL"),
        ("normalize, rules of the host at hand", f"{ours:.2f} µs a URL, {ours / theirs:.2f} of w3lib"),
        (
            f"normalize, first {len(crawled):,} URLs of {CRAWLED_HOSTS:,} hosts, files opened on the way",
            f"{first:.2f} µs a URL, {first / theirs:.2f} of w3lib",
        ),
        (f"normalize, one URL of each of {hosts:,} hosts", f"{cold:.0f} µs a URL"),
        ("URLs changed by a rule", f"{changed:.0%}"),
        (
            "peak memory: before, after start-up, after the crawl, after all hosts",
            f"{empty:.0f}, {started:.0f}, {after_crawl:.0f}, {peak_memory():.0f} MB",
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.normalize_speed", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--hosts", type=int, default=100_000, help="with ten rules each (default: %(default)s)")
    hosts = parser.parse_args().hosts
    folder = Path(tempfile.mkdtemp(prefix="rules-"))
    try:
        write_files(folder, hosts)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            rows = process.submit(measure, folder, hosts).result()
    finally:
        shutil.rmtree(folder)
    print(f"{hosts * len(RULES):,} rules of {hosts:,} hosts")
    print("\n".join(f"| {name} | {figure} |" for name, figure in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
