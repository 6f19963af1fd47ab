"""The detector with the default checks: what a user gets of a page that holds another or lies inside it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace

import mmh3
import pytest

from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.content.probability import DOUBTED_PRECISION, threshold
from dedupcrawl.content.site_template import SiteTemplate
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.detection.trust import EVERYBODY, Trust
from dedupcrawl.index.contract import Dependent
from dedupcrawl.index.memory import MemoryIndex
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

CHECKS = make_checks(DEFAULT_CHECKS, {})


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(count)]


class Crawl:
    """Judges texts in turn; each has a page of its own."""

    def __init__(self) -> None:
        self.index = MemoryIndex(CHECKS)
        self.detector = Detector(self.index, run="one")

    def judge(self, name: str, words: list[str], scope: str = "run") -> Verdict:
        page = Page(f"http://a.example/{name}", paragraphs=(" ".join(words),))
        return self.detector.judge(Analysis(page), CHECKS, scope=scope)


def test_an_excerpt_from_the_middle_is_dropped() -> None:
    crawl = Crawl()
    text = prose(400)
    assert not crawl.judge("whole", text).is_duplicate
    verdict = crawl.judge("excerpt", text[170:330])
    assert (verdict.duplicate_of, verdict.check) == ("http://a.example/whole", "shingles")
    assert verdict.evidence["covered"] == 1


def test_a_page_edited_all_over_is_dropped() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("first", text)
    chance = random.Random(3)
    places = set(chance.sample(range(400), 40))
    edited = ["edited" + word[:3] if place in places else word for place, word in enumerate(text)]
    assert crawl.judge("edited", edited).duplicate_of == "http://a.example/first"


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
        assert verdict.evidence == {}


def test_what_is_out_of_scope_is_neither_a_keeper_nor_superseded() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("teaser", text[120:280])
    crawl.judge("first", prose(400, 1))
    crawl.detector = Detector(crawl.index, run="two", spider="another")
    assert crawl.judge("whole", text, scope="spider").evidence == {}
    assert not crawl.judge("again", prose(400, 1), scope="spider").is_duplicate


def framed(own: str, main: str = "") -> Page:
    """A page whose own text stands in a box that is named as if it were none."""
    markup = f"<body><main><p>{main}</main><div class=sidebar><h1>News</h1><p>{own}</div></body>"
    return extract(markup, f"http://a.example/{mmh3.hash(own)}")


def test_no_page_is_dropped_because_of_a_template_alone() -> None:
    crawl = Crawl()
    notice = " ".join(prose(200))
    for seed in range(1, 12):
        page = framed(" ".join(prose(30, seed)), notice)
        assert page.paragraphs == (notice,)
        assert not crawl.detector.judge(Analysis(page), CHECKS).is_duplicate, seed


def test_the_same_text_in_the_same_template_is_found_before_and_after_it_is_known() -> None:
    crawl = Crawl()
    notice = " ".join(prose(200))
    for seed in range(1, 12):
        page = framed(" ".join(prose(30, seed)), notice)
        crawl.detector.judge(Analysis(page), CHECKS)
        again = replace(page, url=f"{page.url}?again")
        assert crawl.detector.judge(Analysis(again), CHECKS).duplicate_of == page.url, seed


def test_what_stands_in_little_elsewhere_does_not_hide_a_duplicate() -> None:
    crawl = Crawl()
    text = " ".join(prose(200))
    crawl.detector.judge(Analysis(framed("Viewed 12 times today", text)), CHECKS)
    again = framed("Viewed 13 times since yesterday morning", text)
    assert crawl.detector.judge(Analysis(again), CHECKS).is_duplicate


def test_on_another_site_what_stands_around_a_text_is_another_frame() -> None:
    crawl = Crawl()
    page = framed(" ".join(prose(30, 1)), " ".join(prose(200)))
    crawl.detector.judge(Analysis(page), CHECKS)
    reprint = replace(framed(" ".join(prose(30, 2)), " ".join(prose(200))), url="http://b.example/")
    assert crawl.detector.judge(Analysis(reprint), CHECKS).duplicate_of == page.url


REPORT = """
The court heard on Monday that the man who kept the bakery at the corner of the market had taken a clock from the town
hall. Witnesses said that he was seen near the stairs in the evening, that he carried something under his coat, and that
he would not stop when he was called. The jury came back after an hour and found that he was guilty of the charge. The
judge said that she would hear from both sides before she decided what was to follow, and that the clock should be put
back where it had hung for as long as anybody in the town could remember.
"""


def changed(**words: str) -> list[str]:
    return [part for word in REPORT.split() for part in words.get(word, word).split()]


@pytest.mark.parametrize(
    "other",
    [
        changed(guilty="not guilty"),
        changed(Monday="Friday", bakery="brewery", hour="instant"),
        changed(man="woman", bakery="brewery"),
    ],
)
def test_what_another_page_says_in_nearly_the_same_words_is_kept(other: list[str]) -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    assert not crawl.judge("other", other).is_duplicate


def test_the_evidence_shows_the_pieces_that_differ() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("first", text)
    verdict = crawl.judge("edited", [*text[:100], "here", *text[101:200], *text[201:300], "and", "there", *text[300:]])
    assert verdict.is_duplicate
    assert verdict.evidence["probability"] > 0.9
    assert verdict.evidence["differs"] == [
        {"at": 100, "says": "here", "kept_symbols": 1},
        {"at": 200, "says": "", "kept_symbols": 1},
        {"at": 299, "says": "and there", "kept_symbols": 0},
    ]


def test_how_sure_to_be_is_a_setting() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    other = changed(bakery="brewery")
    page = Page("http://a.example/other", paragraphs=(" ".join(other),))
    assert not crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9999).is_duplicate
    assert crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9).is_duplicate


def test_what_is_let_through_in_doubt_is_recorded_with_the_page_that_it_resembles() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    page = Page("http://a.example/other", paragraphs=(" ".join(changed(bakery="brewery")),))
    verdict = crawl.detector.judge(Analysis(page), CHECKS, target_precision=0.9999)
    assert verdict.verdict == "unique"
    doubt = verdict.evidence["in_doubt"]
    assert doubt["url"] == "http://a.example/first"
    assert doubt["probability"] >= threshold(DOUBTED_PRECISION)
    assert doubt["differs"] == [{"at": 11, "says": "brewery", "kept_symbols": 1}]
    assert crawl.index.verdict(page.url) == verdict
    assert list(crawl.index.verdicts()) == [verdict]


def test_what_is_plainly_another_page_is_not_in_doubt() -> None:
    crawl = Crawl()
    crawl.judge("first", REPORT.split())
    assert crawl.judge("other", changed(guilty="not guilty", man="woman", clock="ladder", judge="mayor")).evidence == {}
    assert not list(crawl.index.verdicts())


class Shared:
    """An index that several crawls share."""

    def __init__(self) -> None:
        self.index = MemoryIndex(CHECKS)

    def judge(
        self,
        url: str,
        text: list[str],
        *,
        spider: str = "one",
        run: str = "1",
        scope: str = "all",
        trust: Trust = EVERYBODY,
        ttl: float | None = None,
        quota: int | None = None,
        request: bytes = b"",
    ) -> Verdict:
        detector = Detector(self.index, spider=spider, run=run, trust=trust)
        page = Page(url, paragraphs=(" ".join(text),))
        packed = (lambda: request) if request else None
        verdict = detector.judge(Analysis(page), CHECKS, scope=scope, ttl=ttl, quota=quota, request=packed)
        detector.close()
        return verdict


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


def test_copies_out_of_scope_do_not_hide_the_one_in_scope() -> None:
    shared = Shared()
    for number in range(9):
        shared.judge(f"http://site-{number}.com/", prose(300), scope="site")
    shared.judge("http://here.com/1", prose(300), scope="site")
    for number in range(10, 19):
        shared.judge(f"http://site-{number}.com/", prose(300), scope="site")
    assert shared.judge("http://here.com/2", prose(300), scope="site").duplicate_of == "http://here.com/1"


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


def falsified(text: list[str]) -> list[str]:
    """Something added, inside and at the end."""
    return [*text[:100], "bought", *text[100:], *prose(150, 9)]


def test_who_is_not_trusted_cannot_take_the_place_of_another_site() -> None:
    text = prose(300)
    for trust, taken in ((Trust(["evil.com"]), True), (EVERYBODY, True), (Trust(["a.com"]), False)):
        shared = Shared()
        shared.judge("http://evil.com/copy", falsified(text), trust=trust)
        assert shared.judge("http://a.com/article", text, trust=trust).is_duplicate == taken


def test_of_who_is_not_trusted_the_identical_text_will_do() -> None:
    shared = Shared()
    shared.judge("http://mirror.com/1", prose(300), trust=Trust([]))
    verdict = shared.judge("http://a.com/1", prose(300), trust=Trust([]))
    assert (verdict.duplicate_of, verdict.check) == ("http://mirror.com/1", "exact")


def test_one_word_for_another_and_nothing_else_in_a_long_text_is_no_edit() -> None:
    crawl = Crawl()
    text = prose(400)
    crawl.judge("first", text)
    assert not crawl.judge("other", [*text[:170], "another", *text[171:]]).is_duplicate


def test_many_forgeries_do_not_hide_the_page_that_is_trusted() -> None:
    shared, text, trust = Shared(), prose(300), Trust(["a.com"])
    for number in range(9):
        shared.judge(f"http://evil{number}.com/", [*text, f"more{number}"], trust=trust, scope="all")
    shared.judge("http://a.com/1", text, trust=trust)
    for number in range(9):
        shared.judge(f"http://evil{number}.org/", [*text, f"more{number}"], trust=trust)
    assert shared.judge("http://a.com/2", [*text, "another"], trust=trust).duplicate_of == "http://a.com/1"


def test_a_site_fills_no_more_than_its_quota() -> None:
    shared = Shared()
    for number in range(3):
        assert shared.judge(f"http://a.com/{number}", prose(200, number), quota=3).verdict == "unique"
    over = shared.judge("http://www.a.com/3", prose(200, 3), quota=3)
    assert (over.verdict, over.evidence) == ("abstained", {"site_quota": 3})
    assert shared.index.info()["pages"] == 3
    assert shared.judge("http://a.com/0", prose(200, 0), quota=3).verdict == "unique", "an update takes no room"
    assert shared.judge("http://b.com/0", prose(200, 4), quota=3).verdict == "unique"
    assert shared.judge("http://a.com/4", prose(200, 4), quota=None).is_duplicate


def test_a_restored_page_is_never_dropped_again() -> None:
    shared = Shared()
    shared.judge("http://a.com/1", prose(300))
    assert shared.judge("http://a.com/2", prose(300), request=b"as asked").is_duplicate
    assert shared.index.withdraw(["http://a.com/2"], refetch=True) == 1
    assert [orphan.request for orphan in shared.index.orphans("one")] == [b"as asked"]
    assert shared.judge("http://a.com/2", prose(300)).verdict == "unique"
    assert shared.index.orphans("one") == [], "it was fetched again"
    assert {entry.url for entry in shared.index.entries()} == {"http://a.com/1", "http://a.com/2"}
    assert shared.judge("http://a.com/2", prose(300), run="2").verdict == "unique"
    assert shared.judge("http://a.com/3", prose(300)).is_duplicate


def test_the_other_page_of_a_restored_pair_is_not_dropped_instead() -> None:
    shared = Shared()
    shared.judge("http://a.com/1", prose(300))
    shared.judge("http://a.com/2", prose(300), request=b"as asked")
    shared.index.withdraw(["http://a.com/2"], refetch=True)
    assert shared.judge("http://a.com/2", prose(300), run="2").verdict == "unique"
    assert shared.judge("http://a.com/1", prose(300), run="2").verdict == "unique"


class Site:
    """Judges pages of paragraphs, of one host after the other."""

    def __init__(self, index: MemoryIndex | None = None) -> None:
        self.index = index or MemoryIndex(CHECKS)
        self.detector = Detector(self.index, run="one")

    def judge(self, url: str, *paragraphs: list[str]) -> Verdict:
        page = Page(f"http://{url}", paragraphs=tuple(" ".join(words) for words in paragraphs))
        return self.detector.judge(Analysis(page), CHECKS)

    def fill(self, host: str, template: list[list[str]], first: int = 100) -> None:
        """Pages enough for their template to be known."""
        for number in range(6):
            assert not self.judge(f"{host}/{number}", *template, prose(150, first + number)).is_duplicate


MENU, FOOT = prose(160, 90), prose(150, 91)


class TestTemplateOfASite:
    @pytest.mark.parametrize("length", [10, 30])
    def test_own_text_in_an_empty_template_is_kept(self, length: int) -> None:
        before, after = Site(), Site()
        after.fill("a.example", [MENU, FOOT])
        for site in (before, after):
            site.judge("a.example/empty", MENU, FOOT)
        own = prose(length, 5)
        assert before.judge("a.example/own", MENU, own, FOOT).is_duplicate
        verdict = after.judge("a.example/own", MENU, own, FOOT)
        assert (verdict.verdict, verdict.evidence["template_blocks"]) == ("unique", 2)

    def test_a_reprint_in_another_layout_is_dropped(self) -> None:
        site = Site()
        site.fill("a.example", [MENU, FOOT])
        site.fill("b.example", [prose(70, 92), prose(80, 93)], first=200)
        story = prose(90, 6)
        assert not site.judge("a.example/story", MENU, story, FOOT).is_duplicate
        verdict = site.judge("b.example/story", prose(70, 92), story, prose(80, 93))
        assert verdict.duplicate_of == "http://a.example/story"
        assert verdict.evidence["template_blocks"] == 2
        assert (verdict.evidence["symbols"], verdict.evidence["covered"]) == (90, 1)

    def test_so_is_one_of_a_page_that_was_kept_before_its_template_was_known(self) -> None:
        site = Site()
        story = prose(90, 6)
        site.judge("a.example/story", MENU, story, FOOT)
        site.fill("a.example", [MENU, FOOT])
        site.fill("b.example", [prose(70, 92), prose(80, 93)], first=200)
        verdict = site.judge("b.example/story", prose(70, 92), story, prose(80, 93))
        assert verdict.duplicate_of == "http://a.example/story"

    def test_all_checks_find_a_page_by_its_own_text_though_it_was_kept_before_its_template_was_known(self) -> None:
        site = Site()
        story = prose(90, 6)
        site.judge("a.example/story", MENU, story, FOOT)
        early = site.index.entry("http://a.example/story")
        site.fill("a.example", [MENU, FOOT])
        kept = site.index.entry("http://a.example/story")
        site.judge("a.example/later", MENU, prose(90, 7), FOOT)
        assert early is not None
        assert kept is not None
        alone = Reading.of(Analysis(Page("http://x", paragraphs=(" ".join(story),))), SiteTemplate()).signatures(CHECKS)
        assert {name for name in alone if kept.signatures[name] == alone[name]} == alone.keys() - {"exact"}
        assert not {name for name in alone if early.signatures[name] == alone[name]}
        assert (kept.outline, kept.kept_at) == (early.outline, early.kept_at)

    def test_what_was_forgotten_is_not_read_again(self) -> None:
        site = Site()
        site.judge("a.example/story", MENU, prose(90, 6), FOOT)
        site.index.forget(["http://a.example/story"])
        site.fill("a.example", [MENU, FOOT])
        assert site.index.entry("http://a.example/story") is None

    def test_pages_that_differ_in_one_repeated_cell_are_kept(self) -> None:
        """Both cells recur, so that nothing else is left of the pages."""
        site = Site()
        sizes = [prose(8, 400 + number) for number in range(3)]
        for number in range(18):
            site.judge(f"shop.example/{number}", MENU, sizes[number % 3], prose(60, 300 + number), FOOT)
        text = prose(60, 7)
        assert not site.judge("shop.example/one", MENU, sizes[0], text, FOOT).is_duplicate
        assert not site.judge("shop.example/other", MENU, sizes[1], text, FOOT).is_duplicate
        assert site.judge("shop.example/same", MENU, sizes[1], text, FOOT).check == "exact"

    def test_the_differing_words_are_shown_where_they_stand(self) -> None:
        site = Site()
        site.fill("a.example", [MENU, FOOT])
        story = prose(300, 8)
        site.judge("a.example/one", MENU, story, FOOT)
        verdict = site.judge("a.example/two", MENU, [*story[:150], "another", *story[150:]], FOOT)
        assert verdict.is_duplicate
        assert verdict.evidence["differs"] == [{"at": 160 + 150, "says": "another", "kept_symbols": 0}]

    def test_of_pages_of_nothing_but_template_or_hardly_more_only_equal_ones_are_duplicates(self) -> None:
        site = Site()
        site.fill("a.example", [MENU, FOOT])
        assert not site.judge("a.example/empty", MENU, FOOT).is_duplicate
        assert site.judge("a.example/void", MENU, FOOT).check == "exact"
        site.judge("a.example/short", MENU, ["hello"], FOOT)
        assert site.judge("a.example/also", MENU, ["hello"], FOOT).check == "exact"

    def test_what_is_republished_or_crawled_again_is_no_template(self) -> None:
        site = Site()
        story = prose(200, 9)
        for turn in range(9):
            site.judge("a.example/story", story)
            site.judge(f"a.example/copy{turn}", story)
        assert "template_blocks" not in site.judge("a.example/new", story, prose(200, 10)).evidence

    def test_a_later_run_knows_it(self) -> None:
        site = Site()
        site.fill("a.example", [MENU, FOOT])
        site.detector.close()
        later = Site(site.index).judge("a.example/own", MENU, prose(40, 5), FOOT)
        assert later.evidence["template_blocks"] == 2

    def test_own_text_in_a_very_long_template_is_kept_once_that_is_known(self) -> None:
        """Until then such pages are dropped, and tell all the same what their site repeats."""
        site = Site()
        top, bottom = prose(1500, 95), prose(1500, 96)
        verdicts = [site.judge(f"a.example/{number}", top, prose(40, 500 + number), bottom) for number in range(12)]
        assert [verdict.is_duplicate for verdict in verdicts] == [False] + [True] * 4 + [False] * 7

    def test_a_dropped_page_that_is_crawled_again_counts_once(self) -> None:
        site = Site()
        story = prose(600, 97)
        site.judge("a.example/story", story)
        for _ in range(9):
            assert site.judge("a.example/framed", story, prose(30, 98)).is_duplicate
        assert "template_blocks" not in site.judge("a.example/new", story, prose(600, 99)).evidence


def test_a_page_that_was_fetched_again_is_no_orphan_whatever_was_said_of_it() -> None:
    shared = Shared()
    shared.index.refetch([Dependent("one", "http://a.com/short", b""), Dependent("one", "http://a.com/over", b"")])
    assert shared.judge("http://a.com/short", []).verdict == "abstained"
    assert shared.judge("http://a.com/over", prose(300), quota=0).verdict == "abstained"
    assert shared.index.orphans("one") == []


def test_what_a_site_repeats_is_stored_even_when_a_quota_cannot_be() -> None:
    class Full(MemoryIndex):
        def update_site_state(self, site: str, name: str, change: Callable[[bytes | None], bytes]) -> bytes:
            if name == "pages":
                raise OSError("no space left on device")
            return super().update_site_state(site, name, change)

    index = Full(CHECKS)
    detector = Detector(index, run="one")
    detector.judge(Analysis(framed(" ".join(prose(30, 1)))), CHECKS)
    with pytest.raises(OSError, match="no space"):
        detector.close()
    assert SiteTemplates(index).of("a.example").pages == 1
