"""SiteSoftware: what is known of a site's software, as an index keeps it between crawls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from dedupcrawl.software.recognition import Installation
from dedupcrawl.urls.watched_rule import TrialRecord

NAME = "software"
"""Of the state of a site in an index."""


@dataclass(slots=True)
class SiteSoftware:
    """What crawls have found out about the software of one site.

    Attributes:
        installations: What was recognized, by which signs.
        tried: Id of a rule → what trials have shown.
        failed: Id of a rule that trials refuted → why; it is not tried again.
    """

    installations: list[Installation] = field(default_factory=list)
    tried: dict[str, TrialRecord] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

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

    def joined(self, other: SiteSoftware) -> SiteSoftware:
        """What both know; of what differs the other's."""
        places = {(one.program, one.where): one for one in (*self.installations, *other.installations)}
        return SiteSoftware(list(places.values()), self.tried | other.tried, self.failed | other.failed)


def _is_of(rule: str, program: str, end: str) -> bool:
    return rule.startswith(f"{program}.") and rule.endswith(end)
