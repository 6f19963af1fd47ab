"""A crawl whose index is on a Redis that is killed: no page is lost, whatever else happens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.index.contract import IndexAwayError
from dedupcrawl.index.redis import RedisIndex
from tests.crawls.site import Crawl, Pages, crawl, page, prose, serve
from tests.redis_server import RedisServer

COUNT = 24


def pages_of_a_site(at: dict[int, Callable[[], None]]) -> dict[str, Any]:
    """A chain of pages, each text twice; before some of them are answered, something happens."""

    def answer(number: int) -> Callable[[], Any]:
        def give() -> Any:
            from tests.crawls.site import Answer

            at.get(number, lambda: None)()
            following = (f"/p/{number + 1}",) if number + 1 < COUNT else ()
            return Answer(page(prose(1000 + number // 2, 150), *following))

        return give

    return {"/": page("Start " + prose(0), "/p/0"), **{f"/p/{n}": answer(n) for n in range(COUNT)}}


def texts(done: Crawl) -> list[str]:
    return [item["text"] for item in done.items]


async def crawl_with(server: RedisServer, pages: Pages, **settings: Any) -> Crawl:
    with serve(pages) as site:
        return await crawl(f"{site.base}/", {"DEDUP_INDEX": server.url(), "DEDUP_RUN": "one", **settings})


def index_of(server: RedisServer) -> RedisIndex:
    return RedisIndex(server.url(), (), wait=5)


async def test_every_text_once(redis_server: RedisServer) -> None:
    done = await crawl_with(redis_server, pages_of_a_site({}))
    assert len(texts(done)) == len(set(texts(done))) == COUNT // 2 + 1
    assert done.stats["dedup/index/claimed"] == done.stats["dedup/content/unique"]
    index = index_of(redis_server)
    assert index.info()["claimed"] == 0, "all is confirmed"
    assert index.verify() == []
    index.close()


async def test_pages_wait_for_a_redis_that_is_restarted(redis_server: RedisServer) -> None:
    """The site goes on being slow while Redis is away, then it is back with all that it had."""

    def restart() -> None:
        redis_server.kill()
        threading.Timer(0.7, redis_server.start).start()

    done = await crawl_with(redis_server, pages_of_a_site({7: restart}))
    assert len(texts(done)) == len(set(texts(done))) == COUNT // 2 + 1
    assert done.stats["dedup/index/outages"] == 1
    assert "dedup/index/let_through" not in done.stats
    index = index_of(redis_server)
    assert index.info()["pages"] == COUNT // 2 + 1
    assert index.info()["claimed"] == 0
    assert index.verify() == []
    index.close()


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
    index = index_of(redis_server)
    assert index.info()["pages"] == COUNT // 2 + 1
    assert index.info()["claimed"] == 0
    assert index.verify() == []
    index.close()


async def test_a_redis_that_never_comes_back_costs_duplicates_only(redis_server: RedisServer) -> None:
    done = await crawl_with(redis_server, pages_of_a_site({6: redis_server.kill}), DEDUP_INDEX_WAIT="0.3")
    assert len(set(texts(done))) == COUNT // 2 + 1
    assert done.stats["finish_reason"] == "finished"


async def test_a_redis_that_forgets_everything_is_given_it_back(tmp_path: Path) -> None:
    from tests.redis_server import running

    with running(tmp_path) as server:

        def restart() -> None:
            server.kill()
            threading.Timer(0.3, server.start).start()

        done = await crawl_with(server, pages_of_a_site({9: restart}))
        assert len(texts(done)) == len(set(texts(done))) == COUNT // 2 + 1
        index = index_of(server)
        assert index.info()["pages"] == COUNT // 2 + 1
        assert index.info()["claimed"] == 0
        assert index.verify() == []
        index.close()


async def test_without_a_redis_at_the_start_there_is_one_clear_sentence(redis_server: RedisServer) -> None:
    redis_server.kill()
    with pytest.raises(IndexAwayError, match=r"redis://127.*cannot be reached"), serve({"/": page("x")}) as site:
        await crawl(f"{site.base}/", {"DEDUP_INDEX": redis_server.url()})
