"""Rules that are not measured add nothing to a URL."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.template import may_grow, parse_template

SIZES = st.sampled_from(["", "x", "xy", "a/b", "1", "x;y"])
GROWTH_MATCHES = [
    "/{a*}/{b}", "/{a*}/x", "/{a}/{b}", "/x/{a*}", "/{*}/{a}", "/{}/{a}", "?n={a}", "/{a}?n={b}", "/{a*}?n",
    "//{a}/{b}",
]  # fmt: skip
GROWTH_TARGETS = [
    "/{a}", "/{a}/{b}", "/{b}/{a}", "/{a}-{b}", "/{}/{a}", "/{b}?n={a}", "?n={a}", "/{a}?n={a}", "/{a}/x", "/{b}/yz",
    "/{a}?n", "/{a|upper}", "/xyz?n={b}", "/x", "/{a};y", "//{a}/{b}",
]  # fmt: skip


@settings(max_examples=200)
@given(
    st.sampled_from(GROWTH_MATCHES),
    st.sampled_from(GROWTH_TARGETS),
    st.lists(SIZES, max_size=3),
    st.lists(st.sampled_from(["n", "n=1", "n=xyz", "m=1"]), max_size=2),
)
def test_a_rule_of_which_no_size_is_checked_adds_nothing(match: str, to: str, path: list[str], args: list[str]) -> None:
    rule = Rule("r", "equivalence", match=match, to=to)
    try:
        rule.templates()
    except RuleError:
        return
    grows = may_grow(parse_template(match), parse_template(to))
    parts = split_url("http://a.com/" + "/".join(path) + ("?" + "&".join(args) if args else ""))
    assert parts is not None
    after = CompiledRule(rule).apply(parts, "a.com")
    if after is not None and not grows:
        assert len(after.join()) <= len(parts.join())
