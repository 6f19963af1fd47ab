"""SiteSoftware: what is known of a site's software, as an index keeps it between crawls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from dedupcrawl.software.installation import MOST_OF_A_SITE, Installation
from dedupcrawl.urls.watched_rule import TrialRecord

NAME = "software"
"""Of the state of a site in an index."""


@dataclass(frozen=True, slots=True)
class SiteSoftware:
    """What crawls have found out about the software of one site.

    Attributes:
        seen: What was recognized or spoken against, by which signs.
        tried: Id of a rule → what trials have shown.
        failed: Id of a rule that trials refuted → why; it is not tried again.
    """

    seen: tuple[Installation, ...] = ()
    tried: dict[str, TrialRecord] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def installations(self) -> list[Installation]:
        """What is recognized."""
        return [one for one in self.seen if one.is_recognized]

    def to_bytes(self) -> bytes:
        """As JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_bytes(cls, content: bytes | None) -> SiteSoftware:
        """Read what `to_bytes` wrote; nothing is known where that cannot be read."""
        try:
            return msgspec.json.decode(content, type=cls) if content else cls()
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return cls()

    def told(self) -> list[dict[str, Any]]:
        """For people: each program, where it is, by which signs, and what became of its rules, as JSON values."""
        rows = []
        for one in sorted(self.installations, key=lambda one: (one.where, one.program)):
            end = f"@{one.where}"
            tried = {name: record for name, record in self.tried.items() if _is_of(name, one.program, end)}
            rows.append(
                {
                    "program": one.program,
                    "where": one.where,
                    "signs": list(one.signs),
                    "weight": one.weight,
                    "tried": {name: [record.tried, record.failed] for name, record in tried.items()},
                    "failed": {name: why for name, why in self.failed.items() if _is_of(name, one.program, end)},
                }
            )
        return rows

    def joined(self, news: SiteSoftware) -> SiteSoftware:
        """What is known when another process, or another crawl, has found out `news`.

        Signs come together, whoever saw them: what one has seen speak against a program holds for all. Trials add up.
        """
        places: dict[tuple[str, str], Installation] = {}
        for one in (*self.seen, *news.seen):
            key = one.program, one.where
            places[key] = places[key].joined(one) if key in places else one
        ranked = sorted(places.values(), key=lambda one: not one.is_recognized)
        tried = self.tried | {name: self.tried.get(name, TrialRecord()).joined(new) for name, new in news.tried.items()}
        return SiteSoftware(tuple(ranked[:MOST_OF_A_SITE]), tried, self.failed | news.failed)


def _is_of(rule: str, program: str, end: str) -> bool:
    return rule.startswith(f"{program}.") and rule.endswith(end)
