"""Bodies that are no HTML: what they are taken for, when two of them are one page, and when they say too little."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.bodies import Kind, kind_of, page_of_body
from dedupcrawl.content.checks.exact import ExactCheck
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from dedupcrawl.text.ignored import NOTHING, read_ignored

CHECK = ExactCheck()
RECORD = {"sku": "A-17", "price": 19.5, "name": "A jug of blue glass", "notes": ["dishwasher", "hand wash only"] * 15}
DOCUMENT = json.dumps(RECORD).encode()
# Answers to many questions: the longest that we know of their kinds.
GENERIC = (
    '{"in_stock": true}',
    "[]",
    '{"count": 0, "next": null, "previous": null, "results": []}',
    '{"code":"rest_no_route","message":"No route was found matching the URL and method.","data":{"status":404}}',
    '{"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","detail":"Your '
    'current balance is 30, but that costs 50.","instance":"/account/12345/msgs/abc","balance":30,'
    '"accounts":["/account/1"]}',
    '{"status":"ok","in_stock":true,"delivery":{"min_days":1,"max_days":3,"carrier":"DHL","free":false},"message":'
    '"Ready to ship today","currency":"EUR","warehouse":"A","returns":{"days":30,"free":true}}',
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.'
    "</Message><Key>a.html</Key><RequestId>656c76696e6727732072657175657374</RequestId><HostId>Uuag1LuByRx9e6j5Onimru9p"
    "O4ZVKnJ2Qz7/C1NPcfTWAtRPfTaOFg==</HostId></Error>",
    '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image='
    '"http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"></urlset>',
    "id,name,price\n",
    "---\nstatus: ok\n",
)


def read(body: bytes, mime: str = "application/json", encoding: str | None = None) -> Page:
    return page_of_body(kind_of(mime, body), body, "http://a.example/", encoding=encoding, ignored=NOTHING)


def signature(page: Page) -> bytes | None:
    return CHECK.signature(page, page.main_text())


@pytest.mark.parametrize(
    ("mime", "body", "kind"),
    [
        ("text/html", b"", "html"),
        ("application/xhtml+xml", b"<html/>", "html"),
        ("text/plain", b"<html> is a tag", "text"),
        ("text/markdown", b"# One", "text"),
        ("text/x-rst", b"One\n===", "text"),
        ("text/csv", b"a,b", "data"),
        ("text/xml", b"<a/>", "data"),
        ("text/css", b"a {}", "data"),
        ("application/json", b"{}", "data"),
        ("application/ld+json", b"{}", "data"),
        ("application/vnd.api+json", b"{}", "data"),
        ("application/rss+xml", b"<rss/>", "data"),
        ("image/svg+xml", b"<svg/>", "data"),
        ("application/x-ndjson", b"{}", "data"),
        ("application/pdf", b"%PDF-1.7 all of it text", "binary"),
        ("image/png", b"words", "binary"),
        ("application/octet-stream", b"words", "binary"),
        ("text/plain", b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        ("application/json", b"\x1f\x8b\x08\0", "binary"),
        ("text/plain", "words".encode("utf-16"), "text"),
        ("text/plain", "町".encode("iso2022_jp"), "text"),
        ("", b"\n<!-- x --><!DOCTYPE html><p>a", "html"),
        ("", b"<HTML><body>", "html"),
        ("", b'<?xml version="1.0"?><a/>', "data"),
        ("", b' {"a": 1}', "data"),
        ("", b"plain words", "text"),
        ("", b"\0\1\2", "binary"),
        ("", b"", "text"),
        ("nonsense", b"words", "binary"),
    ],
)
def test_kinds(mime: str, body: bytes, kind: Kind) -> None:
    assert kind_of(mime, body) == kind


@pytest.mark.parametrize("answer", ["", " \n", *GENERIC])
@pytest.mark.parametrize("mime", ["application/json", "text/csv", ""])
def test_what_many_urls_answer_says_too_little(answer: str, mime: str) -> None:
    """Of text the words count, too: a page of twenty symbols is compared by them, as ever."""
    page = read(answer.encode(), mime)
    if kind_of(mime, answer.encode()) != "text":
        assert signature(page) is None
    assert not page.body_tells


def test_equal_data_is_a_duplicate_however_it_is_written() -> None:
    one = signature(read(DOCUMENT))
    assert one
    broken = DOCUMENT.replace(b", ", b",\r\n\t ")
    assert signature(read(b"\xef\xbb\xbf" + broken)) == one
    assert signature(read(DOCUMENT.decode().encode("utf-16"), "text/plain")) != one, "that is prose"
    named = json.dumps(RECORD | {"name": "Krug, größer"}, ensure_ascii=False)
    latin = read(named.encode("latin-1"), encoding="latin-1")
    assert signature(latin) == signature(read(named.encode()))


@pytest.mark.parametrize(("old", "new"), [("19.5", "-19.5"), ("19.5", "1.95"), ("A-17", "a-17"), ("wash", "Wash")])
def test_data_that_differs_in_one_character_is_another(old: str, new: str) -> None:
    """Text of which only these differ is one text to the check; in data they are what it is about."""
    other = read(DOCUMENT.replace(old.encode(), new.encode()))
    assert signature(other)
    assert signature(other) != signature(read(DOCUMENT))
    assert not other.paragraphs, "or checks that see what is alike would compare it"


def test_text_is_compared_as_text_whatever_kind_it_is() -> None:
    text = "The ferry leaves at nine from the long pier behind the market, and it comes back at six in the evening."
    plain = read(text.encode(), "text/plain")
    assert plain.paragraphs == (text,)
    assert signature(plain) == signature(read(text.upper().encode(), "text/markdown"))
    assert signature(plain) == signature(read(text.encode(), ""))
    assert signature(plain) != signature(read(text.replace("nine", "ten").encode(), "text/markdown"))


def test_other_files_are_compared_by_their_bytes() -> None:
    assert signature(read(b"\x89PNG\0", "image/png")) == signature(read(b"\x89PNG\0", "image/x-png"))
    assert signature(read(b"\x89PNG\0", "image/png")) != signature(read(b"\x89PNG\1", "image/png"))
    assert signature(read(b"", "image/png")) is None


def test_what_does_not_count_is_left_out_of_data() -> None:
    ignored = read_ignored(("re:built on \\d+",))
    pages = [
        page_of_body("data", DOCUMENT + b'\n"built on %d"' % n, "http://a/", encoding=None, ignored=ignored)
        for n in (1, 2)
    ]
    assert pages[0].body_tells
    assert pages[0].body_digest == pages[1].body_digest


@given(st.binary(max_size=3_000), st.sampled_from(["", "text/plain", "application/json", "text/html", "a/b"]))
def test_total(body: bytes, mime: str) -> None:
    kind = kind_of(mime, body)
    if kind != "html":
        page = page_of_body(kind, body, "http://a/", encoding=None, ignored=NOTHING)
        assert not page.body_tells or body
        CHECK.signature(page, SymbolText.of(page.paragraphs))
