"""One audit: two pages, brought together in any order, and what follows. (In crawls: tests/crawls/test_trials.py.)"""

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
from dedupcrawl.crawl import audits as audits_module
from dedupcrawl.crawl.audit import Audit
from dedupcrawl.crawl.audits import Audits
from dedupcrawl.crawl.discoveries import Discoveries
from dedupcrawl.crawl.same_page import NOWHERE, Look
from dedupcrawl.crawl.url_set import Fetched
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


def furniture_of_pages(count: int) -> Template:
    """Of a host with so many pages of different titles, which have a counter in common."""
    furniture = Template()
    for number in range(count):
        analysis = Analysis(Page("http://a.example/", paragraphs=(f"Viewed {number} times", prose(10 + number))))
        analysis.learn(furniture, f"page {number}")
    return furniture


class Led(Discoveries):
    """Says what only the page of a URL has led to."""

    more: tuple[str, ...] = ()

    def only_on(self, url: str) -> list[str]:
        return [*self.more]


class Telling(RuleBook):
    """Counts what told nothing."""

    untold = 0

    def tells_nothing(self, url: str, rules: tuple[str, ...]) -> None:
        self.untold += 1
        super().tells_nothing(url, rules)


@dataclass
class Setting:
    """Audits of a site's rules, and what they have told; itself in the place of all that they ask and tell."""

    rules: Path
    kept: dict[str, Look] = field(default_factory=dict)
    furniture: Template = field(default_factory=lambda: furniture_of_pages(5))
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    ruled: list[Ruling] = field(default_factory=list)
    given_back: set[str] = field(default_factory=set)
    served: bool | None = False
    dropped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        write_rules(self.rules, SiteRules("a.example", (Rule("sid", "rewrite", drop=("sid",), state="probation"),)))
        self.chance, self.fetched, self.folder, self.detector = Random(1), Fetched(), None, self
        self.discoveries, self.rewrites, self.earlier = Led(), self, self
        stats = get_crawler().stats
        assert stats is not None
        self.stats: StatsCollector = stats
        self.book = Telling(Normalizer.from_paths([self.rules], tries=True), 0.02, Random(1))
        me: Any = self
        self.audits = Audits(me, me, me, me)

    def furniture_of(self, host: str) -> Template:
        return self.furniture

    def look(self, url: str) -> Look | None:
        return self.kept.get(url)

    def is_served(self, url: str, canonical: str) -> bool | None:
        return self.served

    def is_dropped(self, url: str) -> bool:
        return url in self.dropped

    def any_kept(self, urls: list[str]) -> bool:
        return bool(urls)

    def end(self, target: str) -> str:
        return target

    def prove(self, target: str) -> None: ...

    def found(self, targets: Any, rules: Any) -> list[Any]:
        return []

    def fetch_itself(self, url: str, why: str) -> None: ...

    def fall(self, targets: Any, rulings: Any = None) -> None:
        self.given_back.update(targets)
        self.ruled += [ruling for ruling in (rulings or {}).values() if ruling != Ruling()]

    def tried(self, url: str, target: str, rules: tuple[str, ...], *, held: bool) -> None:
        (self.passed if held else self.failed).append(url)

    def begin(self, url: str = ASKED, canonical: str = CANONICAL, found: Look | None = None) -> bool:
        return self.audits.begin(Audit(url, canonical, ("sid",), found=found))

    @property
    def untold(self) -> int:
        """Audits that told nothing."""
        return self.book.untold

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
    setting.audits.found(CANONICAL, STORY)
    setting.audits.asked_for(ASKED, STORY)
    assert (setting.rule.tried, setting.rule.failed) == (1, 0)
    setting.discoveries.more = ("http://a.example/more",)
    setting.audits.settle()
    assert (setting.rule.tried, setting.rule.failed) == (1, 1)


@pytest.mark.parametrize("canonical_first", [False, True])
def test_one_page_passes_in_whatever_order_the_two_come(setting: Setting, canonical_first: bool) -> None:
    assert setting.begin()
    assert setting.audits.awaits(CANONICAL)
    assert setting.audits.target_of(ASKED) == CANONICAL
    if canonical_first:
        setting.audits.found(CANONICAL, STORY)
        assert setting.audits.unmatched() == set()
    else:
        setting.audits.asked_for(ASKED, STORY)
        assert setting.audits.unmatched() == {CANONICAL}
    assert setting.passed == []
    setting.audits.found(CANONICAL, STORY)
    setting.audits.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([ASKED], [])
    assert not setting.audits.awaits(CANONICAL)
    assert setting.audits.target_of(ASKED) is None
    assert (setting.rule.tried, setting.rule.failed) == (1, 0)


def test_two_pages_fail_and_the_rule_is_revoked(setting: Setting) -> None:
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([], [ASKED])
    assert setting.ruled == [Ruling(revoked=("sid",))]
    assert setting.rule.state == "disabled"
    assert setting.stats.get_value("dedup/url/tried_wrong") == setting.stats.get_value("dedup/url/revoked") == 1


@pytest.mark.parametrize("served", [True, False])
def test_pages_that_differ_wait_for_what_the_content_half_says(setting: Setting, served: bool) -> None:
    setting.served = None
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    setting.audits.judged(CANONICAL, has_verdict=False)
    assert (setting.passed, setting.failed) == ([], [])
    setting.served = served
    setting.audits.judged("http://a.example/another", has_verdict=True)
    assert (setting.passed, setting.failed) == ([], [])
    setting.audits.judged(ASKED, has_verdict=True)
    assert (setting.passed == [ASKED], bool(setting.failed)) == (served, not served)


@pytest.mark.parametrize(("suspects", "is_undecided"), [((), True), ((CANONICAL,), False)])
def test_two_copies_of_one_page_speak_once_against_a_rule(
    setting: Setting, suspects: tuple[str, ...], is_undecided: bool
) -> None:
    """But where the canonical URL may have led to an error page, each who was sent there has lost a page."""
    copies = [ASKED, ASKED + "0"]
    for url in copies:
        setting.audits.begin(Audit(url, CANONICAL, ("sid",), suspects=suspects))
    setting.audits.found(CANONICAL, OTHER)
    for url in copies:
        setting.audits.asked_for(url, STORY)
    assert setting.failed == copies[: 1 if is_undecided else 2]


def test_a_page_that_the_crawl_has_by_another_url_is_not_held_against_a_rule(setting: Setting) -> None:
    setting.dropped = {ASKED}
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed, setting.rule.tried) == ([], [], 0)


def test_two_pages_speak_twice_against_a_rule(setting: Setting) -> None:
    for url in (ASKED, ASKED + "0"):
        setting.begin(url)
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    setting.audits.asked_for(ASKED + "0", look(prose(3)))
    assert len(setting.failed) == 2


def test_it_says_nothing_of_a_page_without_an_item(setting: Setting) -> None:
    setting.served = None
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    setting.audits.judged(ASKED, has_verdict=False)
    assert setting.failed


def test_what_it_has_not_judged_at_the_end_has_failed(setting: Setting) -> None:
    setting.served = None
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    assert not setting.failed
    setting.audits.settle()
    assert setting.failed


def test_a_url_is_tried_once(setting: Setting) -> None:
    assert not setting.fetched.has(ASKED)
    assert setting.begin()
    assert setting.fetched.has(ASKED)
    assert not setting.begin()
    setting.audits.cancel(ASKED)
    assert not setting.begin(), "nor after its end"
    assert setting.stats.get_value("dedup/url/tried") == 1


def test_so_many_at_a_time(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits_module, "_MOST_OPEN", 2)
    urls = [f"http://a.example/p?sid={n}" for n in range(3)]
    assert [setting.begin(url) for url in urls] == [True, True, False]
    setting.audits.cancel(urls[0])
    assert setting.begin(urls[2])


def test_the_page_of_one_canonical_url_ends_all_that_wait_for_it(setting: Setting) -> None:
    urls = [f"http://a.example/p?sid={n}" for n in range(4)]
    for url in urls:
        setting.begin(url)
    for url in urls[:3]:
        setting.audits.asked_for(url, STORY)
    setting.audits.found(CANONICAL, STORY)
    assert setting.passed == urls[:3]
    assert setting.audits.awaits(CANONICAL)
    setting.audits.asked_for(urls[3], STORY)
    assert setting.passed == urls


def test_a_page_that_was_answered_before_is_looked_up(setting: Setting) -> None:
    setting.kept[CANONICAL] = STORY
    setting.begin()
    setting.audits.asked_for(ASKED, STORY)
    assert setting.passed == [ASKED]


def test_what_cannot_be_compared_tells_nothing(setting: Setting) -> None:
    setting.begin()
    setting.audits.found(CANONICAL, STORY)
    setting.audits.asked_for(ASKED, SHELL)
    assert (setting.passed, setting.failed, setting.rule.tried) == ([], [], 0)
    assert not setting.audits.awaits(CANONICAL)
    assert setting.untold == 1


def test_a_url_that_has_no_page_itself_tells_nothing(setting: Setting) -> None:
    setting.begin()
    setting.audits.cancel(ASKED)
    setting.audits.found(CANONICAL, STORY)
    setting.audits.asked_for(ASKED, OTHER)
    assert (setting.passed, setting.failed, setting.rule.tried, setting.untold) == ([], [], 0, 1)


@pytest.mark.parametrize("comes", ["nothing", "the page asked for", "the canonical page"])
def test_a_trial_of_which_a_page_never_came_is_to_be_made_up_for(setting: Setting, comes: str) -> None:
    setting.begin()
    if comes == "the page asked for":
        setting.audits.asked_for(ASKED, STORY)
    elif comes == "the canonical page":
        setting.audits.found(CANONICAL, STORY)
    setting.audits.settle()
    assert (setting.passed, setting.failed, setting.untold) == ([], [], 1)


def test_what_led_nowhere_is_made_up_for_once_whatever_becomes_of_the_url_itself(setting: Setting) -> None:
    setting.begin()
    setting.audits.found(CANONICAL, NOWHERE)
    setting.audits.settle()
    assert setting.untold == 1


def test_a_trial_that_has_told_is_not_made_up_for(setting: Setting) -> None:
    setting.begin()
    setting.audits.found(CANONICAL, STORY)
    setting.audits.asked_for(ASKED, STORY)
    setting.audits.settle()
    assert (setting.passed, setting.untold) == ([ASKED], 0)


def test_a_site_that_redirects_to_the_canonical_url_says_the_same_as_the_rule(setting: Setting) -> None:
    setting.begin()
    setting.audits.redirected(ASKED)
    assert setting.passed == [ASKED]
    setting.audits.redirected("http://a.example/unknown")
    assert setting.rule.tried == 1


def test_canonical_urls_that_lead_nowhere_revoke_the_rule_after_some(setting: Setting) -> None:
    """It is no wrong trial: no page is lost by it. Before that it is tried as an equivalence."""
    became_one = 0
    urls = [f"http://a.example/{n}?sid=1" for n in range(40)]
    for url in urls:
        canonical = f"{url}2" if setting.rule.kind == "equivalence" else url.partition("?")[0]
        setting.begin(url, canonical)
        setting.audits.found(canonical, NOWHERE)
        setting.audits.asked_for(url, STORY)
        if setting.ruled:
            break
        became_one += setting.rule.kind == "rewrite"
    assert setting.ruled == [Ruling(revoked=("sid",))]
    assert 2 < became_one < urls.index(url) < 40
    assert setting.stats.get_value("dedup/url/tried_wrong") is None
    assert "led nowhere" in setting.rule.note


def test_the_end_of_the_crawl_ends_all(setting: Setting) -> None:
    setting.begin()
    setting.begin("http://a.example/q?sid=1", "http://a.example/q")
    setting.audits.asked_for(ASKED, STORY)
    setting.kept[CANONICAL] = STORY
    setting.audits.settle()
    assert setting.passed == [ASKED]
    assert setting.audits.unmatched() == set()
    assert not setting.audits.awaits("http://a.example/q")


def test_a_trial_under_way_tells_of_a_suspected_text_too(setting: Setting) -> None:
    assert not setting.audits.suspect(CANONICAL, (CANONICAL, "http://a.example/r"), "")
    trial = Audit(ASKED, CANONICAL, ("sid",))
    assert setting.audits.begin(trial)
    assert setting.audits.suspect(CANONICAL, (CANONICAL, "http://a.example/r"), "")
    assert trial.suspects == (CANONICAL, "http://a.example/r")


def test_pages_that_seem_to_differ_are_compared_again_once_counters_are_known(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    assert (setting.passed, setting.failed) == ([], []), "nothing is known of the site"
    setting.furniture = furniture_of_pages(5)
    setting.audits.asked_for(ASKED, STORY)
    assert setting.failed == [ASKED]


def test_a_trial_that_is_put_off_again_and_again_counts_once(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.audits.asked_for(ASKED, STORY)
    for _ in range(5):
        setting.audits.found(CANONICAL, OTHER)
    setting.furniture = furniture_of_pages(5)
    setting.audits.asked_for("http://a.example/another", STORY)
    assert setting.failed == [ASKED]


def test_what_was_put_off_is_settled_when_nothing_more_comes(setting: Setting) -> None:
    setting.furniture = Template()
    setting.begin()
    setting.audits.found(CANONICAL, OTHER)
    setting.audits.asked_for(ASKED, STORY)
    assert setting.failed == []
    setting.audits.settle()
    assert setting.failed == [ASKED]
