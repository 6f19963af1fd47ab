"""Installations: programs that were recognized somewhere, or would have been if nothing spoke against them.

Also what an index keeps of a site's installations between crawls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.software.program import BASE, Program, rules_at, title_of
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import canonical_url
from dedupcrawl.urls.watched_rule import SiteTrials

# Places in the URLs of fifteen mirrors and of two crawls, by weight: 21 and 31 with 2, 17 and 22 with 3, 10 and 12 with
# 4. Two of the four more of the mirrors are wrong (MoinMoin in a Trac, phpBB 3 where phpBB 2 is), none that 4 loses is:
# a Trac, a phpBB 2, WordPress four times, WooCommerce. Of three signs it would be 13 and 22, of one the same as of two,
# for no sign of the package's programs weighs more than 2.
ENOUGH = 3
"""Total weight of the signs of a program that is recognized."""

MOST_OF_A_SITE = 100
"""Programs in places: a service may have a host for each of a million users."""

FEWEST = 2
"""Different signs that speak for it."""


class Installation(msgspec.Struct, frozen=True):
    """What was seen of a program in one place."""

    program: str
    where: str  # host and path
    signs: Mapping[str, int]  # what was seen → its weight
    anchors: Mapping[str, str]  # its paths
    hosts: tuple[str, ...]  # the spellings of the host, with www. and port

    @property
    def weight(self) -> int:
        """Of all signs together."""
        return sum(self.signs.values())

    @property
    def is_recognized(self) -> bool:
        """Whether the program's rules are used there."""
        return self.weight >= ENOUGH and len(self._for_it) >= FEWEST

    @property
    def is_outweighed(self) -> bool:
        """Whether it would be recognized if nothing spoke against it."""
        return sum(self._for_it) >= ENOUGH and len(self._for_it) >= FEWEST and not self.is_recognized

    @property
    def _for_it(self) -> list[int]:
        return [weight for weight in self.signs.values() if weight > 0]

    @property
    def is_spoken_against(self) -> bool:
        """Whether a sign was seen that the program does not have."""
        return any(weight < 0 for weight in self.signs.values())

    def joined(self, other: Installation) -> Installation:
        """What was seen of it there and in another crawl, or by another worker."""
        signs, anchors = {**self.signs, **other.signs}, {**self.anchors, **other.anchors}
        return replace(self, signs=signs, anchors=anchors, hosts=tuple(sorted({*self.hosts, *other.hosts})))

    def judged_by(self, weights: Mapping[str, int]) -> Installation:
        """By the signs that the program has now: its file may be another than when they were seen."""
        return replace(self, signs={text: weights[text] for text in self.signs if text in weights})

    def rules(self, known: Mapping[str, Program], others: Sequence[str] = ()) -> tuple[Rule, ...]:
        """What follows; nothing of a program that is not known (any more).

        `others` are the paths below its own that are another's, see `with_parts_of_others`.
        """
        program = known.get(self.program)
        return () if program is None else tuple(rules_at(program, self.anchors, self.hosts, self.where, others))

    def contains(self, url: str) -> bool:
        """Whether a URL is below one of its paths."""
        written, parts = split_url(url), split_url(canonical_url(url))
        if written is None or parts is None or written.authority.lower() not in self.hosts:
            return False
        path = "".join(f"/{segment}" for segment in parts.segments) or "/"
        return any(path.startswith(f"{anchor}/") for anchor in self.anchors.values())


def with_parts_of_others(there: Iterable[Installation]) -> list[tuple[Installation, tuple[str, ...]]]:
    """Each program of a site, and the paths below its own that are another's: its rules are not for them."""
    those = list(there)
    found = []
    for one in those:
        below = one.anchors[BASE] + "/" if BASE in one.anchors else None
        inner = (other for other in those if other.where != one.where and not {*one.hosts}.isdisjoint(other.hosts))
        paths = {path for other in inner for path in other.anchors.values() if below and path.startswith(below)}
        found.append((one, tuple(sorted(paths))))
    return found


def distinct(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Of rules that do the same the first, or the first that is not doubted."""
    found: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        if found.setdefault(rule.effect, rule).is_off and not rule.is_off:
            found[rule.effect] = rule
    return tuple(found.values())


NAME = "software"
"""Of the state of a site in an index."""


class SiteSoftware(SiteTrials, frozen=True):
    """What crawls have found out about the software of one site and the spelling of its URLs, and their rules.

    Attributes:
        seen: What was recognized or spoken against, by which signs.
        likely: Ids of the rules for which pairs of its URLs speak (`urls.learning.likely`).
    """

    seen: tuple[Installation, ...] = ()
    likely: frozenset[str] = frozenset()

    @property
    def installations(self) -> list[Installation]:
        """What is recognized."""
        return [one for one in self.seen if one.is_recognized]

    def told(self, url: str | None = None) -> list[dict[str, Any]]:
        """Each program that is recognized or outweighed: where, by which signs, and what became of its rules.

        As JSON values; `in_words` says them. With a URL only those below whose paths it lies: a site may have many.
        """
        rows = []
        for one in sorted(self.seen, key=lambda one: (one.where, one.program)):
            if not (one.is_recognized or one.is_outweighed) or (url is not None and not one.contains(url)):
                continue
            end = f"@{one.where}"
            tried = {name: record for name, record in self.tried.items() if _is_of(name, one.program, end)}
            rows.append(
                {
                    "program": one.program,
                    "where": one.where,
                    "recognized": one.is_recognized,
                    "signs": dict(one.signs),
                    "weight": one.weight,
                    "tried": {name: [record.tried, record.failed] for name, record in tried.items()},
                    "failed": {name: why for name, why in self.failed.items() if _is_of(name, one.program, end)},
                }
            )
        return rows

    def joined(self, news: SiteSoftware) -> SiteSoftware:
        """What is known when another process, or another crawl, has found out `news`.

        The signs of all are combined: a sign against a program that one has seen counts for all. Trials are added up.
        """
        places: dict[tuple[str, str], Installation] = {}
        for one in (*self.seen, *news.seen):
            key = one.program, one.where
            places[key] = places[key].joined(one) if key in places else one
        ranked = sorted(places.values(), key=lambda one: not one.is_recognized)
        likely = self.likely | news.likely
        return replace(SiteTrials.joined(self, news), seen=tuple(ranked[:MOST_OF_A_SITE]), likely=likely)


def in_words(row: Mapping[str, Any]) -> str:
    """What `SiteSoftware.told` says of a program, but for its rules, in one sentence."""
    runs = "runs" if row["recognized"] else "does not run"
    heaviest_first = sorted(row["signs"].items(), key=lambda sign: -abs(sign[1]))
    signs = ", ".join(f"{text} ({weight:+d})" for text, weight in heaviest_first)
    total = f"total weight {row['weight']} (needed: {ENOUGH}, of {FEWEST} signs or more)"
    return f"{row['where']} {runs} {title_of(row['program'])}: {signs}; {total}"


def _is_of(rule: str, program: str, end: str) -> bool:
    return rule.startswith(f"{program}.") and rule.endswith(end)
