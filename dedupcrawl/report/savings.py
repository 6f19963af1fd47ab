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
        byte_share: Share of the duplicates' bytes in all bytes fetched, in [0, 1].
        saved_bytes: Of the fetches that rules saved, at the mean length of a page.
        saved_seconds: What they would have taken, at the crawl's own rate.
        wasted_seconds: What fetching the duplicates took: rules can still save that.
    """

    kept: int
    share: float
    byte_share: float | None = None
    saved_bytes: int | None = None
    saved_seconds: float | None = None
    wasted_seconds: float | None = None

    @classmethod
    def of(cls, report: Report) -> Savings:
        """The savings of a report."""
        kept, duplicates, crawled = report.kept, report.verdicts.duplicates, report.crawled
        share = duplicates / (kept + duplicates) if duplicates else 0.0
        if crawled is None:
            return cls(kept, share)
        saved, again = report.saved, int(crawled.duplicate.sum())
        a_response = crawled.seconds / max(1, crawled.responses)
        return cls(
            kept,
            share,
            byte_share=crawled.duplicate_bytes / max(1, crawled.bytes),
            saved_bytes=saved * crawled.bytes // max(1, crawled.pages),
            saved_seconds=saved * a_response,
            wasted_seconds=again * a_response,
        )


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.84), duration(75), duration(9_000)
    ('0.8 s', '1.2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3_600 else f"{seconds / 3_600:.1f} h"
