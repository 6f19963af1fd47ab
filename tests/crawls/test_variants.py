"""A page and a variant of it that one crawl has fetched both: two pages, of which one is kept under the other's URL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.crawls.site import Follower, crawl, crawled, page, prose, serve, texts
from tests.crawls.test_missing_canonicals import LEARNED
from tests.crawls.test_rewriting import SESSION, rules

PRINT = 'id = "print"\nkind = "rewrite"\ndrop = ["print"]'
SORT = 'id = "sort"\nkind = "rewrite"\nconvert = "sort-query"'
VARIANT, CANONICAL = "/p?print=1", "/p"


class Early(Follower):
    """Asks for pages as they are, as if the rules had come later."""

    asked: tuple[str, ...] = (VARIANT, CANONICAL)
    by_rules = False

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if response.url.endswith("/"):
            for number, url in enumerate(self.asked):
                yield response.follow(url, priority=-number, meta={"dedup_url": self.by_rules})


class Late(Early):
    by_rules = True


def settings(folder: Path, *tables: str, **more: Any) -> dict[str, Any]:
    return {
        **rules(folder / "rules", *tables),
        "DEDUP_TRIAL_SHARE": 0.001,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DEDUP_INDEX": f"lmdb:{folder / 'index'}",
        **more,
    }


async def test_one_item_of_both_is_stored_and_explain_tells_the_two_apart(tmp_path: Path) -> None:
    pages = {"/": page(prose(0)), VARIANT: page(prose(1)), CANONICAL: page(prose(1))}
    done = await crawled(pages, settings(tmp_path, PRINT), Early)
    assert done.urls == {f"{done.base}/", f"{done.base}{VARIANT}"}
    of_variant, of_canonical = (_explained(tmp_path, done.base + url) for url in (VARIANT, CANONICAL))
    assert "its page was kept" in of_variant
    assert "duplicate" not in of_variant
    assert f"is a duplicate of {done.base}{VARIANT}" in of_canonical
    assert "its page was kept" not in of_canonical


def _explained(folder: Path, url: str) -> str:
    options = ["--index", f"lmdb:{folder / 'index'}", "--rules", str(folder / "rules")]
    ran = subprocess.run(
        [sys.executable, "-m", "dedupcrawl", "explain", url, *options], capture_output=True, text=True, check=True
    )
    return ran.stdout


async def test_a_later_crawl_finds_out_that_the_page_is_no_duplicate_any_more(tmp_path: Path) -> None:
    pages = {"/": page(prose(0)), VARIANT: page(prose(1)), CANONICAL: page(prose(1))}
    with serve(pages) as site:
        await crawl(f"{site.base}/", settings(tmp_path, PRINT), Early)
        pages[CANONICAL] = page(prose(2))
        later = await crawl(f"{site.base}/", settings(tmp_path, PRINT), Late)
    assert texts(later) == {prose(0), prose(1), prose(2)}


async def test_a_rule_that_came_since_finds_it_out_too(tmp_path: Path) -> None:
    numbers = range(6)

    class Pages(Late):
        asked = (*(f"/p{n}?print=1" for n in numbers), *(f"/p{n}" for n in numbers))

    pages = {"/": page(prose(0)), **{url: page(prose(1 + i % 6)) for i, url in enumerate(Pages.asked)}}
    with serve(pages) as site:
        await crawl(f"{site.base}/", {**settings(tmp_path), "DEDUP_RULES": []}, Pages)
        pages |= {f"/p{n}": page(prose(100 + n)) for n in numbers}
        later = await crawl(f"{site.base}/", settings(tmp_path, PRINT + LEARNED, DEDUP_TRIAL_SHARE=0.02), Pages)
    assert {prose(100 + n) for n in numbers} <= texts(later)


async def test_in_whatever_order_arguments_come_one_url_is_fetched(tmp_path: Path) -> None:
    pages = {f"/p?{query.format(n)}": page(prose(1 + n)) for n in range(10) for query in ("a={}&b=2", "b=2&a={}")}
    asked = {f"{url}&sid={sid}": text for url, text in pages.items() for sid in "xyz"}
    done = await crawled(
        {"/": page(prose(0), *asked), **pages, **asked}, settings(tmp_path, SESSION + LEARNED, SORT + LEARNED)
    )
    assert texts(done) == set(map(prose, range(11)))
    assert "dedup/url/fallback" not in done.stats


async def test_a_known_page_in_another_order_of_its_arguments_is_an_update(tmp_path: Path) -> None:
    first, second = "/p?b=1&a=2", "/p?a=2&b=1"
    pages = {"/": page(prose(0), first), first: page(prose(1)), second: page(prose(1))}
    with serve(pages) as site:
        for url in (first, second):
            pages["/"] = page(prose(0), url)
            done = await crawl(f"{site.base}/", settings(tmp_path, SORT + LEARNED, DEDUP_SCOPE="spider"))
            assert len(done.items) == 2
