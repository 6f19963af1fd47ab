"""Which page stands at the end where larger pages have come, one after the other, that hold the ones before."""

from __future__ import annotations

from dedupcrawl.index.contract import Index

_LONGEST = 100  # pages in a row


def standing_for(index: Index, url: str) -> str | None:
    """URL of the page at the end of those that supersede each other, from the one kept under `url` on.

    Args:
        index: Where they are kept.
        url: A page's own; one that is kept under another URL is found where the index knows that it was rewritten.

    Returns:
        None where no page supersedes it.
    """
    rewrite = index.rewrite(url) if index.entry(url) is None else None
    passed = [rewrite.canonical if rewrite is not None else url]
    while len(passed) <= _LONGEST:
        larger = index.superseded_by(passed[-1])
        if larger is None or larger in passed:
            break
        passed.append(larger)
    last = index.entry(passed[-1]) if len(passed) > 1 else None
    return last.source if last is not None else None
