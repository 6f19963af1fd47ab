"""A crawl whose index is on a Redis that is killed: no page is lost, whatever else happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis

from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.settings import SettingError
from tests.crawls.site import Answer, Crawl, Pages, crawl, page, prose, serve
from tests.redis_server import RedisServer

COUNT = 24


def pages_of_a_site(at: dict[int, Callable[[], None]]) -> dict[str, Any]:
    """A chain of slow pages, each text twice; before some of them are answered, something happens."""

    def answer(number: int) -> Callable[[], Any]:
        def give() -> Any:
            at.get(number, lambda: None)()
            time.sleep(0.04)
            following = (f"/p/{number + 1}",) if number + 1 < COUNT else ()
            return Answer(page(prose(1000 + number // 2, 150), *following))

        return give

    return {"/": page("Start " + prose(0), "/p/0"), **{f"/p/{n}": answer(n) for n in range(COUNT)}}


def texts(done: Crawl) -> list[str]:
    return [item["text"] for item in done.items]


async def crawl_with(server: RedisServer, pages: Pages, **settings: Any) -> Crawl:
    with serve(pages) as site:
        return await crawl(f"{site.base}/", {"DEDUP_INDEX": server.url(), "DEDUP_RUN": "one", **settings})


def assert_whole(server: RedisServer) -> None:
    """Each text is kept once, and all is confirmed."""
    with closing(RedisIndex(server.url(), (), wait=5)) as index:
        assert index.info()["pages"] == COUNT // 2 + 1
        assert index.info()["unstored"] == 0
        assert index.verify() == []


@pytest.mark.parametrize("numbers", [range(0), (0,), (3, 11, 17)], ids=["never", "at first", "thrice"])
async def test_pages_that_are_judged_together_wait_for_a_redis_that_is_killed(
    redis_server: RedisServer, numbers: Sequence[int]
) -> None:
    def restart() -> None:
        if redis_server.process is not None:
            redis_server.kill()
            threading.Timer(0.5, redis_server.start).start()

    chain = pages_of_a_site(dict.fromkeys(numbers, restart))
    done = await crawl_with(redis_server, {**chain, "/": page("Start " + prose(0), *list(chain)[1:])})
    assert len(texts(done)) == len(set(texts(done))) == COUNT // 2 + 1
    assert "dedup/index/let_through" not in done.stats
    assert done.stats["dedup/content/checked"] == COUNT + 1
    assert_whole(redis_server)


async def test_pages_go_on_without_redis_and_are_checked_later(redis_server: RedisServer) -> None:
    def start() -> None:
        threading.Thread(target=redis_server.start).start()

    done = await crawl_with(
        redis_server, pages_of_a_site({6: redis_server.kill, 12: start, 16: lambda: None}), DEDUP_INDEX_WAIT=0
    )
    assert len(set(texts(done))) == COUNT // 2 + 1, "no text is lost"
    assert len(texts(done)) > COUNT // 2 + 1, "some came twice"
    assert done.stats["dedup/index/let_through"] == done.stats["dedup/index/checked_later"]
    assert done.stats["dedup/index/duplicates_let_through"] > 0
    assert_whole(redis_server)


async def test_a_redis_that_never_comes_back_costs_duplicates_only(redis_server: RedisServer) -> None:
    done = await crawl_with(redis_server, pages_of_a_site({6: redis_server.kill}), DEDUP_INDEX_WAIT="0.3")
    assert len(set(texts(done))) == COUNT // 2 + 1
    assert done.stats["finish_reason"] == "finished"


@pytest.mark.parametrize(("refusing", "allowing"), [("maxmemory 1", "maxmemory 0"), ("requirepass x", "requirepass ")])
async def test_a_redis_that_refuses_for_a_while_is_an_outage(
    redis_server: RedisServer, refusing: str, allowing: str
) -> None:
    """Its pages wait for it, or go on and are checked later, as when it is away."""
    client: Any = redis.Redis(port=redis_server.port)

    def refuse() -> None:
        client.config_set(*refusing.split(" "))
        client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def allow() -> None:
        client.config_set(*allowing.split(" "))

    def refuse_for_a_while() -> None:
        refuse()
        threading.Timer(0.7, allow).start()

    def allow_again() -> None:
        allow()
        time.sleep(2.1)  # longer than any pause between attempts to connect: the crawl does not end in one

    waited = await crawl_with(redis_server, pages_of_a_site({7: refuse_for_a_while}))
    assert len(texts(waited)) == len(set(texts(waited))) == COUNT // 2 + 1
    assert waited.stats["dedup/index/outages"] == 1
    assert "dedup/index/errors" not in waited.stats
    client.flushall()
    went_on = await crawl_with(redis_server, pages_of_a_site({6: refuse, 14: allow_again}), DEDUP_INDEX_WAIT=0)
    assert len(set(texts(went_on))) == COUNT // 2 + 1, "no text is lost"
    assert went_on.stats["dedup/index/let_through"] == went_on.stats["dedup/index/checked_later"] > 0
    assert went_on.stats["dedup/index/duplicates_let_through"] > 0
    assert_whole(redis_server)


@pytest.mark.parametrize("end", ["killed", "refusing", "damaged"])
async def test_a_crawl_that_ends_without_its_redis_says_so_in_plain_words(
    redis_server: RedisServer, end: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    client: Any = redis.Redis(port=redis_server.port)
    how = {
        "killed": redis_server.kill,
        "refusing": lambda: client.config_set("maxmemory", "1"),
        "damaged": lambda: (client.flushall(), client.set("{test}:meta", "x")),
    }
    done = await crawl_with(
        redis_server,
        pages_of_a_site({COUNT - 1: how[end]}),
        DEDUP_INDEX_WAIT="0.2",
        DEDUP_REPORT=str(tmp_path / "report.html"),
        DEDUP_CRAWL_LOG=str(tmp_path / "log.jsonl"),
    )
    assert len(set(texts(done))) == COUNT // 2 + 1
    said = [record for record in caplog.records if "could not store everything it knows" in record.getMessage()]
    assert len(said) <= 2
    assert said
    ends = [record for record in caplog.records if record.exc_info and "signal handler" in record.getMessage()]
    assert ends == []
    assert (tmp_path / "log.jsonl").stat().st_size > 0, "all else is closed"
    assert not [thread for thread in threading.enumerate() if thread.name == "dedupcrawl-claims"]


async def test_without_a_redis_at_the_start_there_is_one_clear_sentence(redis_server: RedisServer) -> None:
    redis_server.kill()
    with (
        pytest.raises(SettingError, match=r"DEDUP_INDEX: .*redis://127.*cannot be reached"),
        serve({"/": page("x")}) as site,
    ):
        await crawl(f"{site.base}/", {"DEDUP_INDEX": redis_server.url()})
