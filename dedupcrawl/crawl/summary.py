"""The lines that a crawl logs: what is on, what it saved, and what to do where that is little."""

from __future__ import annotations

from scrapy.statscollectors import StatsCollector

from dedupcrawl.counts import counted, megabytes
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.normalizer import Normalizer

_WORTHWHILE = 0.01  # share of the fetches; set by hand: three saved of a thousand cost 73 % more CPU


def opening_line(settings: DedupSettings, normalizer: Normalizer, index: str) -> str:
    """What is on, for which sites, and where the `index` is."""
    urls = f"URLs {settings.url_mode}"
    if settings.url_mode != "off":
        urls += f" (rules for {counted(normalizer.site_count, 'site')})"
    content = "content off (no check)"
    if settings.checks:
        content = f"content {settings.action} by {', '.join(settings.checks)}, scope {settings.scope}"
        content += f", index {index}"
    sites = ", ".join(sorted(settings.sites))
    return f"dedupcrawl: {urls}; {content}" + (f"; own settings for {sites}" if sites else "")


def closing_line(stats: StatsCollector) -> str:
    """What the crawl saved, and by what."""
    prefix = "dedup/content/dropped/"
    dropped = {name.removeprefix(prefix): n for name, n in stats.get_stats().items() if name.startswith(prefix)}
    by_check = ", ".join(f"{name} {count}" for name, count in sorted(dropped.items()))

    def count(name: str, noun: str) -> str:
        return counted(stats.get_value(f"dedup/{name}", 0), noun)

    return (
        f"dedupcrawl: {count('url/saved', 'fetch')} saved by {count('url/rewritten', 'rewritten request')}"
        f" ({stats.get_value('dedup/url/fallback', 0):,} fell back, {stats.get_value('dedup/url/tried', 0):,} tried, "
        f"{counted(stats.get_value('dedup/url/revoked', 0), 'rule')} revoked); "
        f"{count('content/checked', 'page')} checked, {count('content/duplicate', 'duplicate')}"
        f" of {megabytes(stats.get_value('dedup/content/duplicate_bytes', 0))}"
        + (f", items dropped: {by_check}" if by_check else "")
    )


def advice_line(stats: StatsCollector) -> str | None:
    """What to do where rules cost more than they have saved; None where they were not used, or have saved something."""
    rewritten, saved = stats.get_value("dedup/url/rewritten", 0), stats.get_value("dedup/url/saved", 0)
    fetched = stats.get_value("downloader/response_count", 0)
    if not rewritten or saved >= _WORTHWHILE * fetched:
        return None
    return (
        f"dedupcrawl: rules have saved {saved:,} of {counted(fetched, 'fetch')} here, less than their trials and "
        "look-ups cost in CPU. Where that stays so, DEDUP_URL_MODE = 'off' is cheaper, for all sites or, "
        "in DEDUP_SITES, for one."
    )
