"""scrapy-redis's other queues and kinds of start URLs with the scheduler that loses nothing, in real crawls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import redis
from scrapy.utils.test import get_crawler
from scrapy_redis.spiders import RedisSpider

from dedupcrawl.shared_queue.scheduler import Scheduler
from tests.crawls.site import Site, crawl, page, prose, serve
from tests.redis_server import RedisServer

COUNT = 6


class Spider(RedisSpider):  # type: ignore[misc]  # it has no types
    """Follows every link."""

    name = "queued"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "text": " ".join(response.css("article ::text").getall())}
        yield from response.follow_all(css="a")


@pytest.fixture
def site() -> Iterator[Site]:
    """Two starts, each with links of its own and one that both have."""
    pages = {f"/{n}": page(prose(n)) for n in range(COUNT)}
    pages |= {"/a": page("A " + prose(70), "/0", "/1", "/2"), "/b": page("B " + prose(71), "/2", "/3", "/4", "/5")}
    with serve(pages) as running_site:
        yield running_site


def settings(server: RedisServer, **more: Any) -> dict[str, Any]:
    return {
        "REDIS_URL": f"redis://127.0.0.1:{server.port}/0",
        "SCHEDULER": "dedupcrawl.shared_queue.scheduler.Scheduler",
        "SCHEDULER_PERSIST": True,
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
        **more,
    }


@pytest.mark.parametrize(
    ("queue", "kind"), [("FifoQueue", "set"), ("LifoQueue", "zset"), ("PriorityQueue", "list")], ids=lambda it: it
)
async def test_every_queue_and_kind_of_start_urls(server: RedisServer, site: Site, queue: str, kind: str) -> None:
    client: Any = redis.Redis(port=server.port)
    add = {"set": client.sadd, "list": client.rpush, "zset": lambda key, url: client.zadd(key, {url: 1})}[kind]
    for start in ("/a", "/b"):
        add("queued:start_urls", json.dumps({"url": site.base + start}))
    given = {"REDIS_START_URLS_AS_SET": kind == "set", "REDIS_START_URLS_AS_ZSET": kind == "zset"}
    done = await crawl([], settings(server, SCHEDULER_QUEUE_CLASS=f"scrapy_redis.queue.{queue}", **given), Spider)
    assert sorted(done.fetched) == sorted(site.base + path for path in ("/a", "/b", *map("/{}".format, range(COUNT))))
    assert len(done.items) == COUNT + 2
    assert client.keys() == [b"queued:dupefilter"], "no lease is left"


async def test_without_the_index_requests_are_leased_all_the_same(server: RedisServer, site: Site) -> None:
    client: Any = redis.Redis(port=server.port)
    client.rpush("queued:start_urls", json.dumps({"url": f"{site.base}/b"}))
    done = await crawl([], settings(server, DEDUP_ENABLED=False), Spider)
    assert len(done.items) == 5
    assert client.keys() == [b"queued:dupefilter"]


async def test_a_start_url_of_which_no_request_can_be_made_costs_no_other(
    server: RedisServer, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    client: Any = redis.Redis(port=server.port)
    bad = json.dumps({"url": "none either"})
    client.rpush("queued:start_urls", f"{site.base}/0", "no url", bad, f"{site.base}/1")
    done = await crawl([], settings(server), Spider)
    assert sorted(done.fetched) == [f"{site.base}/0", f"{site.base}/1"]
    assert client.keys() == []
    said = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    left_out = "No request can be made of the start URL {!r}; it is left out."
    assert said == [left_out.format(b"no url"), left_out.format(bad.encode())]


async def test_what_only_waits_for_its_file_is_marked(server: RedisServer, site: Site, tmp_path: Path) -> None:
    client: Any = redis.Redis(port=server.port)
    client.rpush("queued:start_urls", json.dumps({"url": f"{site.base}/0"}))

    class Watching(Spider):
        """Looks at its leases whenever it has nothing to do."""

        leases: ClassVar[list[bytes]] = []

        def spider_idle(self) -> None:
            for key in client.keys("queued:requests:leases:*"):
                self.leases.extend(client.hvals(key))
            super().spider_idle()

    await crawl([], settings(server, FEEDS={str(tmp_path / "feed.jsonl"): {"format": "jsonlines"}}), Watching)
    assert Watching.leases
    assert all(lease.startswith(b"+") for lease in Watching.leases)
    assert client.keys() == [], "at the end the file is closed"


def test_start_urls_behind_one_that_cannot_be_scheduled_are_there_again(server: RedisServer) -> None:
    crawler = get_crawler(Spider, settings(server, TWISTED_REACTOR=None))
    spider: Any = Spider.from_crawler(crawler)
    crawler.spider = spider
    scheduler = Scheduler.from_crawler(crawler)
    scheduler.open(spider)
    client: Any = redis.Redis(port=server.port)
    client.rpush("queued:start_urls", *(f"http://a/{number}" for number in range(4)))
    batch = spider.next_requests()
    assert next(batch).url == "http://a/0"
    assert [request.url for request in spider.next_requests()] == [f"http://a/{number}" for number in (1, 2, 3)]
    assert client.hlen(client.keys("queued:requests:leases:*")[0]) == 1, "the first is another worker's to try"
    scheduler._shared.close(0)


async def test_another_queue_is_refused(server: RedisServer) -> None:
    with pytest.raises(ValueError, match=r"SCHEDULER_QUEUE_CLASS: got tests\..*; name one of scrapy_redis\.queue"):
        await crawl([], settings(server, SCHEDULER_QUEUE_CLASS=f"{__name__}.Other"), Spider)


class Other:
    """A queue that we know nothing of."""

    def __init__(self, **_: Any) -> None:
        self.key = "other"

    def __len__(self) -> int:
        return 0
