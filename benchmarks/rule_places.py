"""What it costs to try rules separately in each part of a site, and what it catches: the numbers of `urls.places`.

    python -m benchmarks.rule_places [SITE…] [--data DIR] [--places N …] [--trials N …] [--like-a-trial N …]

A crawl of a mirror with known duplicates (as for benchmarks.url_rules) is played with the rules of known software: its
URLs come in the order of the log, each once, and a rule that is due is tried on what the log knows of the two pages.
Then a later crawl comes with what the first has found out. For each number of places that are tried separately, of
trials for a place, and of places that count like a trial of the next, it prints, over all sites: uses of rules that the
log can judge, how many of them were tried in the first crawl and in the later one, and how many were wrong: a page of
other text, not tried, by a rule that was not off in that place at the end.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random

from benchmarks.known_software import DATA, _kind, _rows, on_trial
from dedupcrawl.sites import site_of
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.urls import places
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_book import RuleBook
from dedupcrawl.urls.rules_in_use import RulesInUse

_SHARE = 0.02  # of the uses of a rule that passed its probation are tried at most: the default of the settings


@dataclass(slots=True)
class Played:
    """What came of it."""

    uses: int = 0
    first: int = 0
    later: int = 0
    wrong: int = 0
    wrong_later: int = 0
    known: dict[str, tuple[Rule, ...]] = field(default_factory=dict)


def main() -> int:
    """Print a row for each pair of numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="names of sites; all by default")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with mirrors/ (default: %(default)s)")
    parser.add_argument("--places", type=int, nargs="*", default=[4, 10, 16])
    parser.add_argument("--trials", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--like-a-trial", type=int, nargs="*", default=[places._PLACES_LIKE_A_TRIAL])
    parser.add_argument("--each", action="store_true", help="a row for each site, too")
    arguments = parser.parse_args()
    mirrors = {}
    for path in sorted((arguments.data / "mirrors").glob("*.tsv.gz")):
        name = path.name.removesuffix(".tsv.gz")
        if not arguments.sites or name in arguments.sites:
            mirrors[name] = _rows(path)
    print("| places | trials | like a trial | uses | tried first | later | wrong first | later |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for most, trials, like in product(arguments.places, arguments.trials, arguments.like_a_trial):
        vars(places).update(_MOST_PLACES=most, TRIALS_OF_A_PLACE=trials, _PLACES_LIKE_A_TRIAL=like)
        played = [play(rows) for rows in mirrors.values()]
        for name, one in zip(mirrors, played, strict=True):
            if arguments.each and one.uses:
                print(f"| {name} | | | {one.uses} | {one.first} | {one.later} | {one.wrong} | {one.wrong_later} |")
        sums = [sum(getattr(one, of) for one in played) for of in ("uses", "first", "later", "wrong", "wrong_later")]
        print(f"| {most} | {trials} | {like} | " + " | ".join(f"{one:,}" for one in sums) + " |")
    return 0


def play(rows: list[dict[str, str]]) -> Played:
    """A first crawl of one site and a later one."""
    recognizer = Recognizer(programs())
    for row in rows:
        recognizer.see_url(row["url"])
    played = Played()
    played.uses, played.first, played.wrong = _crawl(rows, Normalizer(more=on_trial(recognizer), tries=True), played)
    later = Normalizer(more=lambda site: played.known.get(site, ()), tries=True)
    _, played.later, played.wrong_later = _crawl(rows, later, played)
    return played


def _crawl(rows: list[dict[str, str]], normalizer: Normalizer, played: Played) -> tuple[int, int, int]:
    """Uses, trials, wrong uses; `played` has the rules as they are afterwards."""
    pages = {row["url"]: row for row in rows}
    book = RuleBook(normalizer, _SHARE, Random(1))
    rules = RulesInUse(normalizer, book)
    made: list[tuple[str, tuple[str, ...], bool]] = []
    uses = tried = 0
    for url, row in pages.items():
        done = rules.normalize(url)
        other = pages.get(done.canonical)
        if done.kind != "rewrite" or other is None or other is row or book.is_off(url, done.rules):
            continue
        uses += 1
        is_right = _kind(row, other) != "wrong"
        if not book.is_due(url, done.rules):
            made.append((url, done.rules, is_right))
            continue
        tried += 1
        book.begin(url, done.rules)
        if is_right:
            book.passed(url, done.rules)
        else:
            book.failed(url, done.canonical, done.rules)
        book.end(url, done.rules)
    book.decide()
    wrong = sum(
        not is_right and not book.is_off(url, rules) and set(normalizer.normalize(url).rules) == set(rules)
        for url, rules, is_right in made
    )
    for site in {site_of(url) for url in pages}:
        watched = {one.rule.id: one for one in book.watched(site, "software")}
        played.known[site] = tuple(
            watched[rule.id].update(rule, "", is_revoked=False) if rule.id in watched else rule
            for rule in normalizer.rules_of(site)
            if rule.id not in book.revoked(site, "software")
        )
    return uses, tried, wrong


if __name__ == "__main__":
    sys.exit(main())
