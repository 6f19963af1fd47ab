"""Training runs beside a crawl. (In crawls: tests/crawls/test_learning.py.)"""

from __future__ import annotations

from pathlib import Path

from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.learning import Learning
from dedupcrawl.crawl.log_file import LogFile, LogRow
from dedupcrawl.urls.normalizer import Normalizer


async def test_a_crawl_that_ends_waits_for_no_training(tmp_path: Path) -> None:
    """The last pages are logged while it closes, and may be those that call for a run."""
    stats = get_crawler().stats
    assert stats is not None
    log = LogFile(tmp_path / "log.jsonl")
    (tmp_path / "rules").mkdir()
    learning = Learning(log, tmp_path / "rules", Normalizer(), None, stats)
    for n in range(300):
        log.write(LogRow(f"http://a.example/p?id={n % 50}&sid={n}", 200, mime="text/html", digest=f"{n % 50:032x}"))
    learning.logged()
    await learning.stop()
    learning.logged()
    await learning.stop()
    log.close()
    assert stats.get_value("dedup/learn/runs") is None
