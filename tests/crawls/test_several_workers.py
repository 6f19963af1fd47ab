"""The example project of docs/several-workers: real worker processes with scrapy-redis's queue and one index."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from dedupcrawl.index.record import Skip
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.settings import DedupSettings
from tests import warm
from tests.crawls.project import items
from tests.crawls.site import Site, page, prose, serve, slow
from tests.redis_server import RedisServer

EXAMPLE = Path(__file__).parents[2] / "docs" / "several-workers"
TEXTS = 30
COPIES = 3
# Scrapy's consoles of two workers that start at once choose the same port now and then, and one cannot listen there.
ALONE = ("-s", "TELNETCONSOLE_ENABLED=False")
QUICK = ("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=2", "-s", "CONCURRENT_REQUESTS=2", "-s", "LOG_LEVEL=INFO", *ALONE)


@pytest.fixture
def site() -> Iterator[Site]:
    """Every text at three URLs; the copies of one stand side by side in the queue, for different workers."""
    urls = [f"/{copy}/{number}" for number in range(TEXTS) for copy in range(COPIES)]
    pages: dict[str, Any] = {"/": page("Start " + prose(0), *urls)}
    pages |= {url: slow(page(prose(100 + int(url.rsplit("/", 1)[1]), 120))) for url in urls}
    with serve(pages) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def start(project: Path, server: RedisServer, feed: str, *options: str) -> warm.Process:
    url = f"redis://127.0.0.1:{server.port}/0"
    env = {**os.environ, "REDIS_URL": url, "FEED": feed, "PYTHONPATH": str(Path(__file__).parents[2])}
    with (project / f"{feed}.log").open("wb") as log:
        command = ["tests.crawls.short_lived", "crawl", "news", *QUICK, *options]
        return warm.start(command, cwd=project, env=env, output=(log, log))


def push(server: RedisServer, site: Site) -> Any:
    client = redis.Redis(port=server.port)
    client.lpush("news:start_urls", json.dumps({"url": f"{site.base}/"}))
    return client


def wait_for_its_death(client: Any) -> None:
    """Until the last signs of life of a worker that was killed are too old."""
    while client.keys("{news}:owner:*") or client.keys("news:requests:alive:*"):
        time.sleep(0.05)


def found(project: Path, *feeds: str) -> list[str]:
    return [item["text"] for feed in feeds for item in items(project, feed)]


def test_all_feeds_together_have_each_text_once(project: Path, redis_server: RedisServer, site: Site) -> None:
    push(redis_server, site)
    feeds = [f"{number}.jsonl" for number in range(4)]
    workers = [start(project, redis_server, feed) for feed in feeds]
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
    texts = found(project, *feeds)
    assert len(texts) == len(set(texts)) == TEXTS + 1
    assert all(times == 1 for times in site.requests.values()), "nothing was fetched twice"
    assert len(site.requests) == TEXTS * COPIES + 1


def test_what_was_dropped_for_pages_of_a_killed_worker_comes_back(
    project: Path, redis_server: RedisServer, site: Site
) -> None:
    """Its feed is lost with it. scrapy-redis forgets the few requests it was at; of each text there are others."""
    client = push(redis_server, site)
    killed, other = (start(project, redis_server, feed) for feed in ("killed.jsonl", "other.jsonl"))
    while sum(site.requests.values()) < TEXTS:
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert other.wait(timeout=120) == 0
    wait_for_its_death(client)
    last = start(project, redis_server, "last.jsonl")
    assert last.wait(timeout=120) == 0
    texts = found(project, "other.jsonl", "last.jsonl")
    assert {text for text in texts if not text.startswith("Start")} == {prose(100 + n, 120) for n in range(TEXTS)}
    assert len(texts) == len(set(texts))


def test_what_is_to_be_fetched_again_one_worker_asks_for(project: Path, redis_server: RedisServer, site: Site) -> None:
    """As after `index restore --refetch`, though both start at once."""
    index = RedisIndex(f"redis://127.0.0.1:{redis_server.port}/0?prefix=news", DedupSettings.read({}).index_checks())
    index.make_due(Skip("news", f"{site.base}/0/{number}", b"") for number in range(TEXTS))
    feeds = ["0.jsonl", "1.jsonl"]
    workers = [start(project, redis_server, feed) for feed in feeds]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert site.requests == {f"/0/{number}": 1 for number in range(TEXTS)}
    assert sorted(found(project, *feeds)) == sorted(prose(100 + number, 120) for number in range(TEXTS))
    assert index.due("news") == []
    index.close()


TREE = 60


@pytest.fixture
def tree() -> Iterator[Site]:
    """Each page links to the next two of a tree, and none is like another."""

    def links(number: int) -> list[str]:
        return [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < TREE]

    pages: dict[str, Any] = {"/": page(prose(500), *links(0))}
    pages |= {f"/{n}": slow(page(prose(500 + n), *links(n))) for n in range(1, TREE)}
    with serve(pages) as running:
        yield running


ALL_OF_THE_TREE = {prose(500 + number) for number in range(TREE)}


def wait_for(site: Site, requests: int) -> None:
    while sum(site.requests.values()) < requests:
        time.sleep(0.01)


def wait_for_logs(project: Path, feeds: list[str], text: str) -> None:
    """Until all of them say this."""
    while not all(text in (project / f"{feed}.log").read_text(encoding="utf-8") for feed in feeds):
        time.sleep(0.05)


def test_no_link_is_lost_while_redis_is_away(project: Path, redis_server: RedisServer, tree: Site) -> None:
    feeds = ["0.jsonl", "1.jsonl"]
    workers = [start(project, redis_server, feed, "-s", "MAX_IDLE_TIME_BEFORE_CLOSE=4") for feed in feeds]
    wait_for_logs(project, feeds, "Spider opened")
    push(redis_server, tree)
    wait_for(tree, 8)
    redis_server.kill()
    wait_for_logs(project, feeds, "The queue cannot be used")
    redis_server.start()
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert set(found(project, *feeds)) == ALL_OF_THE_TREE
    logs = [(project / f"{feed}.log").read_text(encoding="utf-8") for feed in feeds]
    assert [log[log.index("Traceback") :][:3_000] for log in logs if "Traceback" in log] == []
    assert any("The queue is back after" in log and "'dedup/queue/outages': 1" in log for log in logs)
    client = redis.Redis(port=redis_server.port)
    assert client.keys("news:requests:leases:*") == []


def test_what_a_killed_worker_had_taken_is_fetched_by_others(
    project: Path, redis_server: RedisServer, tree: Site
) -> None:
    """All that it fetched is fetched again, too: its feed may be torn, and was not closed."""
    client = push(redis_server, tree)
    killed, other = (start(project, redis_server, feed) for feed in ("killed.jsonl", "other.jsonl"))
    wait_for(tree, TREE // 2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert other.wait(timeout=120) == 0
    wait_for_its_death(client)
    last = start(project, redis_server, "last.jsonl")
    assert last.wait(timeout=120) == 0
    texts = found(project, "other.jsonl", "last.jsonl")
    assert set(texts) == ALL_OF_THE_TREE
    assert len(texts) == len(set(texts))
    assert client.keys("news:requests:leases:*") == []
    assert client.hkeys("news:requests:workers") == []
