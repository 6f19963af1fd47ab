"""The detector: a page in, a verdict out. What the crawl and the command line both use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from dedupcrawl.content import evidence
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.probability import DOUBTED_PRECISION, TARGET_PRECISION, threshold
from dedupcrawl.content.symbols import SymbolText
from dedupcrawl.index.contract import Dependent, Entry, Index, Kept
from dedupcrawl.page import Page
from dedupcrawl.sites import site_of
from dedupcrawl.verdict import Verdict

_TITLE_LIMIT = 200  # characters kept of a title


class Analysis:
    """A page with its symbols and signatures, each made once and only when asked for.

    Attributes:
        page: The page.
        text: Its main text.
        kept_under: The URL under which the index keeps it, once a detector has judged it unique.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.kept_under: str | None = None
        self.text = SymbolText.of(page.paragraphs)
        self._signatures: dict[str, bytes | None] = {}

    def signature(self, check: Check) -> bytes | None:
        """The page's signature by `check`, None where it abstains."""
        if check.name not in self._signatures:
            self._signatures[check.name] = check.signature(self.page, self.text)
        return self._signatures[check.name]

    def signatures(self, checks: Sequence[Check]) -> dict[str, bytes]:
        """Check name → signature, without the checks that abstain."""
        made = ((check.name, self.signature(check)) for check in checks)
        return {name: signature for name, signature in made if signature is not None}


class Detector:
    """Judges pages against an index, for one run of one spider."""

    def __init__(self, index: Index, *, spider: str = "", run: str = "") -> None:
        self._index = index
        self._spider = spider
        self._run = run
        self._first_id_of_run = index.first_id_of_run(run)
        self._orphans = {orphan.url: orphan for orphan in index.orphans(spider)}

    def judge(
        self,
        analysis: Analysis,
        checks: Sequence[Check],
        *,
        scope: str = "run",
        canonical: str | None = None,
        target_precision: float = TARGET_PRECISION,
        request: Callable[[], bytes] | None = None,
    ) -> Verdict:
        """The verdict on a page, which is kept in the index when it is no duplicate.

        A page that is kept in doubt, being nearly sure enough a duplicate, has "in_doubt" in its evidence: `url`,
        `check` and `similarity` of the page that it resembles most, with the evidence on both. Such a verdict is
        recorded like one of duplicate.

        Args:
            analysis: The page.
            checks: The checks to use, with their thresholds, in order; a subset of the index's.
            scope: What to compare with: the pages of this "run", "spider" or "site", or "all".
            canonical: The page's canonical URL, where it is not its own.
            target_precision: Share of the drops that shall be right.
            request: Given where a duplicate is dropped: what to ask for, should what it duplicates never be stored.

        Raises:
            IndexDamagedError, OSError: when the index cannot be used; nothing was decided then.
        """
        page = analysis.page
        signatures = analysis.signatures(checks)
        if not signatures:
            return Verdict(page.url, "abstained", evidence={"symbols": len(analysis.text.symbols)})
        identity = self._identity(page.url, canonical)
        entry = Entry(
            url=identity,
            site=site_of(page.url),
            spider=self._spider,
            run=self._run,
            kept_at=time.time(),
            title=page.title[:_TITLE_LIMIT],
            signatures=signatures,
            outline=evidence.outline(analysis.text),
            fetched_url="" if identity == page.url else page.url,
        )
        by_name = {check.name: check for check in checks}
        least = threshold(target_precision)
        doubted = min(least, threshold(DOUBTED_PRECISION))
        compared: dict[str, evidence.Evidence | None] = {}
        keeper = ""
        doubt: tuple[float, dict[str, Any]] = (0.0, {})  # the most probable page that was not sure enough

        def judge(check: str, kept: Entry) -> Verdict | None:
            nonlocal keeper, doubt
            keeper = kept.url
            if check not in by_name or not _in_scope(kept, entry, scope):
                return None
            similarity = by_name[check].compare(entry.signatures[check], kept.signatures[check])
            if similarity is None:
                return None
            if check == "exact":
                return Verdict(page.url, "duplicate", kept.source, check, similarity)
            if kept.url not in compared:  # several checks bring up the same page
                compared[kept.url] = evidence.duplicates(entry.outline, kept.outline, doubted)
            found = compared[kept.url]
            if found is None:
                return None
            said = found.to_dict(analysis.text)
            if found.probability >= least:
                return Verdict(page.url, "duplicate", kept.source, check, similarity, said)
            if found.probability > doubt[0]:
                pair = {"url": kept.source, "check": check, "similarity": round(similarity, 4)}
                doubt = found.probability, pair | said
            return None

        def holds(check: str, kept: Entry) -> bool:
            if len(kept.outline) >= len(entry.outline) or not _in_scope(kept, entry, scope):
                return False  # only what is shorter lies inside
            return evidence.duplicates(kept.outline, entry.outline, least) is not None

        first_id = self._first_id_of_run if scope == "run" else 0
        packed = b""
        while True:
            answer = self._index.offer(entry, judge, first_id=first_id, holds=holds)
            if isinstance(answer, Kept):
                analysis.kept_under = identity
                break
            packed = packed or (request() if request else b"")
            if not packed or self._index.depend(keeper, Dependent(self._spider, page.url, packed)):
                self._index.record(answer, run=self._run, site=entry.site)
                break
        if orphan := self._orphans.pop(page.url, None):
            self._index.adopt(orphan, analysis.kept_under)
        if isinstance(answer, Verdict):
            return answer
        details: dict[str, Any] = {"supersedes": list(answer.supersedes)} if answer.supersedes else {}
        if not doubt[1]:
            return Verdict(page.url, "unique", evidence=details)
        verdict = Verdict(page.url, "unique", evidence=details | {"in_doubt": doubt[1]})
        self._index.record(verdict, run=self._run, site=entry.site)
        return verdict

    def _identity(self, url: str, canonical: str | None) -> str:
        """The URL to keep the page under.

        The canonical URL again is an update of the same page. But two variants of one URL in one run are two fetches
        that a rule should have saved: they are compared like any other two pages.
        """
        if canonical is None or canonical == url:
            return url
        earlier = self._index.entry(canonical)
        return url if earlier is not None and earlier.run == self._run else canonical


def _in_scope(kept: Entry, new: Entry, scope: str) -> bool:
    if scope == "run":
        return kept.run == new.run
    if scope == "spider":
        return kept.spider == new.spider
    return scope == "all" or kept.site == new.site
