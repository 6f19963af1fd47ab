"""One trial: two pages, brought together in any order, and what follows. (In crawls: tests/crawls/test_trials.py.)"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from dedupcrawl.core.digests import NO_SECRET, Secret
from dedupcrawl.core.template import Template
from dedupcrawl.crawl import trials as trials_module
from dedupcrawl.crawl.same_page import NOWHERE, Look, is_kept_with_lines_beside, same_page
from dedupcrawl.crawl.trials import Trial, Trials
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.crawls.site import prose

ASKED, CANONICAL = "http://a.example/p?sid=1", "http://a.example/p"


def look(text: str, body: bytes = b"", secret: Secret = NO_SECRET) -> Look:
    page = Page("http://a.example/", paragraphs=(text,) if text else (), body_digest=body)
    return Look.at(Analysis(page, secret))


STORY, OTHER, SHELL = look(prose(1)), look(prose(2)), look("")


@pytest.mark.parametrize(
    ("asked", "canonical", "same"),
    [
        (STORY, look(prose(1), b"another body"), True),
        (STORY, look(prose(1) + " Read more."), True),
        (STORY, OTHER, False),
        (STORY, SHELL, False),
        (STORY, NOWHERE, False),
        (SHELL, STORY, None),
        (SHELL, SHELL, None),
        (look("", b"an image"), look("", b"an image"), True),
        (look("", b"an image"), look("", b"another"), None),
        (look(prose(1), b"body"), look(prose(2), b"body"), True),
    ],
)
def test_whether_one_page_serves_who_asked_for_the_other(asked: Look, canonical: Look, same: bool | None) -> None:
    assert same_page(asked, canonical, lambda host: Template()) is same


def furniture_of_pages(count: int) -> Template:
    """Of a host with so many pages of different titles, which have a counter in common."""
    furniture = Template()
    for number in range(count):
        analysis = Analysis(Page("http://a.example/", paragraphs=(f"Viewed {number} times", prose(10 + number))))
        analysis.learn(furniture, f"page {number}")
    return furniture


@dataclass
class Setting:
    """Trials of a site's rules, and what they have told."""

    rules: Path
    kept: dict[str, Look] = field(default_factory=dict)
    furniture: Template = field(default_factory=lambda: furniture_of_pages(5))
    passed: list[str] = field(default_factory=list)
    failed: list[tuple[str, Ruling]] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    served: bool | None = False
    dropped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        write_rules(self.rules, SiteRules("a.example", (Rule("sid", "rewrite", drop=("sid",), state="probation"),)))
        stats = get_crawler().stats
        assert stats is not None
        self.stats: StatsCollector = stats
        self.book = RuleBook(Normalizer.from_paths([self.rules]), 0.02, Random(1))
        earlier: Any = self
        self.trials = Trials(
            self.book,
            self.stats,
            earlier,
            furniture_of=lambda host: self.furniture,
            passed=lambda trial: self.passed.append(trial.url),
            failed=lambda trial, ruling: self.failed.append((trial.url, ruling)),
            undecided=lambda trial, is_again: self.undecided.append(trial.url),
        )

    def look(self, url: str) -> Look | None:
        """This, and the next, in the place of what knows earlier pages."""
        return self.kept.get(url)

    def is_served(self, url: str, canonical: str) -> bool | None:
        return self.served

    def is_dropped(self, url: str) -> bool:
        return url in self.dropped

    def begin(self, url: str = ASKED, canonical: str = CANONICAL, found: Look | None = None) -> bool:
        return self.trials.begin(Trial(url, canonical, ("sid",), found=found))

    @property
    def untold(self) -> int:
        """Trials that told nothing and are to be made up for."""
        (watched,) = self.book.watched("a.example", self.rule.source)
        return watched.untold

    @property
    def rule(self) -> Rule:
        """As it is in its file."""
        self.book.save()
        (rule,) = read_rules(self.rules / "a.example.toml").rules
        return rule


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_a_trial_that_passed_and_turns_out_to_lead_on_counts_once(setting: Setting) -> None:
    setting.begin()
    setting.trials.found(CANONICAL, STORY)
    setting.trials.asked_for(ASKED, STORY)
    assert (setting.rule.tried, setting.rule.failed) == (1, 0)
    setting.trials.settle_links(lambda _trial: True)
    assert (setting.rule.tried, setting.rule.failed) == (1, 1)


@pytest.mark.parametrize("canonical_first", [False, True])
def test_one_page_passes_in_whatever_order_the_two_come(setting: Setting, canonical_first: bool) -> None:
    assert setting.begin()
    assert setting.trials.awaits(CANONICAL)
    assert setting.trials.canonical_of(ASKED) == CANONICAL
    if canonical_first:
        setting.trials.found(CANONICAL, STORY)
        assert setting.trials.unmatched() == set()
    else:
        setting.trials.asked_for(ASKED, STORY)
        assert setting.trials.unmatched() == {CANONICAL}
    assert setting.passed == []
    setting.trials.found(CANONICAL, STORY)
    setting.trials.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([ASKED], [])
    assert not setting.trials.awaits(CANONICAL)
    assert setting.trials.canonical_of(ASKED) is None
    assert (setting.rule.tried, setting.rule.failed) == (1, 0)


def test_two_pages_fail_and_the_rule_is_revoked(setting: Setting) -> None:
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([], [(ASKED, Ruling(revoked=("sid",)))])
    assert setting.rule.state == "disabled"
    assert setting.stats.get_value("dedup/url/tried_wrong") == setting.stats.get_value("dedup/url/revoked") == 1


@pytest.mark.parametrize("served", [True, False])
def test_pages_that_differ_wait_for_what_the_content_half_says(setting: Setting, served: bool) -> None:
    setting.served = None
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    setting.trials.judged(CANONICAL, has_verdict=False)
    assert (setting.passed, setting.failed) == ([], [])
    setting.served = served
    setting.trials.judged("http://a.example/another", has_verdict=True)
    assert (setting.passed, setting.failed) == ([], [])
    setting.trials.judged(ASKED, has_verdict=True)
    assert (setting.passed == [ASKED], bool(setting.failed)) == (served, not served)


@pytest.mark.parametrize(("suspects", "is_undecided"), [((), True), ((CANONICAL,), False)])
def test_two_copies_of_one_page_speak_once_against_a_rule(
    setting: Setting, suspects: tuple[str, ...], is_undecided: bool
) -> None:
    """But where the canonical URL may have led to an error page, each who was sent there has lost a page."""
    copies = [ASKED, ASKED + "0"]
    for url in copies:
        setting.trials.begin(Trial(url, CANONICAL, ("sid",), suspects=suspects))
    setting.trials.found(CANONICAL, OTHER)
    for url in copies:
        setting.trials.asked_for(url, STORY)
    assert setting.undecided == copies[1:] * is_undecided
    assert [url for url, _ in setting.failed] == copies[: 1 if is_undecided else 2]


def test_a_page_that_the_crawl_has_by_another_url_is_not_held_against_a_rule(setting: Setting) -> None:
    setting.dropped = {ASKED}
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed, setting.undecided, setting.rule.tried) == ([], [], [ASKED], 0)


def test_two_pages_speak_twice_against_a_rule(setting: Setting) -> None:
    for url in (ASKED, ASKED + "0"):
        setting.begin(url)
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    setting.trials.asked_for(ASKED + "0", look(prose(3)))
    assert (len(setting.failed), setting.undecided) == (2, [])


def test_it_says_nothing_of_a_page_without_an_item(setting: Setting) -> None:
    setting.served = None
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    setting.trials.judged(ASKED, has_verdict=False)
    assert setting.failed


def test_what_it_has_not_judged_at_the_end_has_failed(setting: Setting) -> None:
    setting.served = None
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    assert not setting.failed
    setting.trials.settle()
    assert setting.failed


def test_a_url_is_tried_once(setting: Setting) -> None:
    assert ASKED not in setting.trials.tried
    assert setting.begin()
    assert ASKED in setting.trials.tried
    assert not setting.begin()
    setting.trials.cancel(ASKED)
    assert not setting.begin(), "nor after its end"
    assert setting.stats.get_value("dedup/url/tried") == 1


def test_so_many_at_a_time(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials_module, "_MOST_OPEN", 2)
    urls = [f"http://a.example/p?sid={n}" for n in range(3)]
    assert [setting.begin(url) for url in urls] == [True, True, False]
    setting.trials.cancel(urls[0])
    assert setting.begin(urls[2])


def test_the_page_of_one_canonical_url_ends_all_that_wait_for_it(setting: Setting) -> None:
    urls = [f"http://a.example/p?sid={n}" for n in range(4)]
    for url in urls:
        setting.begin(url)
    for url in urls[:3]:
        setting.trials.asked_for(url, STORY)
    setting.trials.found(CANONICAL, STORY)
    assert setting.passed == urls[:3]
    assert setting.trials.awaits(CANONICAL)
    setting.trials.asked_for(urls[3], STORY)
    assert setting.passed == urls


def test_a_page_that_was_answered_before_is_looked_up(setting: Setting) -> None:
    setting.kept[CANONICAL] = STORY
    setting.begin()
    setting.trials.asked_for(ASKED, STORY)
    assert setting.passed == [ASKED]


def test_what_cannot_be_compared_tells_nothing(setting: Setting) -> None:
    setting.begin()
    setting.trials.found(CANONICAL, STORY)
    setting.trials.asked_for(ASKED, SHELL)
    assert (setting.passed, setting.failed, setting.rule.tried) == ([], [], 0)
    assert not setting.trials.awaits(CANONICAL)
    assert setting.untold == 1


def test_a_url_that_has_no_page_itself_tells_nothing(setting: Setting) -> None:
    setting.begin()
    setting.trials.cancel(ASKED)
    setting.trials.found(CANONICAL, STORY)
    setting.trials.asked_for(ASKED, OTHER)
    assert (setting.passed, setting.failed, setting.rule.tried, setting.untold) == ([], [], 0, 1)


@pytest.mark.parametrize("comes", ["nothing", "the page asked for", "the canonical page"])
def test_a_trial_of_which_a_page_never_came_is_to_be_made_up_for(setting: Setting, comes: str) -> None:
    setting.begin()
    if comes == "the page asked for":
        setting.trials.asked_for(ASKED, STORY)
    elif comes == "the canonical page":
        setting.trials.found(CANONICAL, STORY)
    setting.trials.settle()
    assert (setting.passed, setting.failed, setting.untold) == ([], [], 1)


def test_what_led_nowhere_is_made_up_for_once_whatever_becomes_of_the_url_itself(setting: Setting) -> None:
    setting.begin()
    setting.trials.found(CANONICAL, NOWHERE)
    setting.trials.settle()
    assert setting.untold == 1


def test_a_trial_that_has_told_is_not_made_up_for(setting: Setting) -> None:
    setting.begin()
    setting.trials.found(CANONICAL, STORY)
    setting.trials.asked_for(ASKED, STORY)
    setting.trials.settle()
    assert (setting.passed, setting.untold) == ([ASKED], 0)


def test_a_site_that_redirects_to_the_canonical_url_says_the_same_as_the_rule(setting: Setting) -> None:
    setting.begin()
    setting.trials.redirected(ASKED)
    assert setting.passed == [ASKED]
    setting.trials.redirected("http://a.example/unknown")
    assert setting.rule.tried == 1


def test_canonical_urls_that_lead_nowhere_revoke_the_rule_after_some(setting: Setting) -> None:
    """It is no wrong trial: no page is lost by it. Before that it is tried as an equivalence."""
    became_one = 0
    urls = [f"http://a.example/{n}?sid=1" for n in range(40)]
    for url in urls:
        canonical = f"{url}2" if setting.rule.kind == "equivalence" else url.partition("?")[0]
        setting.begin(url, canonical)
        setting.trials.found(canonical, NOWHERE)
        setting.trials.asked_for(url, STORY)
        if setting.failed:
            break
        became_one += setting.rule.kind == "rewrite"
    assert setting.failed == [(url, Ruling(revoked=("sid",)))]
    assert 2 < became_one < urls.index(url) < 40
    assert setting.stats.get_value("dedup/url/tried_wrong") is None
    assert "led nowhere" in setting.rule.note


def test_the_end_of_the_crawl_ends_all(setting: Setting) -> None:
    setting.begin()
    setting.begin("http://a.example/q?sid=1", "http://a.example/q")
    setting.trials.asked_for(ASKED, STORY)
    setting.kept[CANONICAL] = STORY
    setting.trials.settle()
    assert setting.passed == [ASKED]
    assert setting.trials.unmatched() == set()
    assert not setting.trials.awaits("http://a.example/q")


def test_a_trial_under_way_tells_of_a_suspected_text_too(setting: Setting) -> None:
    assert not setting.trials.suspect(CANONICAL, (CANONICAL, "http://a.example/r"), "")
    trial = Trial(ASKED, CANONICAL, ("sid",))
    assert setting.trials.begin(trial)
    assert setting.trials.suspect(CANONICAL, (CANONICAL, "http://a.example/r"), "")
    assert trial.suspects == (CANONICAL, "http://a.example/r")


def test_pages_that_seem_to_differ_are_compared_again_once_counters_are_known(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([], []), "nothing is known of the site"
    setting.furniture = furniture_of_pages(5)
    setting.trials.asked_for(ASKED, STORY)
    assert [url for url, _ in setting.failed] == [ASKED]


def test_a_trial_that_is_put_off_again_and_again_counts_once(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.trials.asked_for(ASKED, STORY)
    for _ in range(5):
        setting.trials.found(CANONICAL, OTHER)
    setting.furniture = furniture_of_pages(5)
    setting.trials.asked_for("http://a.example/another", STORY)
    assert [url for url, _ in setting.failed] == [ASKED]


def test_what_was_put_off_is_settled_when_nothing_more_comes(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.trials.found(CANONICAL, OTHER)
    setting.trials.asked_for(ASKED, STORY)
    assert setting.failed == []
    setting.trials.settle()
    assert [url for url, _ in setting.failed] == [ASKED]


def test_counters_that_a_site_repeats_make_no_other_page() -> None:
    """A thread, and itself after its authors have written elsewhere."""

    def thread(counts: range, said: str = "Viewed {} times") -> Look:
        posts = [text for n in counts for text in (said.format(n), " ".join(prose(30 + n % 10).split()[:12]))]
        return Look.at(Analysis(Page("http://a.example/", paragraphs=tuple(posts))))

    first, second = range(10, 20), range(50, 60)
    assert same_page(thread(first), thread(second), lambda host: furniture_of_pages(5))
    levels = thread(first, "Level {} of ten"), thread(second, "Level {} of ten")
    assert not same_page(*levels, lambda host: Template())


def test_a_short_page_that_was_kept_with_lines_beside_it_is_the_same_still() -> None:
    main, lines = ("The mill is closed today.", "Ask the keeper."), ("Rye and barley wanted", "Cart to let", "Log in")
    now = Analysis(Page("http://a.example/", paragraphs=main, asides=lines))

    def kept(*paragraphs: str) -> bytes:
        return Analysis(Page("http://a.example/", paragraphs=paragraphs)).outline

    assert is_kept_with_lines_beside(kept(*main, *lines[:2]), now)
    assert is_kept_with_lines_beside(kept(*main), now)
    assert not is_kept_with_lines_beside(kept(*main, "It opens on Monday."), now), "it has lost its end"
    assert not is_kept_with_lines_beside(kept(main[0], *lines), now), "it has got one more"
