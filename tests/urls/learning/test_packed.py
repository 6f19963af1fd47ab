from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.packed import packed
from dedupcrawl.urls.url_parts import UrlParts, split_url

DYNAMIC = "http://catalog.ebay.com/The_Grudge_W0?_fcls=1&_pcatid=1&_pid=43973351&_tab=2"
STATIC = "http://catalog.ebay.com/The_Grudge_W0QQ_fclsZ1QQ_pcatidZ1QQ_pidZ43973351QQ_tabZ2"


def parts(url: str) -> UrlParts:
    found = split_url(url)
    assert found is not None
    return found


def test_ebay() -> None:
    templates = packed(parts(DYNAMIC), parts(STATIC))
    assert templates == (
        "/{p*}/{name}?_fcls={a0}&_pcatid={a1}&_pid={a2}&_tab={a3}",
        "/{p*}/{name}QQ_fclsZ{a0}QQ_pcatidZ{a1}QQ_pidZ{a2}QQ_tabZ{a3}",
    )
    other = parts("http://catalog.ebay.com/Dark_Water_W0?_fcls=7&_pcatid=3&_pid=11&_tab=0")
    after = CompiledRule(hypothesis(*templates)).apply(other, "ebay.com")
    assert after is not None
    assert after.join() == "http://catalog.ebay.com/Dark_Water_W0QQ_fclsZ7QQ_pcatidZ3QQ_pidZ11QQ_tabZ0"


def test_what_packs_nothing() -> None:
    assert packed(parts(STATIC), parts(DYNAMIC)) is None  # the other way round
    assert packed(parts("http://a.com/x?a=1"), parts("http://a.com/y")) is None
    assert packed(parts("http://a.com/x?a=1"), parts("http://a.com/xQa2")) is None
    assert packed(parts("http://a.com/x?a="), parts("http://a.com/xQa")) is None


@given(st.text("abZ1&=?/{}", max_size=12), st.text("abZ1&=?/{}", max_size=20))
def test_the_rule_does_what_the_pair_does(query: str, segment: str) -> None:
    source, target = parts(f"http://a.com/x?{query}"), parts(f"http://a.com/x{segment}")
    templates = packed(source, target)
    if templates is not None:
        after = CompiledRule(hypothesis(*templates)).apply(source, "a.com")
        assert after == target
