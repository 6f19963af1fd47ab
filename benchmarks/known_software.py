"""Which program makes which site, what its rules find there alone, and how often each was wrong.

    python -m benchmarks.known_software [SITE…] [--data DIR]

Prints three tables, by site, by rule and by program, and what recognizing costs. Sites are mirrors with known
duplicates (as for benchmarks.url_rules); of each cluster at most 20 URLs are taken. A URL whose canonical form was
seen before is a merge: right when both pages have one text, near when their SimHashes differ by 6 bits at most, as
they do for one page fetched at two times, else wrong. The rules of a merge are those that changed either of the two
URLs: a wrong merge counts against each of them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag

import mmh3

from dedupcrawl.sites import site_of
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.normalizer import Normalizer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_MOST_OF_A_CLUSTER = 20
_LEAST_WORDS = 20  # of a page that counts
_NEAR = 6  # bits
_TIMED = 20_000  # URLs


@dataclass(slots=True)
class Counts:
    """Merges."""

    right: int = 0
    near: int = 0
    wrong: int = 0

    def add(self, kind: str) -> None:
        """One more, "right", "near" or "wrong"."""
        setattr(self, kind, getattr(self, kind) + 1)

    @property
    def cells(self) -> str:
        """Cells of a table, with the share of right and near ones."""
        made = self.right + self.near + self.wrong
        share = f"{(self.right + self.near) / made:.3f}" if made else "–"
        return f"{self.right:,} | {self.near:,} | {self.wrong:,} | {share}"


@dataclass(slots=True)
class Found:
    """Of one site."""

    name: str
    urls: int
    redundant: int
    runs: list[str]
    all: Counts = field(default_factory=Counts)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of sites; all by default")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with mirrors/ (default: %(default)s)")
    arguments = parser.parse_args()
    cost = _cost()  # while nothing is remembered
    by_rule: dict[str, Counts] = {}
    on_sites: Counter[str] = Counter()
    seen_on: Counter[str] = Counter()
    print("| site | URLs | redundant | programs | right | near | wrong | safe | found |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for path in sorted((arguments.data / "mirrors").glob("*.tsv.gz")):
        name = path.name.removesuffix(".tsv.gz")
        if arguments.sites and name not in arguments.sites:
            continue
        found = study(name, _rows(path), by_rule, on_sites)
        seen_on.update({run.partition(" ")[0] for run in found.runs})
        share = f"{found.all.right / found.redundant:.3f}" if found.redundant else "–"
        runs = ", ".join(found.runs) or "–"
        print(f"| {found.name} | {found.urls:,} | {found.redundant:,} | {runs} | {found.all.cells} | {share} |")
    print("\n| rule | sites | right | near | wrong | safe |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for rule, counts in sorted(by_rule.items()):
        print(f"| {rule} | {on_sites[rule]} | {counts.cells} |")
    print("\n| program | | signs | rules | pairs | seen on | rules used |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for program in programs():
        used = sum(rule.startswith(f"{program.name}.") for rule in by_rule)
        pairs = len(program.same) + len(program.different)
        counts_of = f"{len(program.signs)} | {len(program.rules)} | {pairs} | {seen_on[program.name]} | {used}"
        print(f"| {program.name} | {program.title} | {counts_of} |")
    print(f"\n{cost}")
    return 0


def _cost() -> str:
    """Of a start, and of a URL of a host of no known program."""
    started = time.process_time()
    known = programs()
    read = time.process_time()
    recognizer = Recognizer(known)
    ready = time.process_time()
    for number in range(_TIMED):
        recognizer.see_url(f"http://www.example.com/some/path-{number}/article-{number}.html?x={number}")
    each = (time.process_time() - ready) / _TIMED
    return (
        f"{len(known)} programs: {(read - started) * 1e3:.1f} ms to read, {(ready - read) * 1e3:.1f} ms to get ready, "
        f"{each * 1e6:.1f} µs a URL"
    )


def study(name: str, rows: list[dict[str, str]], by_rule: dict[str, Counts], on_sites: Counter[str]) -> Found:
    """One site; fills in the counts by rule."""
    recognizer = Recognizer(programs())
    for row in rows:
        recognizer.see_url(row["url"])
    normalizer = Normalizer(more=recognizer.rules_of)
    sites = sorted({site_of(row["url"]) for row in rows})
    runs = [f"{one.program} ({one.where})" for site in sites for one in recognizer.recognized(site)]
    found = Found(name, len(rows), len(rows) - len({row["text_sha1"] for row in rows}), runs)
    first: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {}
    used: set[str] = set()
    for row in rows:
        done = normalizer.normalize(row["url"])
        before = first.setdefault(done.canonical, (row, done.rules))
        if before[0] is row:
            continue
        kind = _kind(before[0], row)
        found.all.add(kind)
        for rule in {one.partition("@")[0] for one in (*done.rules, *before[1])}:
            by_rule.setdefault(rule, Counts()).add(kind)
            used.add(rule)
    on_sites.update(used)
    return found


def _kind(one: dict[str, str], other: dict[str, str]) -> str:
    if one["text_sha1"] == other["text_sha1"]:
        return "right"
    if not one["simhash64"].strip("-") or not other["simhash64"].strip("-"):
        return "wrong"
    return "near" if (int(one["simhash64"], 16) ^ int(other["simhash64"], 16)).bit_count() <= _NEAR else "wrong"


def _rows(path: Path) -> list[dict[str, str]]:
    """Pages with some text, of each cluster a few, chosen by the hash of their URLs."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = (line.replace("\0", "") for line in file)
        head = next(lines).lstrip("#").rstrip("\n").split("\t")
        rows: dict[str, dict[str, str]] = {}
        for values in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            row = dict(zip(head, values, strict=False))
            is_page = "html" in row.get("mime", "html") and row.get("text_sha1", "-").strip("-")
            if is_page and int(row.get("n_words") or 0) >= _LEAST_WORDS:
                row["url"] = urldefrag(row["url"]).url
                row.setdefault("simhash64", "")
                rows.setdefault(row["url"], row)
    order = sorted(rows.values(), key=lambda row: mmh3.hash64(row["url"])[0])
    kept: Counter[str] = Counter()
    chosen = set()
    for row in order:
        kept[row["text_sha1"]] += 1
        if kept[row["text_sha1"]] <= _MOST_OF_A_CLUSTER:
            chosen.add(row["url"])
    return [row for row in rows.values() if row["url"] in chosen]


if __name__ == "__main__":
    sys.exit(main())
