"""How fast `dedupcrawl train` is, the whole command: from a crawl log on disk to rule files.

    python -m benchmarks.training_speed [--rows 2000000] [--one-site] [--data ../shared/data]

The log is made of real ones: every copy of a site has a host and digests of its own, and its numbers are permuted. With
--one-site it is of the largest site alone: all copies are on its host, and in each the letters of words that few of its
URLs have, which name pages, are permuted, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

NUMBER = re.compile(r"%[0-9A-Fa-f]{2}|\d{2,}")
WORD = re.compile(r"%[0-9A-Fa-f]{2}|[A-Za-z]+|\d{2,}")
LOWER = "abcdefghijklmnopqrstuvwxyz"
SCHEME_AND_HOST = re.compile(r"^(https?://)((?:[^/:?#]*\.)?)([^./:?#]+)(\.[^./:?#]+(?::\d+)?)", re.I)
POLL_SECONDS = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--one-site", action="store_true")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    given = parser.parse_args()
    sites = sorted((given.data / "mirrors").glob("*.tsv.gz"))
    if not sites:
        sys.exit(f"{given.data} has no mirrors/*.tsv.gz: name the folder that has with --data.")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        if given.one_site:
            sites = [max(sites, key=lambda site: site.stat().st_size)]
        rows = write_log(log, sites, given.rows, on_one_host=given.one_site)
        print(f"{rows:,} rows of {len(sites)} sites and their copies, {log.stat().st_size / 1e6:,.0f} MB", flush=True)
        command = [sys.executable, "-m", "dedupcrawl.cli", "train", str(log), "--rules", f"{folder}/rules", "--json"]
        told, wall, cpu, peak = measured(command)
    print(f"sites {told['sites']:,}, rules {told['rules']:,} for {told['sites_with_rules']:,} sites")
    print(f"wall {wall:.1f} s, CPU {cpu:.1f} s, peak RSS of all processes {peak / 2**20:,.0f} MB")
    print(f"{rows / cpu:,.0f} URLs a CPU second, {rows / wall:,.0f} URLs a second")


def write_log(path: Path, sites: list[Path], rows: int, *, on_one_host: bool = False) -> int:
    """Copies of the sites, one after the other, until there are `rows`."""
    real = [list(read_site(site)) for site in sites]
    common = {word for site in real for word in words_of_the_site(site)} if on_one_host else set()
    written = copy = 0
    with path.open("w", encoding="utf-8") as file:
        while written < rows:
            for site in real:
                permuted = str.maketrans("0123456789", shuffled("0123456789", copy))
                letters = (
                    str.maketrans(LOWER + LOWER.upper(), shuffled(LOWER, copy) + shuffled(LOWER, copy).upper())
                    if copy
                    else {}
                )
                for url, digest in site[: rows - written]:
                    if on_one_host:
                        new = renamed(url, common, letters | permuted) if copy else url
                    else:
                        new = varied(url, copy, permuted)
                    row = {"url": new, "text_digest": f"{digest}{copy}"}
                    file.write(json.dumps({**row, "status": 200, "mime": "text/html"}) + "\n")
                written += min(len(site), rows - written)
            copy += 1
    return written


def read_site(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        head = file.readline().rstrip("\n").split("\t")
        for line in file:
            row = dict(zip(head, line.rstrip("\n").split("\t"), strict=False))
            if "html" in row["mime"] and row["text_sha1"] not in ("", "-"):
                yield row["url"], row["text_sha1"]


def shuffled(text: str, seed: int) -> str:
    letters = list(text)
    random.Random(seed).shuffle(letters)
    return "".join(letters)


def words_of_the_site(site: list[tuple[str, str]]) -> set[str]:
    """Those that one URL in five hundred has, at least: scripts, arguments and sections, and no names of pages."""
    urls_with = Counter(word for url, _ in site for word in set(WORD.findall(url)))
    return {word for word, count in urls_with.items() if count * 500 >= len(site)}


def renamed(url: str, common: set[str], permuted: dict[int, int]) -> str:
    """The URL of another page of the site: other words and longer numbers, but for escapes and those in common."""

    def new(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == "%" or found[0] in common else found[0].translate(permuted)

    head = SCHEME_AND_HOST.match(url)
    return url[: head.end()] + WORD.sub(new, url[head.end() :]) if head else url


def varied(url: str, copy: int, permuted: dict[int, int]) -> str:
    """The URL on the host of this copy, the digits of its longer numbers permuted; escapes stay as they are."""
    head = SCHEME_AND_HOST.match(url)
    if head is None or not copy:
        return url
    scheme, before, name, after = head.groups()
    rest = NUMBER.sub(lambda found: found[0] if found[0][0] == "%" else found[0].translate(permuted), url[head.end() :])
    return f"{scheme}{before}{name}-{copy}{after}{rest}"


def measured(command: list[str]) -> tuple[dict[str, int], float, float, int]:
    """Run a command: its JSON, wall seconds, CPU seconds of all its processes, their peak RSS together in bytes."""
    before, started, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            peak = max(peak, rss_of_tree(process.pid))
            time.sleep(POLL_SECONDS)
        if process.returncode:
            sys.exit(f"train failed with {process.returncode}")
        wall = time.perf_counter() - started
        out.seek(0)
        told = json.load(out)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak


def rss_of_tree(pid: int) -> int:
    """Bytes of memory of a process and its children, from /proc; 0 for what has just ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return pages * resource.getpagesize() + sum(rss_of_tree(int(child)) for child in children)


if __name__ == "__main__":
    main()
