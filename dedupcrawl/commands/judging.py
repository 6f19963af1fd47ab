"""What judges the pages of `check`: a detector on an index, for one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from dedupcrawl.commands.errors import BadInputError
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.trust import Trust
from dedupcrawl.index.open import open_index
from dedupcrawl.settings import DedupSettings
from dedupcrawl.verdict import Verdict

_RUN = "check"


@contextmanager
def open_judge(settings: DedupSettings, folder: Path) -> Iterator[Callable[[Analysis], Verdict]]:
    """Called with one page after the other, each is judged against those before.

    Args:
        settings: Of the command.
        folder: Where the index is, unless the settings name one.
    """
    trust = trust_of(settings)
    made = make_checks(settings.checks, settings.parameters)
    index = open_index(settings.index, make_checks(*settings.index_checks()), default_path=folder / "index")
    try:
        detector = Detector(index, run=_RUN, trust=trust, memory=settings.index_memory)
        try:
            yield partial(_judged, detector, made, settings)
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


def _judged(detector: Detector, checks: Sequence[Check], settings: DedupSettings, analysis: Analysis) -> Verdict:
    verdict = detector.judge(
        analysis,
        checks,
        scope=settings.scope,
        target_precision=settings.parameters["TARGET_PRECISION"],
        ttl=settings.ttl,
        quota=settings.site_quota,
    )
    if settings.keep_text:
        detector.keep_text(analysis.page)
    return verdict
