"""What a site repeats neither makes duplicates nor hides them, and is kept for many hosts within bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.detection import site_templates
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.detector import Detector
from dedupcrawl.detection.site_templates import SiteTemplates
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Skip
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS, Crawl, framed, prose, text


def test_no_page_is_dropped_because_of_a_template_alone_and_its_copy_is_before_and_after_it_is_known() -> None:
    crawl, notice = Crawl(), text(200)
    for seed in range(1, 12):
        page = framed(text(30, seed), notice)
        assert page.paragraphs == (notice,)
        assert not crawl.meet(page).is_duplicate, seed
        assert crawl.meet(page.replace(url=f"{page.url}?again")).duplicate_of == page.url, seed


def test_what_stands_in_little_elsewhere_does_not_hide_a_duplicate() -> None:
    crawl, story = Crawl(), text(200)
    first, again = (
        framed(viewed, story).replace(title=story[:30])
        for viewed in ("Viewed 12 times today", "Viewed 13 times since yesterday")
    )
    crawl.meet(first)
    assert crawl.meet(again).is_duplicate


class Site(Crawl):
    """Judges pages of paragraphs, of one host after the other."""

    def page(self, url: str, *paragraphs: list[str], **asked: Any) -> Verdict:
        page = Page(f"http://{url}", paragraphs=tuple(" ".join(words) for words in paragraphs))
        return self.meet(page, request=url.encode, **asked)

    def fill(self, host: str, template: list[list[str]], first: int = 100) -> None:
        """Pages enough for their template to be known."""
        for number in range(6):
            assert not self.page(f"{host}/{number}", *template, prose(150, first + number)).is_duplicate


def product(number: int, said: str = "") -> Page:
    """A page of a shop all of whose lines stand on other pages of it as well, but for a name and a price."""
    sheet = (
        "Case pack",
        "1",
        "Origin",
        "Japan",
        "Blade",
        "Serrated edge",
        "Lock",
        "Lock back",
        "Handle",
        "Steel, polished",
    )
    name = f"Pocket knife {prose(1, number)[0]} no. {number}"
    listed = [line for at, line in enumerate(sheet) if at // 2 != number % 5]
    paragraphs = (
        said,
        name,
        f"${number}.47",
        "In stock, sent on the next working day",
        *listed,
        "We ship to most places",
    )
    return Page(
        f"http://a.example/{number}?{said}", title=f"{name} – Knives", paragraphs=tuple(filter(None, paragraphs))
    )


def test_a_product_of_which_a_name_is_its_own_is_found_by_its_title() -> None:
    crawl = Crawl()
    for number in range(30):
        assert not crawl.meet(product(number)).is_duplicate, number
    again = crawl.meet(product(25, "Ships today"))
    assert (again.duplicate_of, again.check) == (product(25).url, "title")


MENU, FOOT = prose(160, 90), prose(150, 91)


@pytest.mark.parametrize("length", [8, 11])
def test_own_text_in_an_empty_template_is_kept(length: int) -> None:
    before, after = Site(), Site()
    after.fill("a.example", [MENU, FOOT])
    for site in (before, after):
        site.page("a.example/empty", MENU, FOOT)
    own = prose(length, 5)
    assert not before.page("a.example/own", MENU, own, FOOT).is_duplicate
    verdict = after.page("a.example/own", MENU, own, FOOT)
    assert (verdict.verdict, verdict.evidence["template_blocks"]) == ("unique", 2)


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "known later"])
def test_a_reprint_in_another_layout_is_dropped(is_known: bool) -> None:
    site, story = Site(), prose(90, 6)
    frame = [prose(70, 92), prose(80, 93)]
    if is_known:
        site.fill("a.example", [MENU, FOOT])
    assert not site.page("a.example/story", MENU, story, FOOT).is_duplicate
    if not is_known:
        site.fill("a.example", [MENU, FOOT])
    site.fill("b.example", frame, first=200)
    verdict = site.page("b.example/story", frame[0], story, frame[1])
    assert verdict.duplicate_of == "http://a.example/story"
    assert verdict.evidence["symbols"] == 90
    assert "uncovered" not in verdict.evidence


def test_all_checks_find_a_page_by_its_own_text_though_it_was_kept_before_its_template_was_known() -> None:
    site = Site()
    story = prose(90, 6)
    site.page("a.example/story", MENU, story, FOOT)
    early = site.index.entry("http://a.example/story")
    site.fill("a.example", [MENU, FOOT])
    kept = site.index.entry("http://a.example/story")
    site.page("a.example/later", MENU, prose(90, 7), FOOT)
    assert early is not None
    assert kept is not None
    own = Analysis(Page("http://a.example/story", paragraphs=(" ".join(story),)), site.index.secret)
    alone = Reading.of(own, Template()).signatures(CHECKS)
    assert {name for name in alone if kept.signatures[name] == alone[name]} == alone.keys() - {"exact"}
    assert not {name for name in alone if early.signatures[name] == alone[name]}
    assert (kept.outline, kept.kept_at) == (early.outline, early.kept_at)


def test_a_page_kept_before_its_template_was_known_is_marked_as_what_it_is() -> None:
    site = where_a_story_stands_in_two_templates()
    site.fill("a.example", [MENU, FOOT])
    marked = site.index.verdict("http://a.example/story?print")
    assert marked is not None
    assert (marked.duplicate_of, marked.evidence["judged_again"]) == ("http://a.example/story", True)
    assert site.index.verdict("http://a.example/story") is None, "the earlier page stays"
    assert site.index.entry(marked.url) is not None, "it was stored"
    assert site.detector.wrongly_dropped() == []


def test_a_restored_page_is_not_marked() -> None:
    site = where_a_story_stands_in_two_templates()
    url = "http://a.example/story?print"
    site.index.record(Verdict(url, "duplicate", "http://a.example/story"), run="", site="a.example")
    assert site.index.withdraw([url]) == 1
    site.fill("a.example", [MENU, FOOT])
    assert site.index.verdict(url) is None


def test_a_page_dropped_before_its_template_was_known_is_asked_for_again_once_and_its_equal_stays_dropped() -> None:
    """Lists without entries: all that they say stands on any other page."""
    site = Site()
    assert not site.page("a.example/story", MENU, prose(60, 6), FOOT).is_duplicate
    for name in ("empty", "void"):
        assert site.page(f"a.example/{name}", MENU, FOOT).is_duplicate
    assert site.detector.wrongly_dropped() == []
    site.fill("a.example", [MENU, FOOT])
    told = site.detector.wrongly_dropped()
    urls = ["a.example/empty", "a.example/void"]
    assert [(one.url, one.request) for one in told] == [(f"http://{url}", url.encode()) for url in urls]
    assert site.detector.wrongly_dropped() == [], "told once"
    assert site.index.due("") == told, "another process asks for it, should this one end"
    assert not site.page("a.example/empty", MENU, FOOT).is_duplicate
    assert site.page("a.example/void", MENU, FOOT).check == "exact"
    for number in range(6):  # more turns out to recur
        site.page(f"a.example/more{number}", MENU, prose(70, 500), prose(60, 600 + number), FOOT)
    assert site.detector.wrongly_dropped() == []


def test_an_index_that_fails_meanwhile_puts_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    site.page("a.example/story", MENU, prose(60, 6), FOOT)
    site.page("a.example/empty", MENU, FOOT)
    make_due = site.index.make_due
    failures = iter([OSError("away"), None])

    def fails_once(due: Iterable[Skip]) -> None:
        if (failure := next(failures)) is not None:
            raise failure
        make_due(due)

    monkeypatch.setattr(site.index, "make_due", fails_once)
    for number in range(4):
        site.page(f"a.example/{number}", MENU, prose(150, 100 + number), FOOT)
    with pytest.raises(OSError, match="away"):
        site.page("a.example/4", MENU, prose(150, 104), FOOT)
    assert site.detector.wrongly_dropped() == []
    site.page("a.example/4", MENU, prose(150, 104), FOOT)
    assert [one.url for one in site.detector.wrongly_dropped()] == ["http://a.example/empty"]


def test_two_pages_are_not_each_other_s_duplicates() -> None:
    site = where_a_story_stands_in_two_templates()
    site.fill("a.example", [MENU, FOOT])
    assert not site.page("a.example/story", prose(60, 7), FOOT).is_duplicate
    assert site.index.verdict("http://a.example/story") is None


def where_a_story_stands_in_two_templates() -> Site:
    site = Site()
    assert not site.page("a.example/story", prose(60, 7), FOOT).is_duplicate
    assert not site.page("a.example/story?print", MENU, prose(60, 7), FOOT).is_duplicate
    return site


def test_of_pages_of_nothing_but_template_or_hardly_more_only_equal_ones_are_duplicates() -> None:
    site = Site()
    site.fill("a.example", [MENU, FOOT])
    assert not site.page("a.example/empty", MENU, FOOT).is_duplicate
    assert site.page("a.example/void", MENU, FOOT).check == "exact"
    site.page("a.example/short", MENU, ["hello"], FOOT)
    assert site.page("a.example/also", MENU, ["hello"], FOOT).check == "exact"


def test_what_is_republished_or_crawled_again_is_no_template() -> None:
    site, kept, dropped = Site(), prose(200, 9), prose(600, 97)
    site.page("a.example/long", dropped)
    for turn in range(9):
        site.page("a.example/story", kept)
        site.page(f"a.example/copy{turn}", kept)
        assert site.page("a.example/again", dropped).is_duplicate
    for story in (kept, dropped):
        assert "template_blocks" not in site.page("a.example/new", story, prose(600, 99)).evidence


def test_own_text_in_a_very_long_template_is_kept() -> None:
    site = Site()
    top, bottom = prose(1500, 95), prose(1500, 96)
    verdicts = [site.page(f"a.example/{number}", top, prose(25, 500 + number), bottom) for number in range(12)]
    assert not any(verdict.is_duplicate for verdict in verdicts)


ONLY_EXACT = make_checks(["exact"], {})


def learn(templates: SiteTemplates, host: str, blocks: Collection[int], title: str) -> None:
    """Count a page that has these blocks: its links."""
    templates.learn(host, Analysis(Page(f"http://{host}/", links=blocks)), title)


def learned(templates: SiteTemplates, host: str, pages: int, *blocks: int, first: int = 1000) -> None:
    for page in range(pages):
        learn(templates, host, {*blocks, first + page}, f"{first + page}")


def test_a_later_process_knows_what_was_learned(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path, ONLY_EXACT)
    templates = SiteTemplates(index)
    learned(templates, "a.example", 7, 1, 2)
    templates.store()
    index.close()
    again = SiteTemplates(LmdbIndex(tmp_path, ONLY_EXACT))
    assert again.of("a.example").recurring([1, 2, 3]) == [True, True, False]
    assert again.of("a.example").pages == 7


def test_a_site_that_is_crawled_again_and_again_is_no_template(tmp_path: Path) -> None:
    blocks = set[int]()
    for run in range(2 * RECURRING):
        index = LmdbIndex(tmp_path, ONLY_EXACT)
        detector = Detector(index, run=f"{run}")
        for number in range(3):
            page = Page(f"http://a.example/{number}", title=f"Post {number}", paragraphs=(text(60, number),))
            analysis = Analysis(page, index.secret)
            blocks.update(analysis.text.block_hashes)
            detector.judge(analysis, ONLY_EXACT)
        detector.close()
        index.close()
    template = SiteTemplates(LmdbIndex(tmp_path, ONLY_EXACT)).of("a.example")
    assert template.pages == 3
    assert not any(template.recurring(blocks))


LEARNED = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 12), max_size=6), st.booleans()), max_size=40)


@given(LEARNED)
def test_no_count_is_too_high_and_one_process_alone_counts_all_that_is_on_several(
    pages: list[tuple[bool, set[int], bool]],
) -> None:
    """Whose page it is, what stands on it, and whether it is stored then."""
    index = TemporaryIndex(ONLY_EXACT)
    both = SiteTemplates(index), SiteTemplates(index)
    truth, by = Counter[int](), {is_other: Counter[int]() for is_other in (False, True)}
    for number, (is_other, blocks, stores) in enumerate(pages):
        learn(both[is_other], "a.example", blocks, f"{number}")
        truth.update(blocks)
        by[is_other].update(blocks)
        if stores:
            both[is_other].store()
    for one in both:
        one.store()
    stored = SiteTemplates(index).of("a.example")
    index.close()
    assert stored.pages == len(pages)
    for block, count in truth.items():
        assert sum(seen for one in by.values() if (seen := one[block]) > 1) <= stored.count(block) <= count


@pytest.mark.parametrize("limit", ["_HOSTS_IN_MEMORY", "_BLOCKS_IN_MEMORY"])
def test_hosts_make_room_for_others_and_are_found_again(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(site_templates, limit, 3)
    templates = SiteTemplates(TemporaryIndex(ONLY_EXACT))
    for turn in range(6):
        for host in range(8):
            learn(templates, f"{host}.example", {host, 100 + turn}, f"{turn}")
            assert len(templates._known) <= 3
    for host in range(8):  # of their blocks none was met twice between two visits
        assert templates.of(f"{host}.example").pages == 6
