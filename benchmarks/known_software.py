"""Which program makes which site, what its rules find there alone, and how often each was wrong.

    python -m benchmarks.known_software [SITE…] [--data DIR]

Prints tables by site, by rule and by program, and what recognizing costs. Sites are mirrors with known
duplicates (as for benchmarks.url_rules), and the crawls of two universities, of which a page is known by the digest of
its HTML; of each cluster at most 20 URLs are taken. A URL whose canonical form was
seen before is a merge: right when both pages have one text, near when their SimHashes differ by 6 bits at most, as
they do for one page fetched at two times, else wrong. The rules of a merge are those that changed either of the two
URLs: a wrong merge counts against each of them.

A rule is doubtful when fewer than 95 % of its merges are right or near, with 20 of 20.6 taken as seen before: that is
the share of all rules over sites. "Undoubted" is what `normalize` does, which leaves out what programs' files doubt;
"by others" leaves out what is doubtful on the other sites, so that no site has a say about itself.

A last table is of the likely rules that `normalize` uses besides.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag

import mmh3

from benchmarks.markdown import table
from benchmarks.texts import DEFAULT_DATA, table_rows
from dedupcrawl.sites import site_of
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls.learning.likely import LikelyRules
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule

_MOST_OF_A_CLUSTER = 20
_LEAST_WORDS = 20  # of a page that counts
_NEAR = 6  # bits
_SEEN_RIGHT, _SEEN = 20.0, 20.6  # merges
_LEAST_SHARE = 0.95
_TIMED = 20_000  # URLs
_COUNTED = ("right", "near", "wrong", "safe")


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
    def share(self) -> float:
        """Of right and near ones, with what is taken as seen before."""
        good = self.right + self.near
        return (good + _SEEN_RIGHT) / (good + self.wrong + _SEEN)

    @property
    def cells(self) -> list[str]:
        """Cells of a table, with the share of right and near ones."""
        made = self.right + self.near + self.wrong
        share = f"{(self.right + self.near) / made:.3f}" if made else "–"
        return [*(f"{count:,}" for count in (self.right, self.near, self.wrong)), share]


@dataclass(slots=True)
class Found:
    """Of one site, with all rules."""

    name: str
    rows: list[dict[str, str]]
    recognizer: Recognizer
    merges: list[tuple[str, frozenset[str]]]  # kind and rules
    likely: list[tuple[str, frozenset[str]]]  # with likely rules, as `normalize` uses them

    @property
    def redundant(self) -> int:
        """URLs less pages."""
        return len(self.rows) - len({row["text_sha1"] for row in self.rows})

    def told(self, merges: list[tuple[str, frozenset[str]]]) -> list[str]:
        """Cells of a table: the share of right and near ones, and that of the redundant URLs."""
        kinds = Counter(kind for kind, _ in merges)
        safe = f"{1 - kinds['wrong'] / kinds.total():.3f}" if merges else "–"
        return [safe, f"{kinds['right'] / max(1, self.redundant):.3f}"]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of sites; all by default")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with mirrors/ (default: %(default)s)")
    arguments = parser.parse_args()
    cost = _cost()  # while nothing is remembered
    files = {path.name.removesuffix(".tsv.gz"): path for path in (arguments.data / "mirrors").glob("*.tsv.gz")}
    files |= {path.parent.name: path for path in (arguments.data / "crawls").glob("*/crawl.tsv")}
    wanted = sorted(files.keys() & (arguments.sites or files.keys()))
    sites = [study(name, _rows(files[name])) for name in wanted]
    by_rule = by_rules(one.merges for one in sites)
    seen_on: Counter[str] = Counter()
    rows: list[list[object]] = []
    for one in sites:
        names = sorted({site_of(row["url"]) for row in one.rows})
        runs = [there for name in names for there in one.recognizer.recognized(name)]
        seen_on.update({there.program for there in runs})
        others = doubtful(by_rules(other.merges for other in sites if other is not one))
        where = ", ".join(f"{there.program} ({there.where})" for there in runs) or "–"
        found = one.told(one.merges)[1]
        undoubted = one.told(merges(one.rows, one.recognizer.rules_of))
        by_others = one.told(merges(one.rows, on_trial(one.recognizer), others))
        counts = Counts(**Counter(kind for kind, _ in one.merges))
        rows.append(
            [one.name, f"{len(one.rows):,}", f"{one.redundant:,}", where, *counts.cells, found, *undoubted, *by_others]
        )
    head = ["site", "URLs", "redundant", "programs", *_COUNTED, "found", "undoubted", "", "by others", ""]
    print(table(head, rows))
    rows = []
    for rule, counts in sorted(by_rule.items()):
        used = sum(any(rule in rules for _, rules in one.merges) for one in sites)
        rows.append([rule, used, *counts.cells, "doubtful" if rule in doubtful(by_rule) else ""])
    print(table(["rule", "sites", *_COUNTED, ""], rows))
    rows = []
    for program in programs():
        used = sum(rule.startswith(f"{program.name}.") for rule in by_rule)
        pairs = len(program.same) + len(program.different)
        counted = len(program.signs), len(program.rules), pairs, seen_on[program.name], used
        rows.append([program.name, program.title, *counted])
    print(table(["program", "", "signs", "rules", "pairs", "seen on", "rules used"], rows))
    rows = []
    for rule, counts in sorted(by_rules(one.likely for one in sites).items()):
        names = [one.name for one in sites if any(rule in rules for _, rules in one.likely)]
        if rule.startswith("likely."):
            rows.append([f"`{rule.partition('.')[2]}`", len(names), *counts.cells, ", ".join(names)])
    print(table(["likely rule", "sites", *_COUNTED, ""], rows))
    print(cost)
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


def study(name: str, rows: list[dict[str, str]]) -> Found:
    """One site: what runs there, and what all rules of it bring together."""
    recognizer, likely = Recognizer(programs()), LikelyRules()
    for row in rows:
        recognizer.see_url(row["url"])
        likely.see_url(row["url"])
    both = merges(rows, lambda site: (*recognizer.rules_of(site), *likely.rules_of(site)))
    return Found(name, rows, recognizer, merges(rows, on_trial(recognizer)), both)


def on_trial(recognizer: Recognizer) -> Callable[[str], Sequence[Rule]]:
    """The rules of a site as a crawl uses them: doubted ones are tried."""
    return lambda site: [rule.on_trial() for rule in recognizer.rules_of(site)]


def merges(
    rows: list[dict[str, str]], rules_of: Callable[[str], Sequence[Rule]], less: Collection[str] = ()
) -> list[tuple[str, frozenset[str]]]:
    """Kind and rules of each merge, without the rules that are named in `less`."""
    normalizer = Normalizer(more=lambda site: [rule for rule in rules_of(site) if _name(rule.id) not in less])
    first: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {}
    found = []
    for row in rows:
        done = normalizer.normalize(row["url"])
        before = first.setdefault(done.canonical, (row, done.rules))
        if before[0] is not row:
            found.append((_kind(before[0], row), frozenset(map(_name, (*done.rules, *before[1])))))
    return found


def by_rules(sites: Iterable[list[tuple[str, frozenset[str]]]]) -> dict[str, Counts]:
    """What each rule does on these sites."""
    found: defaultdict[str, Counts] = defaultdict(Counts)
    for kind, rules in (merge for merges_of_site in sites for merge in merges_of_site):
        for rule in rules:
            found[rule].add(kind)
    return dict(found)


def doubtful(counts: dict[str, Counts]) -> set[str]:
    """The rules that are right too seldom."""
    return {rule for rule, one in counts.items() if one.share < _LEAST_SHARE}


def _name(rule: str) -> str:
    return rule if rule.startswith("likely.") else rule.partition("@")[0]


def _kind(one: dict[str, str], other: dict[str, str]) -> str:
    if one["text_sha1"] == other["text_sha1"]:
        return "right"
    if not one["simhash64"].strip("-") or not other["simhash64"].strip("-"):
        return "wrong"
    return "near" if (int(one["simhash64"], 16) ^ int(other["simhash64"], 16)).bit_count() <= _NEAR else "wrong"


def _rows(path: Path) -> list[dict[str, str]]:
    """Pages with some text, of each cluster a few, chosen by the hash of their URLs."""
    rows: dict[str, dict[str, str]] = {}
    for row in table_rows(path):
        row.setdefault("text_sha1", row.get("sha1", "-"))
        is_page = "html" in row.get("mime", "html") and row["text_sha1"].strip("-")
        if is_page and int(row.get("n_words") or _LEAST_WORDS) >= _LEAST_WORDS:
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
