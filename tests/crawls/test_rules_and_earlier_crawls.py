"""Rules that an earlier crawl did not have make other URLs of pages that it kept; nothing waits in vain for them."""

from __future__ import annotations

from pathlib import Path

from tests.crawls.site import crawl, page, prose, serve
from tests.crawls.test_aliases import fetched, settings, texts

NUMBERS = range(12)
RULE = 'id = "shown"\nkind = "rewrite"\nwithin = ["/topic"]\nmatch = "?n={}"\ndrop = ["as"]'
SECOND = 'id = "forum"\nkind = "equivalence"\nwithin = ["/topic"]\nmatch = "?n={}"\ndrop = ["from"]'


def written(folder: Path, *rules: str) -> None:
    tables = "".join(f"[[rules]]\n{rule}\n" for rule in rules)
    (folder / "rules" / "127.0.0.1.toml").write_text(f'site = "127.0.0.1"\n{tables}', encoding="utf-8")


async def test_what_rules_make_of_a_kept_page_was_dropped_for_it(tmp_path: Path) -> None:
    """/topic?as=1 was kept and /topic dropped for it: rules lead to the other, what is known leads back."""
    forms = ("/topic?as=1&n={}", "/topic?n={}", "/thread/{}")  # as they are asked for first: the last link is first
    pages = {"/": page(prose(0), *(form.format(n) for form in reversed(forms) for n in NUMBERS))}
    pages |= {form.format(n): page(prose(1 + n)) for form in forms for n in NUMBERS}
    more = {f"/topic?as={as_}&n={n}": page(prose(1 + n)) for n in NUMBERS for as_ in range(2, 8)}
    given = settings(tmp_path, DEDUP_SCOPE="spider", CONCURRENT_REQUESTS=8)
    with serve(pages) as site:
        first = await crawl(f"{site.base}/", given)
        assert len(texts(first)) == 1 + len(NUMBERS)
        written(tmp_path, RULE)
        pages["/"] = page(prose(0), *(form.format(n) for form in forms for n in NUMBERS), *more)
        pages |= more
        site.requests.clear()
        again = await crawl(f"{site.base}/", given)
        assert texts(again) == texts(first)
        assert "dedup/url/fallback" not in again.stats
        assert fetched(site) <= 2 * len(NUMBERS) + 12, "each page once, and trials"


async def test_what_rules_make_of_urls_is_sent_on_to_a_url_that_was_asked_for_already(tmp_path: Path) -> None:
    """/topic?n=1 is what rules make of others, and, for another rule, the same as the URL that was met first."""
    forms = [f"/topic?as={as_}&n={{}}" for as_ in range(6)] + ["/topic?from=a&n={}", "/topic?from=b&n={}"]
    pages = {"/": page(prose(0), *(form.format(n) for n in NUMBERS for form in forms))}
    pages |= {form.format(n): page(prose(1 + n)) for form in [*forms, "/topic?n={}"] for n in NUMBERS}
    with serve(pages) as site:
        given = settings(tmp_path, CONCURRENT_REQUESTS=8)
        written(tmp_path, RULE, SECOND)
        done = await crawl(f"{site.base}/", given)
    assert texts(done) == {prose(0), *(prose(1 + n) for n in NUMBERS)}
    assert "dedup/url/fallback" not in done.stats
