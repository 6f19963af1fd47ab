"""What the crawl saved, in requests, bytes and time, as far as index and log can tell."""

from __future__ import annotations

from dataclasses import dataclass

from dedupcrawl.report.collect import Report


@dataclass(frozen=True, slots=True)
class Savings:
    """Figures for the top of the page; None is what is not known.

    Attributes:
        kept: Pages that are kept.
        share: Duplicates among the pages that were compared, in [0, 1].
        duplicate_bytes: Bytes of pages that need not be stored again.
        byte_share: Their share in all bytes fetched, in [0, 1].
        fetched: Responses.
        seconds: That the crawl took.
        wasted_seconds: That fetching the duplicates took, at the crawl's own rate: what rules can still save.
    """

    kept: int
    share: float
    duplicate_bytes: int | None
    byte_share: float | None
    fetched: int | None
    seconds: float | None
    wasted_seconds: float | None

    @classmethod
    def of(cls, report: Report) -> Savings:
        """The savings of a report."""
        kept, duplicates, crawled = int(report.index["pages"]), report.verdicts.duplicates, report.crawled
        share = duplicates / (kept + duplicates) if duplicates else 0.0
        if crawled is None:
            return cls(kept, share, None, None, None, None, None)
        again = int(crawled.duplicate.sum())
        return cls(
            kept,
            share,
            crawled.duplicate_bytes,
            crawled.duplicate_bytes / crawled.bytes if crawled.bytes else 0.0,
            crawled.responses,
            crawled.seconds,
            crawled.seconds * again / crawled.responses if crawled.responses else 0.0,
        )


def durations(seconds: float) -> str:
    """A time for people.

    >>> durations(0.84), durations(75), durations(9_000)
    ('0.8 s', '1.2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3_600 else f"{seconds / 3_600:.1f} h"
