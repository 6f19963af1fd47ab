"""The detector with the default checks: pages that hold others, lie inside them, or were given back."""

from __future__ import annotations

from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.record import Skip
from dedupcrawl.verdict import Verdict
from tests.detection.judged import Crawl, Shared, prose


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
