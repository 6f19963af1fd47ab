from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.template import Piece, TemplateError, parse_template


def piece(text: str) -> Piece:
    (found,) = parse_template(f"/{text}").path or ()
    return found


@pytest.mark.parametrize(
    ("form", "text", "values"),
    [
        ("{x}", "a-b", {"x": "a-b"}), ("{x}", "", None), ("a-{x}.html", "a-1.html", {"x": "1"}),
        ("a-{x}.html", "a-.html", None), ("{x}-{y}", "a-b-c", {"x": "a", "y": "b-c"}), ("{x}-{x}", "a-a", {"x": "a"}),
        ("{x}-{x}", "a-b", None), ("{n:digits}", "12", {"n": "12"}), ("{n:digits}", "1a", None),
        ("{n:token}", "0123cafe", {"n": "0123cafe"}), ("{n:token}", "cafe", None),
        ("{n:token}", "0123456g", None), ("{}-{n:token}", "a-b-0123cafe", {"n": "0123cafe"}),
        ("{w}-{n:digits}", "a-b-7", {"w": "a-b", "n": "7"}), ("{w}-{n:digits}", "1-2-7", {"w": "1-2", "n": "7"}),
        ("{w}-{n:digits}.html", "a-b-7.html", {"w": "a-b", "n": "7"}), ("{w}-{n:digits}", "a-b", None),
        ("{w}-{n:digits}", "a-", None), ("{w}-{n:digits}", "-7", None), ("{w}-{w:digits}", "1-2-1", None),
        ("{n:digits}-{w}", "7-a-b", {"n": "7", "w": "a-b"}), ("{w}1{n:digits}", "a11", {"w": "a", "n": "1"}),
        ("{x}-{w}-{l:en|de}", "a-b-c-de", {"x": "a", "w": "b-c", "l": "de"}),
        ("{x};sid={y}", "a;sid=1", {"x": "a", "y": "1"}), ("{x};sid={}", "a;sid=1;v=2", None),
        ("{x};sid={};{y}", "a;sid=1;v=2", {"x": "a", "y": "v=2"}), ("{x};{}", "a;b;c", {"x": "a;b"}),
        ("{l:en|de}", "de", {"l": "de"}), ("{l:en|de}", "fr", None), ("{}", "x", {}), ("x", "x", {}), ("x", "y", None),
    ],
)  # fmt: skip
def test_what_a_form_takes(form: str, text: str, values: dict[str, str] | None) -> None:
    found: dict[str, str] = {}
    assert piece(form).match(text, found) == (values is not None)
    assert values is None or found == values


@given(st.lists(st.sampled_from(["{a}", "{b}", "-", "x", "."]), max_size=6).map("".join), st.text("abx-.", max_size=9))
def test_what_was_taken_apart_is_put_together_again(form: str, text: str) -> None:
    try:
        found = piece(form)
    except TemplateError:
        return
    values: dict[str, str] = {}
    if found.match(text, values):
        assert found.build(values) == text


def test_the_parts_of_a_template() -> None:
    template = parse_template("https://www.{host}/a/{rest*}?id={id}&flag")
    assert (template.scheme, template.names()) == ("https", {"host", "rest", "id"})
    assert template.host is not None
    assert [name for name, _ in template.args] == ["id", "flag"]
    assert template.args[1][1] is None
    assert parse_template("http://?id={}").scheme == "http"
    assert parse_template("{url|decode}").whole is not None
    assert parse_template("/x-{}").has_irrelevant()


@pytest.mark.parametrize(
    "text",
    ["/{a", "/a}", "/{a*}/{b*}", "/x{a*}", "/{a}{b}", "/{a:odd}", "/{a|odd}", "/{a*:digits}", "/{*:en|de}",
     "a/b", "/a#b", "?a=1;b", "?{a}=1", "?a=1&a=2", "/" + "x" * 5000,
     "//", "///", "///x", "//?a=1", "http:///", "https:///x"],
)  # fmt: skip
def test_what_is_no_template_is_said(text: str) -> None:
    with pytest.raises(TemplateError, match=r"template|capture|brace|named|unknown|not one of"):
        parse_template(text)
