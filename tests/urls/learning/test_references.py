from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.diff import diff, embedded
from dedupcrawl.urls.learning.references import references
from dedupcrawl.urls.learning.written import is_expressible_path
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.spelling import canonical_url
from dedupcrawl.urls.url_parts import UrlParts, split_url


def parts_of(path: str) -> UrlParts:
    parts = split_url(canonical_url(f"http://a.com{path}"))
    assert parts is not None
    return parts


@pytest.mark.parametrize(
    ("source", "target", "match", "to"),
    [
        ("/topic/7-any-words", "/topic/7", "/{p*}/{v0:digits}-{s0}", "/{p*}/{v0}"),
        ("/show.php?t=7", "/t/7", "/{s0}?t={v0:digits}", "/t/{v0}"),
        ("/t/any-words/7", "/topic/any-words-7", "/{s0}/{v0}/{v1:digits}", "/topic/{v0}-{v1}"),
        ("/wiki/A_b", "/?title=A%20b", "/{s0}/{v0}", "/?title={v0|spaces}"),
        ("/x/0007", "/x/7", "/{p*}/{v0:digits}", "/{p*}/{v0|unpadded}"),
        ("/a/print", "/a", "/{p*}/{s0}", "/{p*}"),
        ("/shop;sid=1f/x", "/shop/x", "/{v0};{s0}/{x0}", "/{v0}/{x0}"),
        ("/?q=node/7/print", "/node/7", "/?q={v0}/{v1:digits}/{s0}", "/{v0}/{v1}"),
    ],
)
def test_what_is_found_again(source: str, target: str, match: str, to: str) -> None:
    found = {(one.match, one.to) for one, _ in references(parts_of(source), parts_of(target))}
    assert (match, to) in found, found


def test_a_title_that_is_not_there_cannot_be_made_up() -> None:
    assert not list(references(parts_of("/t/7"), parts_of("/t/7/some-new-words")))
    assert not list(references(parts_of("/?t=7"), parts_of("/t/12")))


segments = st.lists(st.text("ab7-_.%;", max_size=6), min_size=1, max_size=4).map("/".join)
query = st.sampled_from(["", "?t=7", "?t=a-7&u=b", "?u=77", "?t=", "?b"])
urls = st.tuples(segments, query).map(lambda both: f"/{both[0]}{both[1]}")


@given(urls, urls)
def test_a_reference_makes_the_target_of_the_source(source: str, target: str) -> None:
    one, other = parts_of(source), parts_of(target)
    if is_expressible_path(one.segments) and is_expressible_path(other.segments) and "" not in one.segments[:-1]:
        for found, _ in references(one, other):
            made = CompiledRule(Rule("x", "equivalence", match=found.match, to=found.to)).apply(one, "a.com")
            assert made is not None
            assert (made.segments, sorted(made.args)) == (other.segments, sorted(other.args)), found


@given(urls, urls)
def test_whatever_the_urls_rules_can_say_what_they_suggest(source: str, target: str) -> None:
    for found, _ in diff(parts_of(source), parts_of(target), {}):
        Rule("x", "equivalence", match=found.match, to=found.to, drop=found.drop, convert=found.convert).templates()


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("/go?to=http://a.com/x", "?to={url}"),
        ("/go?to=%2Fx%2F7", "?to={url}"),
        ("/out/http%3A%2F%2Fa.com%2Fx", "/{p*}/out/{url}"),
        ("/uenc/aHR0cDovL2EuY29tL3g,/", "/{p*}/uenc/{url}/"),
    ],
)
def test_urls_within_urls(path: str, match: str) -> None:
    assert [one.match for one in embedded(parts_of(path))] == [match]
    assert not list(embedded(parts_of("/go?to=7&of=//b.com/x")))
