"""What judges the pages of `check`: a detector on an index, for one run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dedupcrawl.commands.errors import BadInputError
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.model import load
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import open_index
from dedupcrawl.index.superseding import standing_for
from dedupcrawl.page import Page
from dedupcrawl.settings import DedupSettings
from dedupcrawl.verdict import Verdict

_RUN = "check"
_AHEAD = 500  # pages that are read before one is judged: some 20 MB


class Judge:
    """Called with one page after the other, each is judged against those before."""

    def __init__(self, index: Index, detector: Detector, checks: Sequence[Check], settings: DedupSettings) -> None:
        self._index = index
        self._detector = detector
        self._checks = checks
        self._settings = settings

    def __call__(self, analysis: Analysis) -> Verdict:
        """The verdict on a page, which is kept when it is no duplicate."""
        verdict = self._detector.judge(
            analysis,
            self._checks,
            scope=self._settings.scope,
            target_precision=self._settings.parameters["TARGET_PRECISION"],
            ttl=self._settings.ttl,
            quota=self._settings.site_quota,
        )
        if self._settings.keep_text:
            self._detector.keep_text(analysis.page)
        return verdict

    def looking_ahead(self, pages: Iterable[Page]) -> Iterator[Verdict]:
        """The verdicts on pages in their order, each once it is known what the `_AHEAD` after it repeat."""
        waiting: deque[Analysis] = deque()
        for page in pages:
            analysis = Analysis(page)
            self._detector.learn(analysis)
            waiting.append(analysis)
            if len(waiting) > _AHEAD:
                yield self(waiting.popleft())
        while waiting:
            yield self(waiting.popleft())

    def resolved(self, verdict: Verdict) -> Verdict:
        """A verdict of duplicate with "superseded_by", where its keeper lies inside a page that was judged since."""
        larger = standing_for(self._index, verdict.duplicate_of) if verdict.duplicate_of is not None else None
        if larger is None:
            return verdict
        return replace(verdict, evidence=verdict.evidence | {"superseded_by": larger})


@contextmanager
def open_judge(settings: DedupSettings, folder: Path) -> Iterator[Judge]:
    """What judges pages by these settings.

    Args:
        settings: Of the command.
        folder: Where the index is, unless the settings name one.
    """
    trust = trust_of(settings)
    made = make_checks(settings.checks, settings.parameters)
    index = open_index(settings.index, make_checks(*settings.index_checks()), default_path=folder / "index")
    try:
        detector = Detector(index, run=_RUN, trust=trust, memory=settings.index_memory, model=load(settings.model))
        try:
            yield Judge(index, detector, made, settings)
        finally:
            detector.close()
    finally:
        index.close()


def trust_of(settings: DedupSettings) -> Trust:
    """Whose pages may be the reason to drop others'."""
    named = settings.trusted_sites
    if named == "start":
        raise BadInputError("DEDUP_TRUSTED_SITES: files have no start; take 'all' or a list of hosts.")
    return Trust(None if isinstance(named, str) else named)
