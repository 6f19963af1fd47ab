"""Indexes and logs to report on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.index.contract import Index
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.runs import RunTally
from dedupcrawl.verdict import Verdict

EVIDENCE = {
    "probability": 0.97, "needed": 0.78, "symbols": 100, "kept_symbols": 110, "novel_share": 0.1, "slots": 0.6931,
    "differs": [{"at": 40, "says": "brewery", "kept_symbols": 1, "kind": "replaced", "place": "line", "own": True}],
}  # fmt: skip


def duplicate(url: str, of: str, check: str = "simhash", **evidence: Any) -> Verdict:
    if check == "exact":
        return Verdict(url, "duplicate", of, check, 1.0)
    return Verdict(url, "duplicate", of, check, 0.9, EVIDENCE | evidence)


def doubted(url: str, of: str) -> Verdict:
    doubt = {"url": of, "check": "shingles", "similarity": 0.8, **EVIDENCE, "probability": 0.5}
    return Verdict(url, "unique", evidence={"in_doubt": doubt})


def index_of(verdicts: Iterable[Verdict]) -> TemporaryIndex:
    index = TemporaryIndex(make_checks(["exact"], {}))
    for verdict in verdicts:
        index.record(verdict, run="one", site="s", request=b"asked" if verdict.is_duplicate else b"")
    return index


def tell_run(index: Index, name: str, *, kept: int = 0, saved: int = 0, back: int = 0, spider: str = "s") -> None:  # noqa: PLR0913 - each may be left out or is a case
    """A run that came to its end."""
    tally = RunTally(index, name, spider)
    tally.kept = kept
    for _ in range(saved):
        tally.save()
    if back:
        tally.fall_back(back)
        tally.save(-back)
    tally.close()


def log_of(path: Path, rows: Iterable[LogRow]) -> Path:
    log = LogFile(path)
    for row in rows:
        log.write(row)
    log.close()
    return path
