"""Installation: a program that was recognized somewhere, or would have been if nothing spoke against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dedupcrawl.software.anchors import BASE
from dedupcrawl.software.program import Program, rules_at
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.url_parts import split_url

ENOUGH = 3
"""Total weight of the signs of a program that is recognized."""

MOST_OF_A_SITE = 100
"""Programs in places: a service may have a host for each of a million users."""

_FEWEST = 2  # different signs that speak for it


@dataclass(frozen=True, slots=True)
class Installation:
    """What was seen of a program in one place.

    Attributes:
        program: Its name.
        where: Host and path.
        signs: What was seen → its weight.
        anchors: Its paths.
        hosts: The spellings of the host, with www. and port.
    """

    program: str
    where: str
    signs: Mapping[str, int]
    anchors: Mapping[str, str]
    hosts: tuple[str, ...]

    @property
    def weight(self) -> int:
        """Of all signs together."""
        return sum(self.signs.values())

    @property
    def is_recognized(self) -> bool:
        """Whether the program's rules are used there."""
        return self.weight >= ENOUGH and sum(weight > 0 for weight in self.signs.values()) >= _FEWEST

    @property
    def is_spoken_against(self) -> bool:
        """Whether a sign was seen that the program does not have."""
        return any(weight < 0 for weight in self.signs.values())

    def joined(self, other: Installation) -> Installation:
        """What was seen of it there and in another crawl, or by another worker."""
        hosts = tuple(sorted({*self.hosts, *other.hosts}))
        anchors = {**self.anchors, **other.anchors}
        return Installation(self.program, self.where, {**self.signs, **other.signs}, anchors, hosts)

    def judged_by(self, program: Program) -> Installation:
        """By the signs that the program has now: its file may be another than when they were seen."""
        weights = {str(sign): sign.weight for sign in program.signs}
        signs = {text: weights[text] for text in self.signs if text in weights}
        return Installation(self.program, self.where, signs, self.anchors, self.hosts)

    def rules(self, known: Mapping[str, Program], others: Sequence[str] = ()) -> tuple[Rule, ...]:
        """What follows; nothing of a program that is not known (any more).

        Args:
            known: The programs.
            others: The paths below its own that are another's, see `parts_of_others`.
        """
        program = known.get(self.program)
        return () if program is None else tuple(rules_at(program, self.anchors, self.hosts, self.where, others))

    def holds(self, url: str) -> bool:
        """Whether a URL lies below one of its paths."""
        parts = split_url(url)
        if parts is None or parts.authority.lower() not in self.hosts:
            return False
        path = "".join(f"/{segment}" for segment in parts.segments) or "/"
        return any(path.startswith(f"{anchor}/") for anchor in self.anchors.values())


def with_parts_of_others(there: Iterable[Installation]) -> list[tuple[Installation, tuple[str, ...]]]:
    """Each program of a site, and the paths below its own that are another's: its rules are not for them."""
    those = list(there)
    on_host: dict[str, list[Installation]] = {}
    for one in those:
        for host in one.hosts:
            on_host.setdefault(host, []).append(one)
    found = []
    for one in those:
        below = one.anchors[BASE] + "/" if BASE in one.anchors else None
        inner = (other for host in one.hosts for other in on_host[host] if other.where != one.where)
        paths = {path for other in inner for path in other.anchors.values() if below and path.startswith(below)}
        found.append((one, tuple(sorted(paths))))
    return found


def distinct(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Of rules that do the same the first."""
    found: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        found.setdefault(rule.effect, rule)
    return tuple(found.values())
