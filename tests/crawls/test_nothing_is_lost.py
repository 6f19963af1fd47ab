"""Random little webs, crawled again and again while pipelines refuse items and feeds are lost: no text is lost."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import IO, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy.exceptions import DropItem

from tests.crawls.site import crawl, page, prose, serve

TEXTS = st.integers(1, 3)
WEBS = st.lists(TEXTS, min_size=2, max_size=6)  # the text that each page shows
RUNS = st.lists(st.tuples(st.sets(st.integers(0, 5), max_size=3), st.booleans()), min_size=1, max_size=3)
"""Of each run which items a later pipeline refuses, in the order in which they come, and whether the feed is lost."""


class LostStorage:
    """Where feeds are lost."""

    def __init__(self, uri: str, **options: Any) -> None:
        pass

    def open(self, spider: Any) -> IO[bytes]:
        return tempfile.TemporaryFile()

    def store(self, file: IO[bytes]) -> None:
        file.close()
        raise OSError("the disk is full")


class Refuses:
    """A pipeline after ours."""

    which: frozenset[int] = frozenset()  # the numbers of those that it refuses
    count = 0
    refused: set[str]  # their URLs

    def process_item(self, item: Any) -> Any:
        type(self).count += 1
        if self.count - 1 in self.which:
            self.refused.add(item["url"])
            raise DropItem("not wanted", log_level="DEBUG")
        return item


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(web=WEBS, runs=RUNS, keeps_jobdir=st.booleans())
def test_each_text_is_stored_or_all_pages_that_show_it_were_refused(
    web: list[int], runs: list[tuple[set[int], bool]], keeps_jobdir: bool
) -> None:
    texts = {f"/{number}": text for number, text in enumerate(web)}
    pages = {path: page(prose(text), title=str(text)) for path, text in texts.items()}
    stored, refused = set[int](), set[str]()
    with tempfile.TemporaryDirectory() as folder, serve({"/": page("Start " + prose(0), *pages), **pages}) as site:
        for number, (which, is_lost) in enumerate([*runs, (set(), False), (set(), False)]):
            Refuses.which, Refuses.count, Refuses.refused = frozenset(which), 0, set()
            feed = f"lost://{number}" if is_lost else f"file://{folder}/{number}.jsonl"
            own = {
                "DEDUP_INDEX": f"lmdb:{folder}/index",
                "DEDUP_SCOPE": "spider",
                "ITEM_PIPELINES": {Refuses: 800},
                "FEED_STORAGES": {"lost": LostStorage},
                "FEEDS": {feed: {"format": "jsonlines"}},
                "CONCURRENT_REQUESTS": 1,
                **({"JOBDIR": str(Path(folder) / "job")} if keeps_jobdir else {}),
            }
            done = asyncio.run(crawl(f"{site.base}/", own))
            refused |= {url.removeprefix(site.base) for url in Refuses.refused}
            if not is_lost:
                came = {item["url"].removeprefix(site.base) for item in done.items}
                stored |= {texts[path] for path in came - {"/"}}
    for path, text in texts.items():
        assert text in stored or path in refused, f"{path} with text {text} is lost"
