"""The detector: a page in, a verdict out. Both the crawl and the command line use it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, starmap
from typing import Any

import msgspec

from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.model import Model, packaged
from dedupcrawl.core import main_outline
from dedupcrawl.core.comparison import Comparison
from dedupcrawl.core.hash_set import HashSet
from dedupcrawl.core.search import Search
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import TITLE
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.attachments import listing, packed_text
from dedupcrawl.detection.batch import Steps, judge_alone
from dedupcrawl.detection.comparison import Asked, Comparer, covered_by
from dedupcrawl.detection.provisional import MOST_PROVISIONAL, ProvisionalPage, ProvisionalPages
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.ledger import premise_of
from dedupcrawl.index.limits import SiteQuota
from dedupcrawl.index.mapped_files import ResidentLimit
from dedupcrawl.index.notes import attachment_cell
from dedupcrawl.index.record import Entry, Premise, Recorded, Skip
from dedupcrawl.index.runs import RunTally
from dedupcrawl.index.steps import Kept, Step
from dedupcrawl.index.tables import Cell
from dedupcrawl.page import Page
from dedupcrawl.sites import host_of, site_of
from dedupcrawl.verdict import Verdict


@dataclass(eq=False)
class Detector:
    """Judges pages against an index, for one run of one spider.

    Attributes:
        index: The index.
        spider: The spider's name.
        run: Identifies the crawl.
        trust: Says whose pages may replace those of others.
        memory: Megabytes above which this process releases the index files that it has mapped; None: no limit.
        model: Turns the differences of two pages into a probability.
        remembers_requests: Whether the index keeps the request of each kept page until the page is stored.
        tally: Counts what this process did for the run.
    """

    index: Index
    _: KW_ONLY
    spider: str = ""
    run: str = ""
    trust: Trust = EVERYBODY
    memory: int | None = None
    remembers_requests: bool = False
    model: Model = field(default_factory=packaged)

    def __post_init__(self) -> None:
        self._resident = ResidentLimit(None if self.memory is None else self.memory << 20)
        self._quota = SiteQuota(self.index)
        self._templates = SiteTemplates(self.index)
        self._comparer = Comparer(self.index, self._templates, self.model, self.trust)
        self._provisional = ProvisionalPages()
        self._first_id_of_run = self.index.first_id_of_run(self.run)
        self._due = {skip.url: skip for skip in self.index.due(self.spider)}
        self.tally = RunTally(self.index, self.run, self.spider)
        self._wrongly_dropped: list[Skip] = []
        self._duplicates = HashSet()  # URLs of the pages that are duplicates
        self._judged_again = deque[Verdict](maxlen=MOST_PROVISIONAL)

    def steps(self, analysis: Analysis, asked: Asked) -> Steps[Verdict]:
        """Judge a page step by step, for `judge_batch`, and keep it unless it is a duplicate.

        If the model is nearly sure of a duplicate, the page is kept "in doubt", and the index records that verdict,
        too. "in_doubt" in the evidence then holds `url`, `check` and `similarity` of the most probable keeper, and the
        evidence on the pair. A page whose verdict was withdrawn is never a duplicate. Once a site has used up its
        quota, pages not kept before are neither compared nor kept: "abstained", with "site_quota" in the evidence.

        Raises:
            IndexDamagedError, OSError: The index cannot be used; nothing was decided.
        """
        self._resident.look()
        page = analysis.page
        host, site = host_of(page.url), site_of(page.url)
        template = self._templates.of(host)
        self._judge_again(host, template)
        reading = Reading.of(analysis, template)
        signatures = reading.signatures(asked.checks)
        if not signatures:
            self.release(page.url, None)
            return Verdict(page.url, "abstained", evidence={"symbols": len(reading.analysis.text)})
        identity, quota = asked.canonical or page.url, asked.quota
        if quota is not None and self._quota.pages(site) >= quota and self.index.entry(identity) is None:
            self.release(page.url, None)
            return Verdict(page.url, "abstained", evidence={"site_quota": quota})
        entry = self._entry(identity, site, reading, signatures)
        entry, comparison, verdict, kept, keeper, packed = yield from self._kept_or_dropped(entry, reading, asked)
        is_new = kept is not None and not kept.replaces
        if kept is not None or (packed and verdict.evidence.get("probability", 1.0) < 1):
            if asked.is_same is not None or asked.request is not None:  # these may hold a whole response
                asked = msgspec.structs.replace(asked, is_same=None, request=None)
            stays = asked.force_keep or (kept is not None and kept.replaces)
            self._provisional.add(host, ProvisionalPage.of(page, entry, asked, reading, keeper, packed, stays))
        if kept is not None:
            analysis.kept = premise_of(entry)
            main_outline.remember(reading.analysis.main, reading.own.secret)
            self.tally.keep(superseded=len(kept.supersedes))
            if is_new:
                self._quota.add(site)
            else:
                self._unmark(page.url)
        self._learn(host, analysis, is_other=is_new and (comparison.is_unlike or not page.title))
        self.release(page.url, analysis.kept)
        return verdict

    def judge(self, analysis: Analysis, checks: Sequence[Check], **asked: Any) -> Verdict:
        """Judge one page by itself; the keyword arguments are those of `Asked`."""
        return judge_alone(self.index, self.steps(analysis, Asked(checks, **asked)))

    def _entry(self, identity: str, site: str, reading: Reading, signatures: dict[str, bytes]) -> Entry:
        page = reading.analysis.page
        return Entry(
            url=identity,
            site=site,
            spider=self.spider,
            run=self.run,
            kept_at=time.time(),
            title=page.title[:TITLE],
            headline=page.headline[:TITLE],
            signatures=signatures,
            outline=reading.analysis.outline,
            fetched_url="" if identity == page.url else page.url,
            asides=reading.view.kept_around,
        )

    def _kept_or_dropped(
        self, entry: Entry, reading: Reading, asked: Asked
    ) -> Generator[Step, Any, tuple[Entry, Comparison, Verdict, Kept | None, str, bytes]]:
        """Search, decide, and keep or drop the page; repeat if other processes changed what the decision rests on.

        The same canonical URL again is an update of the same page. But a run that fetches two variants of one canonical
        URL, or the URL and a variant, has made two fetches, one of which a rule should have saved: those are compared
        like any two pages.

        Returns:
            The entry as it was searched for, its comparison, the verdict, what was kept, and for a dropped page the
            URL under which its keeper is kept and the packed request that fetches it again.
        """
        comparison = self._comparer.compare(entry, reading, asked)
        packed = asked.request() if asked.request and self.remembers_requests else b""
        updates, first_id = (None, self._first_id_of_run) if asked.scope == "run" else (asked.is_same, 0)
        force_keep = asked.force_keep
        search: Search | None = None
        while True:
            search = self.index.search(entry, checks=asked.checks, first_id=first_id, after=search)
            earlier = search.kept() if entry.fetched_url else None
            if earlier is not None and earlier.run == self.run and earlier.source != entry.source:
                entry, search = msgspec.structs.replace(entry, url=entry.source, fetched_url=""), None
                comparison = self._comparer.compare(entry, reading, asked)
                continue
            match = None if force_keep else comparison.duplicate(search)
            if match is None:
                as_list = comparison.supersede(search)
                match = None if force_keep else as_list
            if match is None:
                itself = Skip(self.spider, entry.source, packed) if packed else None
                unique, cells = self._unique(reading, comparison, asked, search.superseded_urls)
                kept: Kept | None = yield Step(premise_of(entry), itself, search, cells)
                if kept is None:
                    continue
                if comparison.doubt:
                    self._count(unique)
                return entry, comparison, unique, kept, "", b""
            keeper, before, search = match.kept, search.kept(), None
            verdict = self._comparer.duplicate(match, comparison, reading, asked)
            before = before if before is not None and entry.updates(before) else None
            is_settled = self._is_settled(entry.source, verdict.duplicate_of, was_kept=before is not None)
            if is_settled or self._is_updated(entry, keeper, before, updates):
                force_keep = True
                continue
            packed = packed or (asked.request() if asked.request else b"")
            if packed:
                row = self.index.verdict_cell(self._recorded(verdict, packed))
                if not (yield Step(premise_of(keeper), Skip(self.spider, entry.source, packed), cells=(row,))):
                    continue
                self._count(verdict)
            else:
                self._record(verdict)
            return entry, comparison, verdict, None, keeper.url, packed

    def template_of(self, host: str) -> Template:
        """The template of a host as known so far; an empty one while the index cannot be used."""
        try:
            return self._templates.of(host)
        except (OSError, IndexDamagedError):
            return Template()

    def learn(self, analysis: Analysis) -> None:
        """Count a page in its site's template before it is judged."""
        self._learn(host_of(analysis.page.url), analysis)

    def _learn(self, host: str, analysis: Analysis, *, is_other: bool = False) -> None:
        """Count a page once, if its name is new to its host or it is known not to be a variant of another page."""
        name = analysis.page.name
        is_new = bool(name) and self._templates.of(host).is_new(name)
        if (is_new or is_other) and not analysis.is_counted:
            self._provisional.recur(host, self._templates.learn(host, analysis, name if is_new else ""))

    def _unique(
        self, reading: Reading, comparison: Comparison, asked: Asked, supersedes: tuple[str, ...]
    ) -> tuple[Verdict, tuple[Cell, ...]]:
        """The verdict on a page that is to be kept, and what is recorded with it: it, too, if it is in doubt."""
        url, lists, listed_by = reading.analysis.page.url, comparison.lists, comparison.listed_by
        details: dict[str, Any] = {}
        if supersedes:
            details["supersedes"] = list(supersedes)
        details |= covered_by(comparison)
        if listed_by:
            details["listed_by"] = listed_by
        if reading.template_blocks:
            details["template_blocks"] = reading.template_blocks
        if comparison.doubt:
            details["in_doubt"] = self._comparer.doubt(comparison.doubt, reading, asked)
        elif not (lists or listed_by):
            return Verdict(url, "unique", evidence=details), ()
        verdict = Verdict(url, "unique", evidence=details)
        pairs = [*((url, listed) for listed in lists), *((by, url) for by in listed_by)]
        cells = [attachment_cell(*row) for row in chain.from_iterable(starmap(listing, pairs))]
        cells += [self.index.verdict_cell(self._recorded(verdict))] if comparison.doubt else []
        return verdict, tuple(cells)

    @property
    def duplicates(self) -> int:
        """Number of pages whose latest verdict that this process recorded is duplicate."""
        return len(self._duplicates)

    def _record(self, verdict: Verdict) -> None:
        self._count(verdict)
        self.index.send([self.index.verdict_cell(self._recorded(verdict))])

    def _recorded(self, verdict: Verdict, request: bytes = b"") -> Recorded:
        return Recorded(verdict, self.run, site_of(verdict.url), self.spider, time.time(), request)

    def _count(self, verdict: Verdict) -> None:
        (self._duplicates.add if verdict.is_duplicate else self._duplicates.discard)(verdict.url)

    def _is_settled(self, url: str, keeper: str | None, *, was_kept: bool = True) -> bool:
        """Whether the page at `url` may not be dropped for this keeper.

        That is so if a verdict on either was withdrawn, or if the page was kept before and the keeper, although stored,
        was judged a duplicate of it.
        """
        if self.index.is_restored(url, *([] if keeper is None else [keeper])):
            return True
        earlier = self.index.verdict(keeper) if keeper is not None and was_kept else None
        return earlier is not None and earlier.duplicate_of == url and earlier.was_judged_again

    def _is_updated(
        self, entry: Entry, keeper: Entry, before: Entry | None, is_same: Callable[[str], bool] | None
    ) -> bool:
        """Whether a page updates a kept page instead of duplicating the keeper.

        If an earlier run kept the same page under another URL (the keeper), the index forgets that entry: no page is a
        duplicate of itself, even if the rules now map its URL to another one.
        """
        if keeper.run != self.run:
            is_one = keeper.source == entry.source or (is_same is not None and is_same(keeper.source))
            if is_one:
                self.erased([keeper.url][: self.index.forget([keeper.url])])
                return True
        return is_same is not None and before is not None

    def _judge_again(self, host: str, template: Template) -> None:
        """Judge those pages of a host again that turn out to contain much more of its template than was known before.

        A page that should not have been dropped becomes due for a refetch. A kept page that should have been dropped
        is marked as a duplicate.
        """
        for one in self._provisional.due(host):
            reading = Reading.of(Analysis(one.page, self.index.secret), template)
            signatures, page_context = reading.signatures(one.asked.checks), reading.view.kept_around
            entry = msgspec.structs.replace(
                one.entry, signatures=signatures, outline=reading.analysis.outline, asides=page_context
            )
            is_kept = bool(signatures) and not one.request
            if is_kept and signatures != one.entry.signatures:
                is_kept = self.index.renew(entry)
            verdict = None
            if is_kept or (signatures and one.request):
                search = self.index.search(entry, checks=one.asked.checks)
                comparison = self._comparer.compare(entry, reading, one.asked, entry.kept_at, one.keeper)
                if match := comparison.duplicate(search):
                    verdict = self._comparer.duplicate(match, comparison, reading, one.asked)
            if one.request and verdict is None:
                dropped = Skip(self.spider, entry.source, one.request)
                self.index.make_due([dropped])
                self._wrongly_dropped.append(dropped)
                self._provisional.remove(entry.url)
                continue
            if is_kept and verdict is not None and not one.stays:
                self._mark(verdict, is_item=one.asked.is_item)
            one.settle(entry, reading)

    def _mark(self, verdict: Verdict, *, is_item: bool) -> None:
        """Record that a page which is already stored is a duplicate."""
        if not self._is_settled(verdict.url, verdict.duplicate_of):
            marked = msgspec.structs.replace(verdict, evidence=verdict.evidence | {"judged_again": True})
            self._record(marked)
            if not is_item:
                self._judged_again.append(marked)

    def _unmark(self, url: str) -> None:
        """Record "unique" for a page that was fetched and kept again, if its earlier copy was marked."""
        earlier = self.index.verdict(url)
        if earlier is not None and earlier.was_judged_again:
            self._record(Verdict(url, "unique"))

    def wrongly_dropped(self) -> list[Skip]:
        """Take the pages that were dropped wrongly, before their site's template was known; each is returned once.

        They are due in the index, so if this process ends before it has fetched them, the next one does.
        """
        skips, self._wrongly_dropped = self._wrongly_dropped, []
        return skips

    def judged_again(self) -> list[Verdict]:
        """Take the verdicts that mark kept pages (not items) as duplicates; each is returned once."""
        verdicts = list(self._judged_again)
        self._judged_again.clear()
        return verdicts

    def expect(self, skip: Skip) -> None:
        """Expect a page that is being fetched again; once it is judged, it is no longer due."""
        self._due[skip.url] = skip

    def expects(self, url: str) -> bool:
        """Whether the page at `url` is being fetched again."""
        return url in self._due

    def moved(self, url: str, other: str) -> None:
        """Expect the page at `other` instead of `url`: the refetch of `url` was redirected there."""
        if skip := self._due.pop(url, None):
            self._due[other] = skip

    def release(self, url: str, premise: Premise | None) -> None:
        """End the refetch of a page that was judged; if it was kept, it is due again should its premise fall."""
        if skip := self._due.pop(url, None):
            self.index.release(skip, premise)
            said = self.index.verdict(url) if premise is not None else None
            if said is not None and said.is_duplicate:  # the verdict by which it was dropped is no longer true
                self._record(Verdict(url, "unique"))

    def erased(self, urls: Iterable[str]) -> None:
        """Subtract these pages, which the index has forgotten, from their sites' quotas."""
        for url in urls:
            self._quota.add(site_of(url), -1)

    def keep_text(self, page: Page) -> None:
        """Keep the main text of a judged page for `explain`.

        Raises:
            OSError: The text cannot be written.
        """
        self.index.attach(page.url, *packed_text(page.paragraphs))

    def close(self) -> None:
        """Write counts and templates to the index; call it before the index is closed."""
        self.tally.close()
        try:
            self._quota.close()
        finally:
            self._templates.store()
