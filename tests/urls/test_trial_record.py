from __future__ import annotations

from random import Random

import msgspec

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.watched_rule import TrialRecord, WatchedRule

RULE = Rule("print", "rewrite", drop=("print",), source="software")


def test_what_a_crawl_found_out_is_told_to_the_rule_of_the_next() -> None:
    watched, chance = WatchedRule.of(RULE, "a.com"), Random(92)  # draws none of the few that are not sure to be tried
    for number in range(3):
        url = f"http://a.com/view?doc={number}&print=1"
        assert watched.is_due(url, 0.02, chance) is (number < 2)
        if number < 2:
            watched.sampled += 1
            watched.places.of(url).passes(url)
    record = TrialRecord.of(watched)
    assert record == TrialRecord(2, 0, (("http://a.com/view?doc=0&print=1", "http://a.com/view?doc=0"),))
    later = WatchedRule.of(record.told_to(RULE), "a.com")
    assert later.is_due("http://a.com/view?doc=1&print=1", 0.02, chance)
    later.sampled += 1
    assert not any(later.is_due(f"http://a.com/view?doc={number}&print=1", 0.02, chance) for number in range(8))
    assert TrialRecord.of(later) == TrialRecord(0, 0, record.examples), "nothing was tried, so nothing is new"


def test_trials_of_several_crawls_and_workers_add_up() -> None:
    one = TrialRecord(2, 1, (("a", "b"),))
    other = TrialRecord(3, 0, (("a", "b"), ("c", "d")))
    assert one.joined(other) == TrialRecord(5, 1, (("a", "b"), ("c", "d")))
    assert one.joined(other).joined(TrialRecord(1)) == one.joined(other.joined(TrialRecord(1)))


def test_where_a_rule_is_wrong_is_told_to_the_next_crawl() -> None:
    right, wrong = (f"http://a.com/{page}?doc=1&print=1" for page in ("view", "map"))
    watched = WatchedRule.of(RULE, "a.com")
    watched.places.of(right).passes(right)
    watched.places.of(wrong).fails(wrong)
    assert watched.places.switch_off(watched.places.of(wrong))
    record = TrialRecord.of(watched)
    assert record.counterexamples == ((wrong, "http://a.com/map?doc=1"),)
    later = WatchedRule.of(TrialRecord(1).joined(record).told_to(RULE), "a.com")
    assert (later.places.is_off(wrong), later.places.is_off(right)) == (True, False)


def test_an_equivalence_keeps_the_trials_that_were_made_of_it() -> None:
    before, since = TrialRecord(9, 0), TrialRecord(2, 1, led_nowhere=True)
    assert before.joined(since) == since
    late = since.joined(TrialRecord(4, 0))
    assert (late.tried, late.failed, late.led_nowhere) == (2, 1, True)
    assert since.joined(since).tried == 4


def test_a_place_of_an_alias_is_told_by_the_url_alone() -> None:
    alias = Rule("alias.og", "rewrite", match="alias.og", source="alias")
    watched = WatchedRule.of(alias, "a.com")
    url = "http://a.com/thread/5"
    for _ in range(2):
        watched.is_due(url, 0.02, Random(3))
        watched.places.of(url).passes(url)
    assert TrialRecord.of(watched).examples == ((url, url),)
    assert not WatchedRule.of(TrialRecord.of(watched).told_to(alias), "a.com").places.of(url).lacking


def test_what_the_version_before_kept_is_read() -> None:
    assert msgspec.json.decode(b"[4, 1]", type=TrialRecord) == TrialRecord(4, 1)
