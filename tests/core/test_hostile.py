"""Inputs made to break the core: what fuzzing has found, and bombs that must not take long or much memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.fuzz.core import CORPUS, TARGETS, inputs
from dedupcrawl.core.page import Page
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import MOST, Template

ROOT = Path(__file__).resolve().parents[2]
_TIMES = 40  # the size of a page is the most memory that reading it takes, …
_FLOOR = 32 << 20  # … of small ones so many bytes: what Python, NumPy and tables for any page take is not theirs


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_is_taken_by_every_target(path: Path, target: Callable[[bytes], None]) -> None:
    target(path.read_bytes())


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_some_inputs_of_the_fuzzer(target: Callable[[bytes], None]) -> None:
    for data in islice(inputs(20_261_128, [path.read_bytes() for path in sorted(CORPUS.iterdir())]), 200):
        target(data)


def test_lines_of_a_text_without_urls_are_numbered() -> None:
    assert SymbolText.of(("one", "", "http://a.example/ two", "three")).without_urls().block_lines == [0, 2, 3]


def test_a_page_can_be_made_anew() -> None:
    page = Page("http://a.example/", paragraphs=("one long paragraph",) * 100)
    page.__init__("http://b.example/", paragraphs=("two",))  # as nobody should
    assert page.paragraphs == ("two",)


def test_counts_are_right_after_more_blocks_than_are_remembered() -> None:
    template = Template()
    for _ in range(9):
        template.add(range(10))
    template.add(range(5, 2 * MOST + 6))
    assert [template.count(block) for block in range(10)] == [8] * 5 + [9] * 5
    assert len(template) == 10


BOMBS: dict[str, str] = {
    "nested a million deep": "b'<div>' * 1_000_000 + b'x'",
    "nested with attributes": "b'<p a>' * 1_000_000",
    "elements with attributes": "b'<p a>x' * 90_000",
    "headings": "b'<h1 a>x</h1>' * 45_000",
    "a million links": "b''.join(b'<a href=/%x>x</a>' % number for number in range(1_000_000))",
    "links without a name": "b'<a href=/>x' * 90_000",
    "links to hosts that are not ASCII": "b'<a href=//\\xc3\\xa9/>x' * 90_000",
    "links of the longest hosts": "(b'<a href=//' + b'a' * 1_900 + b'\\xc3\\xa9/>x') * 1_000",
    "ten megabytes of line breaks": "b'x<br>' * 2_000_000",
    "a megabyte of U+FDFA": "'\\ufdfa'.encode() * 350_000",
    "piles of marks": "'\\u0344\\u0f73\\u0f81'.encode() * 120_000",
    "a million attributes": "b'<p ' + b''.join(b'a%x=1 ' % number for number in range(1_000_000)) + b'>x'",
    "a million attributes of a base": "b'<base ' + b''.join(b'a%x ' % number for number in range(1_000_000)) + b'>x'",
    "a million attributes of a meta": "b'<meta ' + b'a=1 ' * 1_000_000 + b'>x'",
    "a thousand metas": "(b'<meta name=keywords content=' + b'x' * 2_000 + b'>') * 1_000",
    "a link of a million arguments": "b'<a href=/?' + b'a=b&' * 1_000_000 + b'>x</a>'",
    "links of a thousand arguments": "(b'<a href=\"/?' + b'&' * 1_900 + b'\">x</a>') * 1_000",
    "lone surrogates": "b'\\xed\\xa0\\x80' * 1_000_000",
    "zeros": "b'\\0' * 3_000_000",
    "zeros among letters": "b'x\\0' * 1_500_000",
    "open quotes": "b'<a x=\"' * 500_000 + b'\\'' * 1_000_000",
    "open comments": "b'<!--' * 1_000_000",
    "open scripts": "b'<script>' * 500_000",
    "titles": "b'<title>' + b'a' * 4_000 + b'</title>' + (b'<p>' + b'a' * 2_000 + b'b') * 1_500",
}
TEXTS: dict[str, str] = {
    "a line of 50 MB": "'one two ' * 6_250_000",
    "a line of 50 MB, letter by letter": "'a ' * 25_000_000",
    "a line of 50 MB of one word": "'a' * 50_000_000",
    "a line of 50 MB, in Chinese": "'\\u4e2d\\u6587' * 8_333_333",
    "ten million lines": "'a\\n' * 10_000_000",
    "ten megabytes of U+FDFA": "'\\ufdfa' * 3_300_000",
    "piles of marks": "'a' + '\\u0344' * 5_000_000",
    "URLs": "'http://a ' * 1_000_000",
    "lone surrogates": "'\\ud800' * 3_000_000",
    "zeros": "'\\0' * 10_000_000",
}
_READ = """
    facts = Facts(made, keeps_anchors=True)
    page = read(facts, "http://a.example/", locate=lambda base: (b"a.example", b"a.example", b"/"),
                host_alike=lambda name: name, stays=lambda target, base: True)
    tame(made)
    facts.base, facts.head_links((b"canonical",)), facts.metas("name", "keywords", False), facts.references(10_000)
"""
_MADE = """
    page = Page("http://a.example/", paragraphs=(made,))
"""
_CHILD = """
import gc, resource
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.page import Page, read
from dedupcrawl.core.signatures import sampled_shingles, simhash
from dedupcrawl.core.tags import tame
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

def use(made):{use}    text = page.main_text()
    for one in (text, *page.beside()):
        plain = one.without(b"\\1").without_urls()
        simhash(plain, True), sampled_shingles(plain, 5_000, 8, 100)

use({kind})
made = {made}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
use(made)
after = resource.getrusage(resource.RUSAGE_SELF)
print(len(made if type(made) is bytes else made.encode("utf-8", "surrogatepass")), (after.ru_maxrss - before) * 1024)
"""


def _measured(use: str, kind: str, made: str) -> tuple[int, int]:
    """Bytes of a page, and by how many reading it raises the peak of a process's memory."""
    code = _CHILD.format(use=use, kind=kind, made=made)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr  # -9 or -24: beyond its limit of CPU
    size, peak = done.stdout.split()
    return int(size), int(peak)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_page_takes_bounded_time_and_memory(name: str) -> None:
    size, peak = _measured(_READ, "b'<p>x'", BOMBS[name])
    assert peak <= max(_FLOOR, _TIMES * size), f"{peak / size:.1f} times its size"


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_takes_bounded_time_and_memory(name: str) -> None:
    size, peak = _measured(_MADE, "'x'", TEXTS[name])
    assert peak <= max(_FLOOR, _TIMES * size), f"{peak / size:.1f} times its size"
