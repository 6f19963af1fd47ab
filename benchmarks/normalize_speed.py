"""The normalizer with a million rules of 100,000 hosts, beside `w3lib.canonicalize_url` in the same run.

    python -m benchmarks.normalize_speed [--hosts 100000]

Writes the rule files into a temporary folder, ten rules a host, and measures in a process of its own, so that the
memory is the normalizer's: start-up, a crawl of 1,000 hosts, the same URLs again, and one URL of each of 10,000 hosts.
The files are in the page cache, as they have just been written.
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
LINKS_OF_A_PAGE = 10
COLD_HOSTS = 10_000
REPEATS = 5

# Half of a host's rules are those of a software that others run too; the other half has words of its own.
RULES = (
    Rule("session", "rewrite", drop=("sid", "PHPSESSID", "utm_*")),
    Rule("index", "rewrite", match="/{folders*}/index.html", to="/{folders}/"),
    Rule("title", "rewrite", match="/index.php?title={page}", unless=("*",), to="/wiki/{page}"),
    Rule("printable", "rewrite", match="/index.php?title={page}&WORD0=yes", to="/wiki/{page}"),
    Rule("print", "rewrite", match="/WORD1/{page*}", to="/{page}"),
    Rule("start", "rewrite", match="/viewtopic.php?WORD2=0", to="/viewtopic.php"),
    Rule("comments", "rewrite", match="/{year:digits}/{month:digits}/{slug}/feed", to="/{year}/{month}/{slug}/"),
    Rule("product", "rewrite", match="/WORD3/{title}-{id:digits}.html", to="/product/{id}"),
    Rule("friends", "equivalence", match="/WORD4-{}", to="/WORD4-{}"),
    Rule("order", "rewrite", convert="sort-query"),
)
WORDS = 5

URLS = (
    "http://{host}/wiki/Casino_Royale_{n}",
    "http://{host}/index.php?title=Casino_Royale_{n}&WORD0=yes",
    "http://{host}/index.php?title=Casino_Royale_{n}&action=history",
    "http://{host}/viewtopic.php?f=2&t={n}&sid=53985daccba41e6c4518d6d6e1ca02cb",
    "http://{host}/viewtopic.php?t={n}&WORD2=0&postdays=0&postorder=asc&highlight=",
    "http://{host}/2009/03/ece{n}-spring-programming-assignment/feed",
    "http://{host}/2009/03/ece{n}-spring-programming-assignment/",
    "http://{host}/art/{n}/index.html",
    "http://{host}/WORD3/the-lord-of-the-rings-{n}.html?utm_source=feed&utm_medium=rss",
    "http://{host}/product/{n}?colour=red&size=12",
    "http://{host}/WORD4-lttU7d6kIuGq{n}",
    "http://{host}/images/{n}.jpg",
)


def host_name(n: int) -> str:
    return f"shop{n:06d}.com"


def with_words(text: str, host: int) -> str:
    """The words of a host in place of WORD0 … WORD4."""
    chance = random.Random(host)
    for place in range(WORDS):
        word = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(4, 10)))
        text = text.replace(f"WORD{place}", word)
    return text


def write_files(folder: Path, hosts: int) -> None:
    """A rule file for each host: as `train` writes it, with the host's own words."""
    path = write_rules(folder, SiteRules("HOST", RULES))
    content = path.read_text(encoding="utf-8").replace('"host"', '"HOST"')
    path.unlink()
    for n in track(range(hosts), "writing rule files", transient=True):
        text = with_words(content, n).replace("HOST", host_name(n))
        (folder / file_name(host_name(n))).write_text(text, encoding="utf-8")


def urls_of(hosts: Sequence[int], a_host: int, at_a_time: int = 1) -> list[str]:
    """`a_host` URLs of each host, in groups of `at_a_time` of one host; the groups are shuffled."""
    chance = random.Random(0)
    groups = [
        [
            with_words(URLS[(host + i + k) % len(URLS)].format(host=host_name(host), n=chance.randrange(10**6)), host)
            for k in range(at_a_time)
        ]
        for host in hosts
        for i in range(0, a_host, at_a_time)
    ]
    chance.shuffle(groups)
    return [url for group in groups for url in group]


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

    hosts_crawled = random.Random(1).sample(range(hosts), min(hosts, CRAWLED_HOSTS))
    crawled = urls_of(hosts_crawled, URLS_OF_A_HOST, LINKS_OF_A_PAGE)
    scattered = urls_of(hosts_crawled, URLS_OF_A_HOST)
    normalize = normalizer.normalize
    first = cpu_of(normalize, crawled)
    again, w3lib, apart, w3lib_apart = [], [], [], []
    for _ in range(REPEATS):
        again.append(cpu_of(normalize, crawled))
        w3lib.append(cpu_of(canonicalize_url, crawled))
        apart.append(cpu_of(normalize, scattered))
        w3lib_apart.append(cpu_of(canonicalize_url, scattered))
    changed = sum(normalize(url).kind != "unchanged" for url in crawled) / len(crawled)
    after_crawl = peak_memory()
    sample = random.Random(2).sample(range(hosts), min(hosts, COLD_HOSTS))
    cold = cpu_of(normalize, urls_of(sample, 1))

    theirs = statistics.median(w3lib)

    def beside(ours: float, w3lib: float = theirs) -> str:
        return f"{ours:.2f} µs a URL, {ours / w3lib:.2f} of w3lib's {w3lib:.2f}"

    return [
        ("start-up", f"{wall:.2f} s ({cpu:.2f} s CPU)"),
        (f"normalize, links of a page ({LINKS_OF_A_PAGE} of one host) at a time", beside(statistics.median(again))),
        (
            f"normalize, one by one from {len(hosts_crawled):,} hosts",
            beside(statistics.median(apart), statistics.median(w3lib_apart)),
        ),
        (f"normalize, the first {len(crawled):,} URLs, their files opened on the way", beside(first)),
        (f"normalize, one URL of each of {len(sample):,} hosts, each file opened for it", f"{cold:.0f} µs a URL"),
        ("URLs changed by a rule", f"{changed:.0%}"),
        (
            "peak memory: before, after start-up, after the crawl, after these hosts",
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
