"""Monitors for Spidermon: whether deduplication went wrong in a crawl. docs/tools.md shows them.

They read nothing but the crawl's stats, so they work wherever Spidermon gets these from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spidermon import MonitorSuite, monitors  # type: ignore[import-untyped]  # it has no types
from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor  # type: ignore[import-untyped]  # it has no types

from dedupcrawl.aliases.sources import SOURCES

_CHECKED = ["dedup/content/checked"]
_FAILED, _HELD = ([f"dedup/aliases/{how}/{source}" for source in SOURCES] for how in ("failed", "held"))


class FiguresMonitor(BaseScrapyMonitor):  # type: ignore[misc]  # it has no types
    """The sum of some stats, or their share of others, against a limit.

    Attributes:
        counted: Stats that are added up; an absent one is 0.
        share_of: Stats by whose sum `counted` is divided; empty: `counted` itself is compared. A share of 0 is 0.
        more: Added to that sum, so that a single failed trial is no alarm (Laplace's rule).
        whole: What `share_of` stands for, in words; empty: the names of its stats.
        setting: Scrapy setting that changes the limit.
        limit: The largest value that is no alarm; the smallest, if `is_least`.
    """

    counted: ClassVar[Sequence[str]]
    share_of: ClassVar[Sequence[str]] = ()
    more: ClassVar[int] = 0
    whole: ClassVar[str] = ""
    setting: ClassVar[str]
    limit: ClassVar[float] = 0
    is_least: ClassVar[bool] = False

    def test_figures(self) -> None:
        total, whole = (sum(self.stats.get(name, 0) for name in names) for names in (self.counted, self.share_of))
        figure = total / max(1, whole + self.more) if self.share_of else total
        allowed = self.crawler.settings.getfloat(self.setting, self.limit)
        what, of = (
            " + ".join([name for name in names if name in self.stats] or names)
            for names in (self.counted, self.share_of)
        )
        message = f"{what}{f' are this share of {self.whole or of}' if of else ''}: {figure:g}. {self.setting}"
        if self.is_least and figure < allowed:
            self.fail(f"{message} asks for {allowed:g}.")
        if not self.is_least and figure > allowed:
            self.fail(f"{message} allows {allowed:g}.")


def _monitor(name: str, setting: str, counted: Sequence[str], **others: Any) -> type[FiguresMonitor]:
    attributes: Mapping[str, Any] = {"counted": counted, "setting": f"SPIDERMON_DEDUP_{setting}", **others}
    made: type[FiguresMonitor] = monitors.name(name)(
        type("".join(name.title().split()), (FiguresMonitor,), dict(attributes))
    )
    return made


class DedupMonitorSuite(MonitorSuite):  # type: ignore[misc]  # it has no types
    """All monitors of this module. For actions of your own, such as a message when one fails, subclass it."""

    monitors: ClassVar[list[type[FiguresMonitor]]] = [
        _monitor("Pages are checked", "MIN_CHECKED", _CHECKED, limit=1, is_least=True),
        _monitor("Share of duplicates", "MAX_DUPLICATES", ["dedup/content/duplicate"], share_of=_CHECKED, limit=0.5),
        _monitor("Share of pages in doubt", "MAX_IN_DOUBT", ["dedup/content/in_doubt"], share_of=_CHECKED, limit=0.05),
        _monitor("Revoked rules", "MAX_REVOKED", ["dedup/url/revoked"]),
        _monitor(
            *("Rewritten URLs that fell back", "MAX_FALLBACK", ["dedup/url/fallback"]),
            share_of=["dedup/url/rewritten"],
            limit=0.1,
        ),
        _monitor(
            *("Aliases that failed", "MAX_FAILED_ALIASES", _FAILED),
            share_of=[*_FAILED, *_HELD],
            more=1,
            whole="the trials of what pages say, and one more that held",
            limit=0.5,
        ),
        _monitor("Outages of the index", "MAX_INDEX_FAILURES", ["dedup/index/errors", "dedup/index/outages"]),
        _monitor(
            *("Items that were not stored", "MAX_ABANDONED", ["dedup/content/abandoned"]), share_of=_CHECKED, limit=0.05
        ),
        _monitor("Errors of the content half", "MAX_ERRORS", ["dedup/content/errors", "dedup/content/not_kept"]),
    ]
