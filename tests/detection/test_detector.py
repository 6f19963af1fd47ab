"""The detector with the default checks: pages that hold others, lists, and what a page is compared with."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import judge_batch
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Skip
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS, SECRET, Crawl, Shared, prose, text
from tests.linked import linked


def test_an_excerpt_from_the_middle_is_dropped() -> None:
    crawl = Crawl()
    text = prose(400)
    assert not crawl.judge("whole", text).is_duplicate
    verdict = crawl.judge("excerpt", text[170:330])
    assert (verdict.duplicate_of, verdict.check) == ("http://a.example/whole", "shingles")
    assert "uncovered" not in verdict.evidence


def test_a_page_that_holds_an_earlier_shorter_one_supersedes_it() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("teaser", text[120:280])
    crawl.judge("other", prose(300, 1))
    verdict = crawl.judge("whole", text)
    assert verdict.verdict == "unique"
    assert verdict.evidence == {"supersedes": ["http://a.example/teaser"]}
    assert crawl.index.superseded_by("http://a.example/teaser") == "http://a.example/whole"


def test_two_pages_of_one_template_are_both_kept_and_neither_lies_inside_the_other() -> None:
    crawl = Crawl()
    frame = prose(340)
    for number, own in enumerate((60, 75, 90)):
        verdict = crawl.judge(str(number), frame[:170] + prose(own, number + 1) + frame[170:])
        assert verdict.verdict == "unique"
        assert "supersedes" not in verdict.evidence


def test_what_is_out_of_scope_is_neither_a_keeper_nor_superseded() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("teaser", text[120:280])
    crawl.judge("first", prose(400, 1))
    crawl.detector = Detector(crawl.index, run="two", spider="another")
    assert crawl.judge("whole", text, scope="spider").evidence == {}
    assert not crawl.judge("again", prose(400, 1), scope="spider").is_duplicate


def test_a_restored_page_is_never_dropped_again() -> None:
    shared = Shared()
    shared.judge("http://a.com/1", prose(300))
    assert shared.judge("http://a.com/2", prose(300), request=b"as asked").is_duplicate
    assert shared.index.withdraw(["http://a.com/2"]) == 1
    shared.index.make_due([Skip("one", "http://a.com/2", b"as asked")])
    assert shared.judge("http://a.com/2", prose(300)).verdict == "unique"
    assert shared.index.due("one") == [], "it was fetched again"
    assert {entry.url for entry in shared.index.entries()} == {"http://a.com/1", "http://a.com/2"}
    assert shared.judge("http://a.com/2", prose(300), run="2").verdict == "unique"
    assert shared.judge("http://a.com/3", prose(300)).is_duplicate


def test_the_other_page_of_a_restored_pair_is_not_dropped_instead() -> None:
    shared = Shared()
    shared.judge("http://a.com/1", prose(300))
    shared.judge("http://a.com/2", prose(300), request=b"as asked")
    shared.index.withdraw(["http://a.com/2"])
    assert shared.judge("http://a.com/2", prose(300), run="2").verdict == "unique"
    assert shared.judge("http://a.com/1", prose(300), run="2").verdict == "unique"


def test_of_a_page_that_was_fetched_again_and_kept_it_is_not_said_any_more_that_it_is_a_duplicate() -> None:
    shared = Shared()
    shared.judge("http://a.com/1", prose(300))
    assert shared.judge("http://a.com/2", prose(300), request=b"as asked").is_duplicate
    shared.index.forget(["http://a.com/1"])
    shared.index.make_due([Skip("one", "http://a.com/2", b"as asked")])
    assert shared.judge("http://a.com/2", prose(300)).verdict == "unique"
    assert shared.index.verdict("http://a.com/2") == Verdict("http://a.com/2", "unique")


BLOG = {f"/p/{number}": text(80, number) for number in range(12)}


def post(path: str, host: str = "a.example") -> Page:
    return Page(f"http://{host}{path}", title=f"Post {path}", paragraphs=(BLOG[path],))


def crawled_blog() -> Crawl:
    crawl = Crawl()
    assert not any(crawl.meet(post(path)).is_duplicate for path in BLOG)
    return crawl


def listing(path: str, title: str, *texts: str) -> Page:
    return Page(f"http://a.example{path}", title=title, paragraphs=texts, links=linked(*BLOG))


def test_a_list_is_dropped_once_kept_pages_together_say_all_of_it() -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November at the bay", "November at the bay", *BLOG.values())
    verdict = crawl.meet(month)
    assert verdict.is_duplicate
    assert not verdict.is_sure  # later crawls fetch it, for its links
    assert verdict.duplicate_of in verdict.evidence["lists"]
    assert len(verdict.evidence["lists"]) == 12
    assert 0.99 <= verdict.evidence["covered"] < 1


def test_a_story_is_no_list_of_the_month_and_the_category_that_hold_it() -> None:
    crawl = Crawl()
    story, heading = BLOG["/p/1"], "A story of the bay and of those who went down to it"
    for path in ("/p/2", "/p/3"):
        crawl.meet(listing(path, f"Stories {path}", f"Stories {path}", story), force_keep=True)
    verdict = crawl.meet(listing("/story", heading, heading, story))
    assert verdict.evidence.get("lists")
    assert not verdict.is_duplicate


@pytest.mark.parametrize("extra", ["He who crawls reads more than others", text(240, 99)])
def test_a_list_that_says_more_than_kept_pages_is_kept_and_says_how_much_they_cover(extra: str) -> None:
    crawl = crawled_blog()
    front = listing("/", "A blog", extra, *list(BLOG.values())[:3])
    verdict = crawl.meet(front)
    assert not verdict.is_duplicate
    assert len(verdict.evidence["lists"]) == 3
    assert 0.4 <= verdict.evidence["covered"] < 1


@pytest.mark.parametrize("asked", [{"target_precision": 1.0}, {"force_keep": True}])
def test_a_list_of_kept_pages_is_kept_where_it_is_asked_for(asked: dict[str, Any]) -> None:
    crawl = crawled_blog()
    month = listing("/2026/11", "November", *BLOG.values())
    assert not crawl.meet(month, **asked).is_duplicate


def test_a_post_is_kept_beside_a_list_that_came_first_and_of_another_host_is_none_of_it() -> None:
    crawl = Crawl()
    front = listing("/", "A blog", *BLOG.values())
    assert not crawl.meet(front).is_duplicate
    for path in BLOG:
        verdict = crawl.meet(post(path))
        assert not verdict.is_duplicate
        assert verdict.evidence["listed_by"] == [front.url]
    crawl = Crawl()
    crawl.meet(front)
    assert not any("listed_by" in crawl.meet(post(path, "b.a.example")).evidence for path in BLOG)


def test_a_page_that_links_to_another_and_shares_a_notice_with_it_is_no_list_of_it() -> None:
    crawl, notice = Crawl(), text(60)
    links = linked("/story")
    crawl.meet(Page("http://a.example/", title="News", paragraphs=(notice, text(100, 1)), links=links))
    story = Page("http://a.example/story", title="A story", paragraphs=(notice, text(120, 2)))
    assert "listed_by" not in crawl.meet(story).evidence


@pytest.mark.parametrize(
    ("scope", "compared_with"),
    [
        ("run", {"run"}),
        ("spider", {"run", "spider"}),
        ("site", {"run", "site"}),
        ("all", {"run", "spider", "site", "other"}),
    ],
)
def test_a_page_is_compared_with_what_is_in_scope(scope: str, compared_with: set[str]) -> None:
    for kept, (url, spider, run) in {
        "run": ("http://www.here.com/1", "one", "1"),
        "spider": ("http://elsewhere.com/1", "one", "0"),
        "site": ("http://www.here.com/1", "two", "0"),
        "other": ("http://elsewhere.com/1", "two", "0"),
    }.items():
        shared = Shared()
        assert shared.judge(url, prose(300), spider=spider, run=run, scope=scope).verdict == "unique"
        verdict = shared.judge("http://here.com/2", prose(300), scope=scope)
        assert verdict.is_duplicate == (kept in compared_with), kept


@pytest.mark.parametrize("scope", ["run", "spider", "site", "all"])
def test_in_every_scope_the_same_url_again_is_an_update(scope: str) -> None:
    shared = Shared()
    shared.judge("http://here.com/1", prose(300), scope=scope)
    shared.judge("http://here.com/1", prose(300), scope=scope, run="2")
    assert not shared.judge("http://here.com/1", prose(300, 1), scope=scope, run="3").is_duplicate
    assert shared.index.info()["pages"] == 1
    assert not shared.judge("http://here.com/2", prose(300), scope=scope, run="3").is_duplicate, "that text is gone"


@pytest.mark.parametrize("scope", ["run", "spider", "site", "all"])
@pytest.mark.parametrize("second", ["http://here.com/1", "http://here.com/1?print=2"])
def test_in_every_scope_two_variants_of_one_run_are_two_pages(scope: str, second: str) -> None:
    shared, url = Shared(), "http://here.com/1"
    first = f"{url}?print=1"
    assert not shared.judge(first, prose(300), scope=scope, canonical=url).is_duplicate
    assert shared.judge(second, prose(300), scope=scope, canonical=url).duplicate_of == first
    assert not shared.judge(second, prose(300, 1), scope=scope, canonical=url).is_duplicate, "it has changed by now"
    assert not shared.judge(first, prose(300), scope=scope, canonical=url, run="2").is_duplicate, "an update"


def test_a_page_that_is_too_old_is_no_reason_to_drop_another(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Shared()
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    shared.judge("http://a.com/1", prose(300))
    monkeypatch.setattr(time, "time", lambda: 1060.0)
    assert shared.judge("http://a.com/2", prose(300), ttl=60).duplicate_of == "http://a.com/1"
    monkeypatch.setattr(time, "time", lambda: 1061.0)
    assert not shared.judge("http://a.com/3", prose(300), ttl=60).is_duplicate
    assert shared.judge("http://a.com/4", prose(300), ttl=60).duplicate_of == "http://a.com/3"
    assert shared.judge("http://a.com/5", prose(300)).is_duplicate


def test_a_page_that_takes_a_variants_place_is_not_said_to_supersede_it() -> None:
    shared, url, whole = Shared(), "http://here.com/1", prose(600)
    assert not shared.judge(f"{url}?print=1", whole[:300], canonical=url).is_duplicate
    shared.judge("http://here.com/list", [*prose(300, 7), *whole[:300]])
    assert not shared.judge(url, whole, canonical=url).is_duplicate
    assert shared.index.superseded_by(url) is None


def test_a_page_is_judged_though_its_keeper_is_kept_anew_meanwhile() -> None:
    """It is dropped for the keeper as that is now; it was searched for again and again, and the old one found."""
    index = TemporaryIndex(CHECKS, SECRET)
    detector, asked = (
        Detector(index, spider="one", run="1"),
        Asked(CHECKS, "all", None, None, request=lambda: b"request"),
    )

    def outcomes(*urls: str) -> list[str]:
        pages = [Analysis(Page(url, paragraphs=(text(200),)), SECRET) for url in urls]
        return [verdict.verdict for verdict in judge_batch(index, [detector.steps(page, asked) for page in pages])]

    assert outcomes("http://a.example/kept") == ["unique"]
    assert outcomes("http://a.example/kept", "http://a.example/copy") == ["unique", "duplicate"]
