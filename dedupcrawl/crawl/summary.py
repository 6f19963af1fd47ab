"""The two lines that a crawl logs: what is on, and what it saved."""

from __future__ import annotations

from scrapy.statscollectors import StatsCollector

from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer


def opening_line(settings: DedupSettings, normalizer: Normalizer) -> str:
    """What is on, and for which sites."""
    sites = ", ".join(sorted(settings.sites))
    own = f"; own settings for {sites}" if sites else ""
    return (
        f"dedupcrawl: URLs {settings.url_mode} (rules for {normalizer.site_count} sites); "
        f"content {settings.action} by {', '.join(settings.checks) or 'no check'}, scope {settings.scope}, "
        f"index {settings.index}{own}"
    )


def closing_line(stats: StatsCollector) -> str:
    """What the crawl saved, and by what."""
    prefix = "dedup/content/dropped/"
    dropped = {name.removeprefix(prefix): n for name, n in stats.get_stats().items() if name.startswith(prefix)}
    by_check = ", ".join(f"{name} {count}" for name, count in sorted(dropped.items()))
    saved = stats.get_value("dedup/url/saved", 0)
    return (
        f"dedupcrawl: {saved} fetches saved by {stats.get_value('dedup/url/rewritten', 0)} rewritten URLs"
        f" ({stats.get_value('dedup/url/fallback', 0)} went back); "
        f"{stats.get_value('dedup/content/checked', 0)} pages checked, "
        f"{stats.get_value('dedup/content/duplicate', 0)} duplicates"
        f" of {megabytes(stats.get_value('dedup/content/duplicate_bytes', 0))}"
        + (f", items dropped: {by_check}" if by_check else "")
    )


def megabytes(count: int) -> str:
    """A number of bytes for people.

    >>> megabytes(1_234_567)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"
