from __future__ import annotations

from pathlib import Path

from benchmarks.index_bytes import measured, on_disk
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from tests.crawls.site import prose
from tests.redis_server import running


def test_what_is_measured_is_what_the_pages_hold(tmp_path: Path) -> None:
    checks = make_checks(("exact", "simhash"), {"SIMHASH_FEATURES": "words", "SIMHASH_DISTANCE": 3})
    index = LmdbIndex(tmp_path / "index", checks)
    detector = Detector(index, spider="", run="")
    for number in range(20):
        page = Page(f"http://a/{number}", paragraphs=(prose(number, 200),))
        detector.judge(Analysis(page, detector.index.secret), checks)
    entries = list(index.entries())
    index.close()
    with running(tmp_path) as server:
        found = measured(tmp_path / "index", entries, server.port)
    held = sum(len(entry.outline) + len(entry.asides) for entry in entries) / len(entries)
    assert held < found.redis < 20 * held
    assert held < found.read <= found.sent
    assert found.disk >= held
    assert found.segments == 0, "so few postings are in memory"
    sizes = on_disk(tmp_path / "index")
    assert sizes["pages"] >= held * len(entries)
    assert sum(sizes.values()) <= found.disk * len(entries)
