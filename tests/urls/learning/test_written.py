from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.written import is_expressible, is_name, is_value, literal, written
from dedupcrawl.urls.spelling import as_sent
from dedupcrawl.urls.template import TemplateError, parse_template

_PARTS = "/ a {x} {p*} {:digits} {n:token} {:a|b} {y|lower|decode} ? & = k // .html {} -"
PARTS = st.sampled_from(_PARTS.split())


@given(st.lists(PARTS, max_size=9).map("".join))
def test_whatever_can_be_read_is_the_same_when_it_is_written(text: str) -> None:
    try:
        template = parse_template(text)
    except TemplateError:
        return
    if not any("" in capture.words for capture in template.captures()):
        assert parse_template(written(template)) == template


@given(st.text(max_size=20))
def test_what_is_expressible_is_a_literal(text: str) -> None:
    if text and is_expressible(text):
        assert parse_template(f"/x/{text}").path == (literal("x"), literal(as_sent(text)))
    if is_value(text):
        assert parse_template(f"?x={text}").args == (("x", literal(as_sent(text))),)
    if is_name(text):
        assert parse_template(f"?{text}=1").args == ((as_sent(text), literal("1")),)
