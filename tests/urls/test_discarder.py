from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.discarder import exported, imported
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import MOST_RULES, SiteRules
from tests.fixtures import table_of


def row(processor: str, args: list[Any], *include: str, **pattern: Any) -> dict[str, Any]:
    return {"processor": processor, "args": args, "order": 0, "urlPattern": {"include": list(include), **pattern}}


def one(processor: str, args: list[Any], include: str) -> Rule:
    sites, refused = imported([row(processor, args, include)])
    assert not refused
    return sites[0].rules[0]


def test_arguments_under_a_path() -> None:
    rule = one("queryRemovalExcept", [], "amazon.co.uk/*/dp")
    assert (rule.drop, rule.within, rule.hosts) == (("*",), ("/{}/dp/{*}",), ("amazon.co.uk", "www.amazon.co.uk"))


def test_segments_of_a_path() -> None:
    rule = one("subpathRemoval", [0], "amazon.com/*/dp")
    assert (rule.match, rule.to) == ("/{s0}/dp/{rest*}", "/dp/{rest}")
    site = SiteNormalizer(SiteRules("amazon.com", (rule,)))
    assert site.normalize("http://amazon.com/Lord/dp/B000634DCW").canonical == "http://amazon.com/dp/B000634DCW"


def test_rules_of_one_site_come_together_in_their_order() -> None:
    rows = [row("queryRemoval", ["b"], "a.com"), {**row("queryRemoval", ["a"], "a.com", "b.com"), "order": -1}]
    sites, _ = imported(rows)
    assert [(site.site, [(rule.id, rule.drop) for rule in site.rules]) for site in sites] == [
        ("a.com", [("query", ("a",)), ("query-2", ("b",))]),
        ("b.com", [("query", ("a",))]),
    ]


@table_of("urls", "what_cannot_be_expressed_is_refused")
def test_what_cannot_be_expressed_is_refused(given_row: dict[str, Any], why: str) -> None:
    sites, refused = imported([given_row])
    assert sites == []
    assert [why in one.why for one in refused] == [True]


@table_of("urls", "what_is_no_such_file")
def test_what_is_no_such_file(content: object) -> None:
    with pytest.raises(RuleError):
        imported(content)


@table_of("urls", "what_the_other_side_cannot_express")
def test_what_the_other_side_cannot_express(does: dict[str, Any], why: str) -> None:
    rows, refused = exported([SiteRules("a.com", (Rule.from_dict({"id": "r", **does}),))])
    assert rows == []
    assert [one.why.startswith("in duplicate-url-discarder ") and why in one.why for one in refused] == [True]


def test_disabled_rules_are_not_exported() -> None:
    rule = Rule("r", "rewrite", drop=("a",), state="disabled")
    assert exported([SiteRules("a.com", (rule,))]) == ([], [])


def published(shared_data: Path) -> list[dict[str, Any]]:
    files = sorted((shared_data / "lists" / "zyte_dud_rules").rglob("*.json"))
    return [one for file in files for one in json.loads(file.read_text())]


def test_the_published_rules(shared_data: Path) -> None:
    sites, refused = imported(published(shared_data))
    assert sum(len(site.rules) for site in sites) > 400
    assert {one.why for one in refused} == {"rules belong to one site", "the arguments to remove have no names"}
    rows, not_exported = exported(sites)
    assert len(not_exported) <= 1
    again, _ = imported(rows)
    first = {(site.site, rule.drop, rule.match, rule.to) for site in sites for rule in site.rules}
    assert {(site.site, rule.drop, rule.match, rule.to) for site in again for rule in site.rules} <= first


def test_both_programs_agree_on_urls_of_the_published_rules(shared_data: Path, tmp_path: Path) -> None:
    discarder = pytest.importorskip("duplicate_url_discarder.url_canonicalizer")
    rows = [one for one in published(shared_data) if one["urlPattern"]["include"] != [""]]
    sites, _ = imported(rows)
    (tmp_path / "rules.json").write_text(json.dumps(rows))
    canonicalizer = discarder.UrlCanonicalizer([tmp_path / "rules.json"])
    choice = random.Random(0)
    for site_rules in sites:
        normalizer = SiteNormalizer(site_rules)
        names = [name for rule in site_rules.rules for name in rule.drop if name != "*"]
        for host in (site_rules.site, f"www.{site_rules.site}"):
            query = "&".join(f"{name}=1" for name in choice.sample([*names, "keep", "other"], 2))
            for path in ("/x/dp/y", "/dp/y", "/x"):
                url = f"https://{host}{path}?{query}"
                assert normalizer.normalize(url).canonical == canonicalizer.process_url(url), url


names = st.sampled_from(["a", "b", "utm_x"])
includes = st.sampled_from(["a.com", "a.com/x", "a.com/*/x", "b.co.uk"])


@given(st.lists(st.builds(row, st.sampled_from(["queryRemoval", "queryRemovalExcept"]), st.lists(names), includes)))
def test_what_was_imported_can_be_exported(rows: list[dict[str, Any]]) -> None:
    sites, refused = imported(rows)
    back, not_exported = exported(sites)
    assert not not_exported
    assert len(back) + len(refused) == len(rows)
    assert imported(back)[0] == sites


@given(
    st.recursive(
        st.none() | st.text(max_size=3) | st.integers(),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(st.sampled_from(["processor", "args", "order", "urlPattern", "include"]), x)
        ),
    )
)
def test_any_json_is_imported_or_an_error(content: object) -> None:
    with suppress(RuleError):
        imported([content])


def test_many_rules_of_one_site_are_taken_over_up_to_the_limit() -> None:
    rows = [row("queryRemoval", [f"a{n}"], "a.com") for n in range(MOST_RULES + 5)]
    (site,), refused = imported(rows)
    assert len({rule.id for rule in site.rules}) == MOST_RULES
    assert [one.why for one in refused] == ["a site has at most 10,000 rules"] * 5
    found = SiteNormalizer(site).normalize("http://a.com/?a1=1&a9999=2&a10001=3")
    assert found.canonical == "http://a.com/?a10001=3"
