"""Aliases and what is known of a site's are read back as they were written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.aliases.alias import Alias, SiteAliases, rule_id
from dedupcrawl.aliases.sources import DUPLICATE, SOURCES
from dedupcrawl.urls.watched_rule import TrialRecord

ALIASES = st.builds(
    Alias,
    st.text(),
    st.sampled_from([DUPLICATE, *SOURCES]),
    st.text(),
    st.text(),
    st.floats(allow_nan=False),
    st.lists(st.binary()).map(tuple),
)


@given(ALIASES)
def test_an_alias_comes_back(alias: Alias) -> None:
    assert Alias.from_bytes(alias.to_bytes()) == alias


@given(st.binary())
def test_what_cannot_be_read_says_nothing(content: bytes) -> None:
    Alias.from_bytes(content)
    SiteAliases.from_bytes(content)
    assert Alias.from_bytes(None) is None
    assert SiteAliases.from_bytes(b"no json") == SiteAliases()


def test_each_source_is_a_rule_of_its_own() -> None:
    known = SiteAliases(tried={rule_id("og"): TrialRecord(3, 1)}, failed={rule_id("shortlink"): "why"})
    rules = {rule.id: rule for rule in SiteAliases.from_bytes(known.to_bytes()).rules()}
    assert len({rule.effect for rule in rules.values()}) == len(rules) == len(SOURCES) + 1
    assert (rules[rule_id("og")].tried, rules[rule_id("og")].failed) == (3, 1)
    assert rules[rule_id("shortlink")].state == "disabled"
    assert rules[rule_id(DUPLICATE)].evidence.correct
    assert rules[rule_id("canonical")].state == "probation", "many sites name wrong ones"
    assert rules[rule_id("permalink")].state == rules[rule_id(DUPLICATE)].state == "active"


def test_what_two_crawls_know_is_added_up() -> None:
    one, other = SiteAliases({"a": TrialRecord(1, 0)}, {"b": "x"}), SiteAliases({"a": TrialRecord(2, 0)}, {"c": "y"})
    assert one.joined(other) == SiteAliases({"a": TrialRecord(3, 0)}, {"b": "x", "c": "y"})
