"""Monitors for Spidermon: whether what dedupcrawl did in a crawl is what one expects. `docs/howto/spidermon.md`.

Each compares figures among the crawl's stats with a limit, which a setting can change. They read nothing else, so that
they work wherever Spidermon gets the stats from.
"""

from __future__ import annotations

from typing import ClassVar

from spidermon import MonitorSuite, monitors  # type: ignore[import-untyped]  # it has no types
from spidermon.contrib.scrapy.monitors.base import BaseScrapyMonitor  # type: ignore[import-untyped]  # it has no types

from dedupcrawl.aliases.sources import SOURCES

_CHECKED = "dedup/content/checked"


class _FiguresMonitor(BaseScrapyMonitor):  # type: ignore[misc]  # it has no types
    """The sum of some stats, or their share of another one, against a limit.

    Attributes:
        counted: Stats that are added up; one that is absent is 0.
        share_of: Stats whose sum the other is divided by; none: that itself counts.
        setting: Changes the limit.
        limit: The largest value that is no alarm.
    """

    counted: ClassVar[tuple[str, ...]]
    share_of: ClassVar[tuple[str, ...]] = ()
    setting: ClassVar[str]
    limit: ClassVar[float] = 0

    def figure(self) -> float:
        """What is compared with the limit; a share of nothing is 0."""
        total, whole = (
            float(sum(self.stats.get(name, 0) for name in names)) for names in (self.counted, self.share_of)
        )
        return total / max(1, whole) if self.share_of else total

    def allowed(self) -> float:
        """The limit."""
        return float(self.crawler.settings.getfloat(self.setting, self.limit))

    def test_figures(self) -> None:
        """Called by Spidermon."""
        figure, allowed = self.figure(), self.allowed()
        counted, whole = (
            " + ".join([name for name in names if name in self.stats] or names)
            for names in (self.counted, self.share_of)
        )
        what = counted + (f" are this share of {whole}" if whole else "")
        if figure > allowed:
            self.fail(f"{what}: {figure:g}. {self.setting} allows {allowed:g}.")


@monitors.name("Pages are checked")
class CheckedMonitor(_FiguresMonitor):
    """Fails when too few pages had a verdict: the add-on is off, every check is, or no page had text."""

    counted = (_CHECKED,)
    setting = "SPIDERMON_DEDUP_MIN_CHECKED"
    limit = 1

    def test_figures(self) -> None:
        """Called by Spidermon."""
        if self.figure() < self.allowed():
            self.fail(f"{_CHECKED}: {self.figure():g}. {self.setting} asks for {self.allowed():g}.")


@monitors.name("Share of duplicates")
class DuplicatesMonitor(_FiguresMonitor):
    """Fails when more than half of the pages are duplicates: a site that answers every URL with a login, or a trap."""

    counted = ("dedup/content/duplicate",)
    share_of = (_CHECKED,)
    setting = "SPIDERMON_DEDUP_MAX_DUPLICATES"
    limit = 0.5


@monitors.name("Share of pages in doubt")
class InDoubtMonitor(_FiguresMonitor):
    """Fails when many pages nearly were duplicates: look at them, and think about `DEDUP_TARGET_PRECISION`."""

    counted = ("dedup/content/in_doubt",)
    share_of = (_CHECKED,)
    setting = "SPIDERMON_DEDUP_MAX_IN_DOUBT"
    limit = 0.05


@monitors.name("Revoked rules")
class RevokedRulesMonitor(_FiguresMonitor):
    """Fails when a rule was found wrong. Nothing is lost: what it had rewritten was fetched; but learn again."""

    counted = ("dedup/url/revoked",)
    setting = "SPIDERMON_DEDUP_MAX_REVOKED"


@monitors.name("Rewritten URLs that fell back")
class FallbackMonitor(_FiguresMonitor):
    """Fails when many canonical URLs led nowhere: the site has changed since its rules were learned."""

    counted = ("dedup/url/fallback",)
    share_of = ("dedup/url/rewritten",)
    setting = "SPIDERMON_DEDUP_MAX_FALLBACK"
    limit = 0.1


@monitors.name("Aliases that failed")
class AliasesMonitor(_FiguresMonitor):
    """Fails when most of what pages say of URLs was wrong where it was tried: name the sources that hold."""

    counted = tuple(f"dedup/aliases/failed/{source}" for source in SOURCES)
    share_of = (*counted, *(f"dedup/aliases/held/{source}" for source in SOURCES))
    setting = "SPIDERMON_DEDUP_MAX_FAILED_ALIASES"
    limit = 0.5

    def figure(self) -> float:
        """The share that failed, as if one more had held (Laplace's rule): a single trial is no alarm."""
        failed, tried = (sum(self.stats.get(name, 0) for name in names) for names in (self.counted, self.share_of))
        return float(failed / (tried + 1))


@monitors.name("Outages of the index")
class IndexMonitor(_FiguresMonitor):
    """Fails when the index could not be used for a while, so that pages went on unchecked or were checked late."""

    counted = ("dedup/index/errors", "dedup/index/outages")
    setting = "SPIDERMON_DEDUP_MAX_INDEX_FAILURES"


@monitors.name("Items that were not stored")
class StoringMonitor(_FiguresMonitor):
    """Fails when pages that were kept lost their items later: a pipeline that drops much, a feed that fails."""

    counted = ("dedup/content/abandoned",)
    share_of = (_CHECKED,)
    setting = "SPIDERMON_DEDUP_MAX_ABANDONED"
    limit = 0.05


@monitors.name("Errors of the content half")
class ContentErrorsMonitor(_FiguresMonitor):
    """Fails when items went on unjudged because of an error, or texts could not be kept."""

    counted = ("dedup/content/errors", "dedup/content/not_kept")
    setting = "SPIDERMON_DEDUP_MAX_ERRORS"


class DedupMonitorSuite(MonitorSuite):  # type: ignore[misc]  # it has no types
    """All of them. For actions of your own, such as a message when one fails, subclass it."""

    monitors: ClassVar[list[type[_FiguresMonitor]]] = [
        CheckedMonitor,
        DuplicatesMonitor,
        InDoubtMonitor,
        RevokedRulesMonitor,
        FallbackMonitor,
        AliasesMonitor,
        IndexMonitor,
        StoringMonitor,
        ContentErrorsMonitor,
    ]
