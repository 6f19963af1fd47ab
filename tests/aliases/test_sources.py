"""What pages say of URLs is read as browsers read it, within bounds, and as it was written."""

from __future__ import annotations

import time
from urllib.parse import urldefrag, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.aliases import sources
from dedupcrawl.aliases.alias import SOURCE_RULES, Alias, rule_id
from dedupcrawl.aliases.sources import DUPLICATE, SOURCES, aliases_said, canonical_of, may_lead
from dedupcrawl.content.html import facts_of
from dedupcrawl.urls.credits import Credit, Credits
from tests.fixtures import table_of

ALL = frozenset(SOURCES)
HERE = "http://a.example/forum/viewtopic.php?t=6"


def said(body: str, url: str = HERE, wanted: frozenset[str] = ALL, **headers: str) -> dict[str, str]:
    given = {name.replace("_", "-"): [value] for name, value in headers.items()}
    return aliases_said(url, facts_of(body), given, wanted)


def head(markup: str) -> str:
    return f"<html><head>{markup}</head><body>text</body></html>"


def test_the_canonical_link_may_be_of_any_site() -> None:
    def canonical(markup: str) -> str:
        return canonical_of("http://a.example/p", facts_of(markup))

    head = '<base href="/a/"><link rel="canonical" href="b?x=1&#038;y=2"><link rel=canonical href=/later>'
    assert canonical(head) == "http://a.example/a/b?x=1&y=2"
    assert canonical("<LINK HREF='http://b.example/' REL=canonical>") == "http://b.example/"
    assert canonical("<link rel=canonical href='http://['><p>canonical") == ""


def test_headers_name_other_urls_of_a_page() -> None:
    link = '</c>; rel="canonical", </s>; rel=shortlink, </css>; rel=preload, </o>; rel=canonical; anchor="/other"'
    assert said("", link=link, content_location="/b.html") == {
        "http://a.example/c": "header",
        "http://a.example/s": "header",
        "http://a.example/b.html": "header",
    }


def test_headers_are_relative_to_the_page_whatever_its_base() -> None:
    body = head('<base href="/deep/"><link rel=shortlink href=s>')
    assert said(body, link="<c>; rel=canonical") == {
        "http://a.example/forum/c": "header",
        "http://a.example/deep/s": "shortlink",
    }


def test_json_ld_of_the_page_is_read_and_not_that_of_its_publisher() -> None:
    graph = """<script type="application/ld+json">{"@graph": [
        {"@type": "Organization", "url": "http://a.example/"},
        {"@type": "Article", "url": "/a", "mainEntityOfPage": {"@id": "/b"}}]}</script>
        <script type="application/ld+json">{broken</script>"""
    assert said(head(graph)) == {"http://a.example/a": "json-ld", "http://a.example/b": "json-ld"}
    listed = '<script type="application/ld+json">[{"@type": ["Thing", "NewsArticle"], "url": "/n"}, 5]</script>'
    assert said(head(listed)) == {"http://a.example/n": "json-ld"}


POSTS = "".join(f'<div id="p{n}"><a href="viewtopic.php?p={n}#p{n}">#</a></div>' for n in (41, 42))


COLUMNS = "".join(f'<th><a href="?{order}">{order}</a>' for order in ("C=N;O=D", "C=M;O=A", "C=S;O=A"))
UP = '<a href="/">Home</a><a href="/files/">Parent Directory</a>'
ENTRY = '<a href="one.zip">one.zip</a>'
FOLDER = "http://a.example/files/old/"


@table_of("reading", "in_whatever_order_a_list_of_one_is_the_same")
def test_in_whatever_order_a_list_of_one_is_the_same(body: str) -> None:
    found = said(body, FOLDER)
    first = min(found)
    assert len(found) in {3, 4}
    assert all(source == "sort-link" and other.startswith(f"{FOLDER}?") for other, source in found.items())
    assert said(body, f"{FOLDER}?{first.partition('?')[2]}").keys() == {*found} - {first}


@pytest.mark.parametrize(
    "body",
    [
        COLUMNS + UP + ENTRY + '<a href="two.zip">two.zip</a>',
        COLUMNS.partition("<th>")[2].partition("<th>")[0] + UP + ENTRY,
        COLUMNS.replace("C=", "page=1") + UP + ENTRY,
        COLUMNS.replace("?C=", "/files/?C=") + UP + ENTRY,
        COLUMNS + UP + ENTRY + "<p>text" * 4_000,
        COLUMNS + UP,
        COLUMNS + UP + '<a href="/about">of another folder</a>',
        COLUMNS + "".join(f'<a href="/view?id={n}">{n}</a>' for n in range(9)),
        COLUMNS + "".join(f'<a href="?id={n}">{n}</a>' for n in range(9)),
        COLUMNS + '<a href="?page=2">next</a>',
        "".join(f'<a href="?action={name}">{name}</a>' for name in ("edit", "history", "print")) + ENTRY,
        "".join(f'<a href="?lang={name}&amp;view={name}">{name}</a>' for name in ("de", "fr", "en")) + ENTRY,
        "",
    ],
)
def test_what_is_no_order_of_a_list_of_one(body: str) -> None:
    assert said(body, FOLDER) == {}
    assert said(body.replace("?", "/files/old?"), FOLDER[:-1]) == {}


def test_only_what_is_wanted() -> None:
    markup = head('<link rel="canonical" href="/x">') + POSTS
    assert said(markup, wanted=frozenset({"canonical"})) == {"http://a.example/x": "canonical"}
    assert said(markup, wanted=frozenset()) == {}


@pytest.mark.parametrize(
    "body",
    [
        "".join(f'<b id="p{n}"></b><a href="?p={n}#p{n}">' for n in range(100_000)),
        f'<link rel="canonical" href="{"x" * 1_000_000}">',
        "<link rel=canonical " * 100_000,
        "<a href=" * 200_000,
        '<script type="application/ld+json">' + "[" * 500_000,
        "<a id='p" + "1" * 1_000_000,
        "".join(f'<a href="?p={n}#p{n}">' for n in range(1_000)) + "p" * 900_000,
        "<p id=p1" * 100_000 + '<a href="?p=1#p1">',
        "=1 " * 300_000 + '<a href="?p=1#p1">',
    ],
)
def test_a_site_that_lies_costs_bounded_time(body: str) -> None:
    start = time.process_time()
    assert len(said(body)) <= 1_000
    assert time.process_time() - start < 2


@given(st.binary(max_size=300), st.sampled_from(["http://a.example/", "http://[", "", "http://a.example/x?p=1#f"]))
def test_any_bytes_at_any_url(body: bytes, url: str) -> None:
    pieces = (b'<link rel="canonical" href="', b'"><b id="p1"><a href="', b"#p1>", b"<base href=")
    for piece in pieces:
        for one in aliases_said(url, facts_of(piece + body + piece), {"link": [body.decode("latin-1")]}, ALL):
            assert one.startswith(("http://", "https://"))
            assert "#" not in one


@given(
    st.from_regex(sources._WHOLE, fullmatch=True), st.sampled_from([HERE, "https://b.example", "http://a.example/b/"])
)
def test_what_is_not_joined_need_not_be(target: str, base: str) -> None:
    assert sources._joined(base, target) == urldefrag(urljoin(base, target)).url


def test_nobody_is_led_to_another_site_or_to_what_is_less_secure() -> None:
    assert may_lead("http://a.example/", "https://a.example/x")
    assert may_lead("https://example.org/", "https://www.example.org/x")
    assert not may_lead("https://a.example/", "http://a.example/x")
    assert not may_lead("http://a.example/", "http://b.example/x")
    assert not may_lead("http://a.example/", "ftp://a.example/x")


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
    Credits.from_bytes(content)
    assert Alias.from_bytes(None) is None
    assert Credits.from_bytes(b"no json") == Credits()


def test_each_source_is_a_rule_of_its_own() -> None:
    rules = {rule.id: rule for rule in SOURCE_RULES}
    assert len({rule.effect for rule in rules.values()}) == len(rules) == len(SOURCES) + 1
    assert rules[rule_id(DUPLICATE)].evidence.correct
    assert rules[rule_id("canonical")].state == "probation", "many sites name wrong ones"
    assert rules[rule_id("permalink")].state == rules[rule_id(DUPLICATE)].state == "active"


def test_what_two_crawls_know_is_added_up() -> None:
    one, other = Credits({"a": Credit(1, 0)}, {"b": "x"}), Credits({"a": Credit(2, 0)}, {"c": "y"}, has_aliases=True)
    assert one.joined(other) == Credits({"a": Credit(3, 0)}, {"b": "x", "c": "y"}, has_aliases=True)
