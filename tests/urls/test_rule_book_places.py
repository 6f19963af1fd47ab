"""Rules are tried, cleared and switched off in the parts of a site where that was found out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.probation import known_before
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.urls.test_rule_book import VIEW, ZOOM, rule, zoomed


def test_a_rule_is_off_where_it_is_wrong_and_goes_on_where_it_is_right(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (ZOOM,)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    for number in range(50):
        book.passed(zoomed("view", number)[0], ("zoom",))
    assert [book.is_due(zoomed("map", number)[0], ("zoom",)) for number in range(3)] == [True, True, True]
    assert book.failed(*zoomed("map", 0), ("zoom",)) == Ruling(restricted=("zoom",))
    assert book.is_off(zoomed("map", 9)[0], ("zoom",))
    assert not book.is_off(zoomed("view", 9)[0], ("zoom",))
    assert book.failed(*zoomed("map", 1), ("zoom",)) == Ruling(), "begun before"
    book.save()
    found = rule(tmp_path, "zoom")
    assert (found.state, found.failed, found.tried) == ("active", 0, 50)
    assert found.note.endswith("1 of 1 trial led to another page, such as " + " → ".join(zoomed("map", 0)))


def test_where_a_rule_is_off_it_stays_off_when_it_is_learned_again(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (replace(ZOOM, state="probation"),)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    book.passed(zoomed("view", 0)[0], ("zoom",))
    book.failed(*zoomed("map", 0), ("zoom",))
    book.reread()
    assert book.is_off(zoomed("map", 9)[0], ("zoom",))
    book.passed(zoomed("view", 5)[0], ("zoom",))
    book.save()
    (watched,) = book.watched("a.com", "learned")
    assert watched.before[0] + watched.passed == known_before(ZOOM)[0] + 2, "nor counted twice"
    assert rule(tmp_path, "zoom").tried == 2, "what was written is not written twice"


def test_where_trials_have_spoken_for_a_rule_later_crawls_begin_with_no_trial(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (ZOOM,)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    tried = [zoomed("map", number)[0] for number in range(40)]
    for url in tried:
        if book.is_due(url, ("zoom",)):
            book.passed(url, ("zoom",))
    book.save()
    assert rule(tmp_path, "zoom").examples == (VIEW, zoomed("map", 0))
    later = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    assert [later.is_due(url, ("zoom",)) for url in tried[:4]] == [True, False, False, False], "as where its log was"
    elsewhere = [zoomed("plan", number)[0] for number in range(2)]
    assert all(later.is_due(url, ("zoom",)) for url in elsewhere), "nothing has spoken for it there"


def test_where_a_crawl_has_found_a_rule_to_be_wrong_the_next_does_not_use_it(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (ZOOM,)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    url, canonical = zoomed("map", 0)
    assert book.failed(url, canonical, ("zoom",)) == Ruling(restricted=("zoom",))
    assert rule(tmp_path, "zoom").counterexamples == ((url, canonical),)
    later = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    assert later.is_off(zoomed("map", 1)[0], ("zoom",))
    assert not later.is_off(zoomed("view", 1)[0], ("zoom",))
    later.passed(zoomed("view", 1)[0], ("zoom",))
    later.save()
    assert rule(tmp_path, "zoom").counterexamples == ((url, canonical),)
