from __future__ import annotations

import numpy as np
import pytest

from dedupcrawl.urls.learning.column_rule import column_rule
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule

PAGES = ["http://a.com/wiki/a?sid=1", "http://a.com/wiki/b/c", "http://a.com/x?sid=2;b=1"]


@pytest.mark.parametrize(
    ("rule", "changed", "first"),
    [
        (Rule("r", "equivalence", drop=("sid",)), [0, 2], "http://a.com/wiki/a"),
        (Rule("r", "equivalence", drop=("unknown",)), [], PAGES[0]),
        (Rule("r", "equivalence", match="/wiki/{}", drop=("*",)), [0], "http://a.com/wiki/a"),
        (Rule("r", "rewrite", match="/wiki/{p*}", to="/w/{p}"), [0, 1], "http://a.com/w/a?sid=1"),
        (Rule("r", "rewrite", match="/{p*}/{x}?sid={y}", to="/{x}/{p}?sid={y}"), [0], "http://a.com/a/wiki?sid=1"),
        (Rule("r", "rewrite", match="http://", to="https://"), [0, 1, 2], "https://a.com/wiki/a?sid=1"),
        (Rule("r", "rewrite", hosts=("b.com",), match="http://", to="https://"), [], PAGES[0]),
    ],
)
def test_what_a_rule_makes_of_urls(rule: Rule, changed: list[int], first: str) -> None:
    urls = UrlColumns.of(PAGES)
    untouched = np.zeros(len(PAGES), dtype=np.bool_)
    found = column_rule(rule).apply(urls, "a.com", urls.taken(np.arange(3)), untouched, {})
    assert found.tolist() == changed
    assert urls.parts(0).join() == first


def test_what_another_rule_has_brought_is_left_to_the_next_pass() -> None:
    before = UrlColumns.of(["http://a.com/?a=1"])
    urls = UrlColumns.of(["http://a.com/?b=1"], like=before)
    rule = column_rule(Rule("r", "equivalence", drop=("b",)))
    assert rule.apply(urls, "a.com", before, np.ones(1, dtype=np.bool_), {}).tolist() == []
    assert rule.apply(urls, "a.com", before, np.zeros(1, dtype=np.bool_), {}).tolist() == [0]
