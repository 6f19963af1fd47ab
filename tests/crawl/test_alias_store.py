"""What an index is asked of aliases, and told."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scrapy.utils.test import get_crawler

from dedupcrawl.aliases.alias import Alias
from dedupcrawl.crawl import alias_store
from dedupcrawl.crawl.alias_store import AliasStore
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.settings import DedupSettings
from tests.detection.judged import CHECKS
from tests.redis_server import running

ROOT = Path(__file__).parents[2]
OTHER = """
import sys
from pathlib import Path
from tests.crawl.test_alias_store import CHECKS, URLS, LmdbIndex, alias, store_of
index = LmdbIndex(Path(sys.argv[1]), CHECKS)
store_of(index).put(URLS[3], alias(URLS[9]))
index.close()
"""
URLS = [f"http://a.example/{number}" for number in range(40)]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("redis")) as server:
        yield server.url(uuid.uuid4().hex)


def store_of(index: Index) -> AliasStore:
    stats = get_crawler().stats
    assert stats is not None
    return AliasStore(index, stats, DedupSettings())


def alias(target: str) -> Alias:
    return Alias(target, "permalink", "spider", "run", 1.0)


def test_many_urls_are_one_question(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(RedisIndex(redis_url, CHECKS)) as index, closing(RedisIndex(redis_url, CHECKS)) as other:
        store, worker = store_of(index), store_of(other)
        worker.put(URLS[1], alias(URLS[0]))
        worker.known(URLS[1])  # so that it has arrived
        before = index.link.round_trips
        store.read(URLS)
        assert [store.known(url) for url in URLS] == [None, alias(URLS[0]), *[None] * 38]
        assert index.link.round_trips == before + 1
        store.put(URLS[2], alias(URLS[0]))
        store.detach(URLS[1])
        assert store.attach_new({URLS[3]: alias(URLS[0])}) == {}
        assert [store.known(url) for url in URLS[:4]] == [None, None, alias(URLS[0]), alias(URLS[0])], "its own news"
        worker.put(URLS[4], alias(URLS[0]))
        worker.known(URLS[4])
        monkeypatch.setattr(alias_store, "FRESH_SECONDS", 0.0)
        assert store.known(URLS[4]) == alias(URLS[0]), "and after a while that of others"


def test_what_others_put_beside_a_url_is_read_where_it_was_known_that_nothing_lies_there(tmp_path: Path) -> None:
    """A process that alone writes into an index need not ask about what it has not put there."""
    with closing(LmdbIndex(tmp_path, CHECKS)) as index:
        store = store_of(index)
        assert store.known(URLS[0]) is None
        store.put(URLS[1], alias(URLS[9]))
        assert [store.known(url) for url in URLS[:3]] == [None, alias(URLS[9]), None]
        index.change([])  # writes nothing
        done = subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 0
        assert store.known(URLS[3]) == alias(URLS[9])
