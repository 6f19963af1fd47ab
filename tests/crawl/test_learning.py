"""Training runs beside a crawl. (In crawls: tests/crawls/test_learning.py.)"""

from __future__ import annotations

from pathlib import Path
from random import Random

from scrapy.utils.test import get_crawler

from dedupcrawl.crawl.learning import Learning
from dedupcrawl.crawl.log_file import Evidence, LogFile, LogRow
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule_book import RuleBook


async def test_a_crawl_that_ends_waits_for_no_training(tmp_path: Path) -> None:
    """The last pages are logged while it closes, and may be those that call for a run."""
    stats = get_crawler().stats
    assert stats is not None
    evidence = Evidence()
    log = LogFile(tmp_path / "log.jsonl", evidence=evidence)
    (tmp_path / "rules").mkdir()
    book = RuleBook(Normalizer(), 1, Random(1))
    learning = Learning(log, evidence, tmp_path / "rules", Normalizer(), book, stats)
    for n in range(300):
        log.write(LogRow(f"http://a.example/p?id={n % 50}&sid={n}", 200, text_digest=f"{n % 50:032x}"))
        learning.begin_if_due()
    await learning.stop()
    for n in range(300):
        log.write(LogRow(f"http://a.example/p?id={n % 50}&sid={n}", 200, text_digest=f"{n % 50:032x}"))
        learning.begin_if_due()
    await learning.stop()
    log.close()
    assert stats.get_value("dedup/learn/runs") is None


def test_evidence_are_urls_that_lead_to_one_page() -> None:
    evidence = Evidence()
    for n in range(1_000):
        evidence.add(LogRow(f"http://a.example/{n}", 200, text_digest=f"{n:032x}"))
    evidence.add(LogRow("http://a.example/failed", alias_of="http://a.example/1", alias_held=False))
    assert evidence.count == 0, "a thousand pages of a site where each has one URL"
    evidence.add(LogRow("http://a.example/1000", 200, text_digest=f"{7:032x}"))
    evidence.add(LogRow("http://a.example/1000", 200, duplicate_of="http://a.example/7"))
    assert evidence.count == 1, "told twice"
    evidence.add(LogRow("http://a.example/old", 301, redirect_to="http://a.example/1"))
    evidence.add(LogRow("http://a.example/said", alias_of="http://a.example/1"))
    evidence.add(LogRow("http://a.example/held", alias_of="http://a.example/1", alias_held=True))
    assert evidence.count == 4
