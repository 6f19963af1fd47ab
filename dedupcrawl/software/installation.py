"""Installations: programs recognized at some path of a host, or outweighed there by signs against them.

The module also defines what an index keeps about a site's installations between crawls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.sites import owner_of
from dedupcrawl.software.program import BASE, Program, rules_at, title_of
from dedupcrawl.urls.credits import Credits, State
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import canonical_url

# Installations recognized in the URLs of fifteen mirrors and of two crawls: 21 and 31 if a weight of 2 is enough, 17
# and 22 with 3, 10 and 12 with 4. Of the four that 2 adds on the mirrors, two are wrong (MoinMoin in a Trac, phpBB 3
# instead of phpBB 2); those that 4 loses are all right: a Trac, a phpBB 2, WordPress four times, WooCommerce. If three
# signs were needed, it would be 13 and 22; if one, the same as with two, for no sign of the package's programs weighs
# more than 2.
ENOUGH = 3
"""Total weight of signs from which a program is recognized."""

_LIKELY = ENOUGH - 1
# Places. A university's crawl, seed 0: recall .617, not .507, of 17 merges more none wrong; another one, seeds 0 to 2:
# .8224, .8000, .8310, not .8224, .7906, .8296. With 2 and with 5 places the same; with a weight of 1 one merge wrong.
_SEVERAL = 3

MOST_OF_A_SITE = 100
"""Most installations of a site: a service may have a host for each of a million users."""

FEWEST = 2
"""Number of different signs for a program that are needed to recognize it."""


class Installation(msgspec.Struct, frozen=True):
    """A program at one place, with the signs that were seen there."""

    program: str
    where: str  # host and path
    signs: Mapping[str, int]  # sign in words → its weight
    anchors: Mapping[str, str]  # name of an anchor → its path
    hosts: tuple[str, ...]  # the spellings of the host, such as with www. or a port

    @property
    def weight(self) -> int:
        return sum(self.signs.values())

    @property
    def is_recognized(self) -> bool:
        """Whether its own signs are enough for the program's rules to be used there."""
        return self.weight >= ENOUGH and len(self._for_it) >= FEWEST

    @property
    def is_likely(self) -> bool:
        """Whether the program is not recognized, but would be by a little more, and nothing speaks against it."""
        return not self.is_recognized and not self.is_spoken_against and self.weight >= _LIKELY

    @property
    def is_outweighed(self) -> bool:
        """Whether it would be recognized if there were no signs against it."""
        return sum(self._for_it) >= ENOUGH and len(self._for_it) >= FEWEST and not self.is_recognized

    @property
    def _for_it(self) -> list[int]:
        return [weight for weight in self.signs.values() if weight > 0]

    @property
    def is_spoken_against(self) -> bool:
        return any(weight < 0 for weight in self.signs.values())

    def joined(self, other: Installation) -> Installation:
        """Merge the signs that were seen here with those of another crawl or worker."""
        signs, anchors = {**self.signs, **other.signs}, {**self.anchors, **other.anchors}
        return replace(self, signs=signs, anchors=anchors, hosts=tuple(sorted({*self.hosts, *other.hosts})))

    def judged_by(self, weights: Mapping[str, int]) -> Installation:
        """Weigh the signs by the program's present file, which may have changed since they were seen."""
        return replace(self, signs={text: weights[text] for text in self.signs if text in weights})

    def rules(self, by_name: Mapping[str, Program], others: Sequence[str] = ()) -> tuple[Rule, ...]:
        """The program's rules for this place; none if the program is no longer known.

        `others` are the paths below its own that belong to other programs (see `with_parts_of_others`).
        """
        program = by_name.get(self.program)
        return () if program is None else tuple(rules_at(program, self.anchors, self.hosts, self.where, others))

    def contains(self, url: str) -> bool:
        written, parts = split_url(url), split_url(canonical_url(url))
        if written is None or parts is None or written.authority.lower() not in self.hosts:
            return False
        path = "".join(f"/{segment}" for segment in parts.segments) or "/"
        return any(path.startswith(f"{anchor}/") for anchor in self.anchors.values())


def recognized(seen: Iterable[Installation]) -> list[Installation]:
    """Those of the installations of a site whose rules are used, surest first.

    Where several places of the site run a program, fewer signs are enough at others.
    """
    sure, other = list[Installation](), list[Installation]()
    for one in seen:
        (sure if one.is_recognized else other).append(one)
    places = Counter(one.program for one in sure)
    likely = (one for one in other if places[one.program] >= _SEVERAL and one.is_likely)
    return [*sure, *likely][:MOST_OF_A_SITE]


def with_parts_of_others(there: Iterable[Installation]) -> list[tuple[Installation, tuple[str, ...]]]:
    """Each installation of a site, with the paths below its own that belong to others, where its rules don't hold."""
    those = list(there)
    parts = []
    for one in those:
        below = one.anchors[BASE] + "/" if BASE in one.anchors else None
        inner = (other for other in those if other.where != one.where and not {*one.hosts}.isdisjoint(other.hosts))
        paths = {path for other in inner for path in other.anchors.values() if below and path.startswith(below)}
        parts.append((one, tuple(sorted(paths))))
    return parts


def distinct(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules without those of equal effect: of these the first that is on stays, or else the first."""
    by_effect: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        if by_effect.setdefault(rule.effect, rule).is_off and not rule.is_off:
            by_effect[rule.effect] = rule
    return tuple(by_effect.values())


NAME = "software"
"""Name of this state of a site in an index."""


class SiteSoftware(State, frozen=True):
    """What crawls have found out about the software of one site, and the spelling of its URLs.

    Attributes:
        seen: The installations with enough signs for them, nearly enough, or any against them.
        likely: Ids of the rules that pairs of the site's URLs make likely (`urls.learning.likely`).
        equivalences: Ids of the rules that became equivalences, because what they make of URLs often has no page.
    """

    seen: tuple[Installation, ...] = ()
    likely: frozenset[str] = frozenset()
    equivalences: frozenset[str] = frozenset()

    @property
    def installations(self) -> list[Installation]:
        return recognized(self.seen)

    def told(self, credits_of: Callable[[str], Credits], url: str | None = None) -> list[dict[str, Any]]:
        """The recognized and outweighed programs with their places, signs and trials of rules, as JSON values.

        With a URL, only those whose paths contain it, because a site may have many, and the trials on its owner's
        pages; else those of the owner of each place. `in_words` describes a row.
        """
        rows, runs = [], {(one.program, one.where) for one in self.installations}
        for one in sorted(self.seen, key=lambda one: (one.where, one.program)):
            is_there = (one.program, one.where) in runs
            if not (is_there or one.is_outweighed) or (url is not None and not one.contains(url)):
                continue
            end, credit = f"@{one.where}", credits_of(owner_of(url or one.where))
            tried = {name: record for name, record in credit.of.items() if _is_of(name, one.program, end)}
            rows.append(
                {
                    "program": one.program,
                    "where": one.where,
                    "recognized": is_there,
                    "signs": dict(one.signs),
                    "weight": one.weight,
                    "tried": {name: [record.tried, record.failed] for name, record in tried.items()},
                    "failed": {name: why for name, why in credit.refuted.items() if _is_of(name, one.program, end)},
                }
            )
        return rows

    def joined(self, news: SiteSoftware) -> SiteSoftware:
        """Merge what another process or crawl has found out.

        Signs are united, so a sign against a program that one has seen counts for all.
        """
        places: dict[tuple[str, str], Installation] = {}
        for one in (*self.seen, *news.seen):
            key = one.program, one.where
            places[key] = places[key].joined(one) if key in places else one
        ranked = sorted(places.values(), key=lambda one: not one.is_recognized)
        likely = self.likely | news.likely
        equivalences = self.equivalences | news.equivalences
        return SiteSoftware(tuple(ranked[:MOST_OF_A_SITE]), likely, equivalences)


def in_words(row: Mapping[str, Any]) -> str:
    """Describe a row of `SiteSoftware.told`, without its rules, in one sentence."""
    runs = "runs" if row["recognized"] else "does not run"
    heaviest_first = sorted(row["signs"].items(), key=lambda sign: -abs(sign[1]))
    signs = ", ".join(f"{text} ({weight:+d})" for text, weight in heaviest_first)
    total = f"total weight {row['weight']} (needed: {ENOUGH}, of {FEWEST} signs or more)"
    return f"{row['where']} {runs} {title_of(row['program'])}: {signs}; {total}"


def _is_of(rule: str, program: str, end: str) -> bool:
    return rule.startswith(f"{program}.") and rule.endswith(end)
