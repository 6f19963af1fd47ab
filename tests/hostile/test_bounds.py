"""What an enemy makes long, deep or numerous takes no more than a second of CPU, or a few on a busy machine.

Each input is so large that a step for every pair of its parts would take minutes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dedupcrawl.aliases.sources import SOURCES, aliases_said, canonical_of
from dedupcrawl.commands.selection import forms_of
from dedupcrawl.content.checks.concepts import MOST_NODES
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.content.concept_network import text_network
from dedupcrawl.content.differences import stretches
from dedupcrawl.content.html import extract, facts_of
from dedupcrawl.core.comparison import COMPARED
from dedupcrawl.core.search import COMPARED_LIMIT
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.url_parts import split_url
from dedupcrawl.crawl_logs.page_files import page_of, stored_pages
from dedupcrawl.crawl_logs.registry import read_log
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.page import Page
from dedupcrawl.sites import host_of, owner_of, site_of
from dedupcrawl.software.program import programs
from dedupcrawl.software.recognition import Recognizer
from dedupcrawl.text.ignored import read_ignored
from dedupcrawl.text.selection import parsed_selectors
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules
from tests.fixtures import table_of

LIMIT = 5.0  # seconds of CPU

URLS = {
    "colons": "http://" + ":" * 1_000_000,
    "at signs": "http://" + "@" * 1_000_000,
    "dots": "http://" + "." * 1_000_000,
    "labels": "http://" + "a." * 500_000 + "com",
    "spaces": "http://" + " " * 1_000_000,
    "slashes": "http://a.com" + "/" * 1_000_000,
    "arguments": "http://a.com/?" + "a=1&" * 250_000,
    "escapes": "http://a.com/" + "%25" * 300_000,
    "brackets": "http://[" + "[" * 1_000_000,
    "punycode": "http://xn--" + "a" * 1_000_000,
    "within the limit of a URL": "http://a.com/?" + "sid=1&" * 2_500,
    "segments within it": "http://a.com" + "/a" * 8_000,
}


def bounded(call: Callable[[], object]) -> None:
    begun = time.process_time()
    call()
    assert time.process_time() - begun < LIMIT


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Tables that are made at the first use."""
    owner_of("http://a.com/")
    analysis = Analysis(Page("http://a.com/", paragraphs=("法院 one two three " * 30,)))
    for check in make_checks(CHECK_NAMES, {}):
        check.signature(analysis.page, analysis.text)
    stretches(analysis.text, analysis.text)


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_no_url_takes_long(url: str) -> None:
    rules = SiteRules(
        "a.com",
        (Rule("sid", "rewrite", drop=("sid", "a*")), Rule("seg", "rewrite", match="/{a}/{b}/{c*}", to="/{c*}/{a}")),
    )
    normalizer = SiteNormalizer(rules)
    for call in (host_of, site_of, owner_of, split_url, forms_of, normalizer.normalize):
        bounded(lambda call=call: call(url))  # type: ignore[misc]  # mypy: a lambda's default has no type


HEADS = {
    "charsets": b"<meta charset=" * 200_000,
    "charset without end": b"<meta charset" + b" " * 2_000_000,
    "meta contents": b"<meta name=keywords " + b"content=" * 300_000,
    "meta spaces": b"<meta name=" + b" " * 2_000_000 + b"keywords",
    "quoted meta": b"<meta name='" + b"\" '" * 700_000,
    "canonical links": b"<link rel=" * 200_000,
    "canonical relations": b"<link " + b"rel " * 500_000,
    "canonical addresses": b"<link rel=canonical " + b"href" * 500_000 + b" " * 500_000,
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_no_head_takes_long(head: bytes) -> None:
    bounded(lambda: extract(head, "http://a.com/", fields=True))
    bounded(lambda: canonical_of("http://a.com/", facts_of(head)))


BODIES = {
    "a long title": b"<title>" + b"a" * 1_000_000 + b"</title>" + b"<p>aaaaaaaaaaaaaaab" * 50_000,
    "a periodic title": b"<title>" + b"ab" * 500_000 + b"</title>" + b"<p>abababababababbb" * 50_000,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_body_takes_long(body: bytes) -> None:
    bounded(lambda: extract(body, "http://a.com/"))


@table_of("reading", "no_selector_takes_long")
def test_no_selector_takes_long(selector: str) -> None:
    try:
        parsed_selectors(selector)
    except ValueError:
        pytest.skip("read by cssselect 1.6, for which Python 3.10 is too old")
    nested = b"<article>" + b"<div>" * 200
    bounded(lambda: extract(nested + b"<p>y<li>z" * 4_800, "http://a.com/", selector=selector))
    bounded(lambda: extract(nested + b"<p>y" * 9_600, "http://a.com/", selector=selector))
    bounded(lambda: extract(nested + b"<p>y<li>z" * 100_000, "http://a.com/", selector=selector))


def text_of_distinct_words(count: int) -> str:
    letters = str.maketrans("0123456789", "abcdefghij")
    numbers = (number * 48_271_397 % 10**8 for number in range(count))
    return " ".join(f"{number:08}" for number in numbers).translate(letters)


PAGES_OF_LINKS = {
    "numbered scripts": "".join(f"<a href=/{n}?1#1>" for n in range(60_000)),
    "one fragment": '<a href="/a?1#1"' * 100_000,
    "bare fragments": '#1"' * 330_000,
    "broken JSON-LD": "<script type=application/ld+json>[" * 30_000,
}


@pytest.mark.parametrize("body", PAGES_OF_LINKS.values(), ids=PAGES_OF_LINKS)
def test_what_pages_say_of_urls_takes_no_time(body: str) -> None:
    bounded(lambda: aliases_said("http://a.com/0?1", facts_of(body), {}, frozenset(SOURCES)))


@pytest.mark.parametrize("argument", ["C=", "p=x", "a="])
def test_links_of_many_arguments_tell_no_software(argument: str) -> None:
    recognizer = Recognizer(programs())
    arguments = "&".join([argument] * (1_900 // (len(argument) + 1)))

    def look() -> None:
        for number in range(100):
            recognizer.see_url(f"http://a.com/?{arguments}&{number}")

    bounded(look)


TEXTS = {
    "distinct words": text_of_distinct_words(50_000),
    "one word": "word " * 200_000,
    "two words": "one two " * 100_000,
    "underscores": "_" * 1_000_000,
    "numbers": " ".join(map(str, range(40_000))),
    "Chinese": "".join(map(chr, range(0x4E00, 0x9F00))) * 10,
    "marks": "a" + "\u0301" * 500_000,
    "marks to sort": "a" + "\u0301" * 250_000 + "\u0323" * 250_000,
    "one long word": "x" * 1_000_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_takes_a_check_long(text: str) -> None:
    page = Page("http://a.com/", paragraphs=(text,))
    for check in make_checks(CHECK_NAMES, {}):
        analysis = Analysis(page)
        bounded(partial(check.signature, analysis.page, analysis.text))
    bounded(lambda: stretches(SymbolText.of((text,)), SymbolText.of((text[::-1],))))


def test_a_network_of_concepts_has_no_more_nodes_than_may_be() -> None:
    names, network = text_network(text_of_distinct_words(20_000).split(), 0, MOST_NODES)
    assert len(names) <= MOST_NODES
    assert len(network) <= MOST_NODES


def test_hundreds_of_pages_made_to_look_alike_hold_up_no_other() -> None:
    """Every one is a candidate of the last one."""
    checks = make_checks(("exact", "feature_code", "simhash", "shingles"), {})
    index = TemporaryIndex(checks)
    frame = text_of_distinct_words(150).split()
    chance = random.Random(2)
    pages = [
        Page(f"http://evil.com/{number}", paragraphs=(" ".join([*frame, *map(str, chance.sample(range(10**6), 60))]),))
        for number in range(600)
    ]
    for number, page in enumerate(pages[:-1]):  # each in a run of its own, so that it is compared with none
        Detector(index, run=str(number)).judge(Analysis(page, index.secret), checks)
    detector, last = Detector(index, run="last"), Analysis(pages[-1], index.secret)
    bounded(lambda: detector.judge(last, checks, scope="all"))


LOGS = {
    "a line without end": b'{"url": "' + b"x" * 20_000_000,
    "nested arrays": b"[" * 1_000_000,
    "nested objects": b'{"url":' * 500_000 + b"\n",
    "open quotes": b"url,digest\n" + b'"' * 2_000_001,
    "empty lines": b"\n" * 2_000_000,
    "long numbers": b'{"url": "http://a.com/", "status": ' + b"9" * 1_000_000 + b"}\n",
    "a header of a WARC without end": b"WARC/1.0\r\n" + b"A: " + b"b" * 10_000_000,
    "a WARC that promises much": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\nx",
    "one that promises twice": b"WARC/1.0\r\nContent-Length: 1\r\ncontent-length : 99999999999\r\n\r\nx",
    "one with a long number": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: " + b"9" * 40 + b"\r\n\r\nx",
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_no_log_takes_long(tmp_path: Path, log: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(log)

    def read() -> None:
        try:
            for _ in read_log(path, Tally()):
                pass
        except LogError:
            pass

    def pages() -> None:
        try:
            for stored in stored_pages([path], Tally()):
                page_of(stored)
        except LogError:
            pass

    bounded(read)
    bounded(pages)


@table_of("reading", "no_pattern_takes_long")
@pytest.mark.parametrize("line", ["0123456789" * 32, "0 views" * 45, "0,1 " * 24_900])
def test_no_pattern_takes_long(pattern: str, line: str) -> None:
    ignored = read_ignored((f"re:{pattern}",))
    page = Page("http://a.example/", title=line, asides=(line,) * min(10_000, 8_000_000 // len(line)))
    bounded(lambda: ignored.page(page))


@pytest.mark.parametrize("pattern", ["Read .* times", "[a-zA-Z ]+[0-9]$", r"\S+ .*?[0-9]"])
@pytest.mark.parametrize("length", [19_900, 390_000])
def test_a_line_in_which_a_pattern_could_begin_anywhere_takes_no_longer(pattern: str, length: int) -> None:
    markup, ignored = b"<p>" + b"Read " * length, read_ignored((f"re:{pattern}",))
    bounded(lambda: extract(markup, "http://a.example/", ignored=ignored))


def test_the_bounds_on_candidates_are_those_of_the_threat_model() -> None:
    said = (Path(__file__).parents[2] / "docs" / "threat-model.md").read_text(encoding="utf-8")
    assert f"each check compares at most {COMPARED_LIMIT:,} candidates, of which at most {COMPARED} are judged" in said
