"""What pages say of URLs, and a crawl has borne out, is in the crawl log, and becomes rules where rules can say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import train
from dedupcrawl.urls.normalizer import Normalizer
from tests.crawls import test_aliases
from tests.crawls.site import crawl, crawled, page, prose, serve, texts
from tests.crawls.test_aliases import THREADS, canonical, phpbb, thread

TOPICS = 16


def smf(*, wrong: bool = False) -> dict[str, Any]:
    """A forum whose posts lead to their topic, by URLs that a rule can tell; or each to a page of its own."""
    form = "/index.php/topic,{topic}.msg{{}}.html#msg{{}}"
    topics = range(1, TOPICS + 1)
    pages: dict[str, Any] = {"/": page(prose(0), *(f"/index.php/topic,{t}.0.html" for t in topics))}
    for t in topics:
        whole = thread(t, form=form.format(topic=t)).replace('id="p', 'id="msg')
        pages[f"/index.php/topic,{t}.0.html"] = whole
        for n in range(t * 100, t * 100 + 8):
            pages[f"/index.php/topic,{t}.msg{n}.html"] = page(prose(5_000 + n)) if wrong else whole
    return pages


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    return test_aliases.settings(folder, DEDUP_CRAWL_LOG=str(folder / "crawl-log.jsonl"), **more)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "crawl-log.jsonl").read_text(encoding="utf-8").splitlines()]


def learned(folder: Path) -> Normalizer:
    rules = folder / "learned"
    train([folder / "crawl-log.jsonl"], rules, LearningOptions(), workers=1)
    return Normalizer.from_paths([rules])


async def test_permalinks_that_held_become_a_rule(tmp_path: Path) -> None:
    done = await crawled(smf(), settings(tmp_path))
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert {row["alias_source"] for row in rows} == {"permalink"}
    assert len({row["url"] for row in rows}) == TOPICS * 8
    assert len(rows) <= TOPICS * 8 + 2, "each once, a use that is drawn and the last one when they were tried, too"
    assert sum("alias_held" in row for row in rows) == done.stats["dedup/url/tried"]
    assert all(row.get("alias_held", True) for row in rows)
    assert {row["alias_of"].rpartition(".0")[0] + ".msg" in row["url"] for row in rows} == {True}

    found = learned(tmp_path)
    unseen = [f"{done.base}/index.php/topic,77.{end}.html" for end in ("0", "msg7701", "msg7702")]
    assert len({found.normalize(url).canonical for url in unseen}) == 1
    others = [f"{done.base}/index.php/topic,{t}.0.html" for t in range(70, 90)]
    assert len({found.normalize(url).canonical for url in others}) == len(others)

    (rule,) = [rule for rule in found.rules_of("127.0.0.1") if rule.source == "learned"]
    assert rule.state == "probation"
    assert rule.evidence.correct >= 50
    assert not rule.evidence.wrong


async def test_permalinks_that_lead_elsewhere_are_no_evidence(tmp_path: Path) -> None:
    done = await crawled(smf(wrong=True), settings(tmp_path))
    assert done.stats["dedup/url/revoked"] == 1
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert rows
    assert {row["alias_held"] for row in rows} == {False}, "and none of those that waited for the trials"
    assert len(texts(done)) == 1 + TOPICS + TOPICS * 8
    found = learned(tmp_path)
    for row in rows_of(tmp_path):
        assert not found.normalize(row["url"]).rules


async def test_posts_that_no_rule_can_tell_teach_none(tmp_path: Path) -> None:
    with serve(phpbb()) as site:
        await crawl(f"{site.base}/", settings(tmp_path))
    rows = [row for row in rows_of(tmp_path) if "alias_of" in row]
    assert len(rows) == THREADS * 8
    found = learned(tmp_path)
    assert len({found.normalize(f"{site.base}/viewtopic.php?t={n}").canonical for n in range(9)}) == 9
    assert len({found.normalize(f"{site.base}/viewtopic.php?p={n}").canonical for n in range(9)}) == 9


def shop(lies_from: int, pages: int = 40) -> dict[str, Any]:
    """Views of items, each of which names its item's own URL; from one on the URL is of another page than the view."""
    made: dict[str, Any] = {"/": page(prose(0), *(f"/view?id={n}" for n in range(pages)))}
    for n in range(pages):
        made[f"/view?id={n}"] = canonical(prose(1 + n), f"/item/{n}", f"/item/{n}")
        made[f"/item/{n}"] = page(prose(1 + n if n < lies_from else 1_000 + n))
    return made


@pytest.mark.parametrize("lie", [True, False])
async def test_canonical_links_that_lie_give_no_rule_and_those_that_hold_do(tmp_path: Path, *, lie: bool) -> None:
    done = await crawled(shop(lies_from=0 if lie else 40), settings(tmp_path))
    assert len(texts(done)) == (81 if lie else 41)
    assert any(row.get("alias_held", True) for row in rows_of(tmp_path) if "alias_of" in row) is not lie
    found = learned(tmp_path)
    urls = [f"{done.base}/{form}{n}" for n in range(77, 100 if lie else 78) for form in ("view?id=", "item/")]
    assert len({found.normalize(url).canonical for url in urls}) == (len(urls) if lie else 1)


IN_ORDER = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


async def test_a_site_that_begins_to_lie_once_it_is_believed_takes_back_what_it_taught(tmp_path: Path) -> None:
    """One use in four is tried, so the source is refuted, and all that it saved is fetched and says otherwise."""
    done = await crawled(shop(lies_from=12), settings(tmp_path, DEDUP_TRIAL_SHARE=0.25, **IN_ORDER))
    assert len(texts(done)) == 1 + 40 + 28
    believed = {row["url"] for row in rows_of(tmp_path) if "alias_of" in row and "alias_held" not in row}
    lies = {f"{done.base}/item/{n}" for n in range(12, 40)}
    assert believed & lies
    found = learned(tmp_path)
    both = [url for n in range(12, 40) for url in (f"{done.base}/item/{n}", f"{done.base}/view?id={n}")]
    assert len({found.normalize(url).canonical for url in both}) == len(both)
