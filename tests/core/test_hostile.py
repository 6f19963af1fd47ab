"""Inputs made to break the core: what fuzzing has found, and bombs that must not take long or much memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.fuzz.core_targets import TARGETS
from benchmarks.fuzz.inputs import pieces
from benchmarks.fuzz.run import CORPUS
from dedupcrawl.core.page import Page
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import MOST, Template

ROOT = Path(__file__).resolve().parents[2]
_TIMES = 40  # the size of a page is the most memory that reading it takes
_TABLES = 4 << 20  # bytes that any page may take besides


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_is_taken_by_every_target(path: Path, target: Callable[[bytes], None]) -> None:
    target(path.read_bytes())


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_some_inputs_of_the_fuzzer(target: Callable[[bytes], None]) -> None:
    for data in islice(pieces(20_261_128, [path.read_bytes() for path in sorted(CORPUS.iterdir())]), 200):
        target(data)


def test_lines_of_a_text_without_urls_are_numbered() -> None:
    assert SymbolText.of(("one", "", "http://a.example/ two", "three")).without_urls().block_lines == [0, 2, 3]


def test_a_page_can_be_made_anew() -> None:
    page = Page("http://a.example/", paragraphs=("one long paragraph",) * 100)
    page.__init__("http://b.example/", paragraphs=("two",))
    assert page.paragraphs == ("two",)


def test_counts_are_right_after_more_blocks_than_are_remembered() -> None:
    template = Template()
    for _ in range(9):
        template.add(range(10))
    template.add(range(5, 2 * MOST + 6))
    assert [template.count(block) for block in range(10)] == [8] * 5 + [9] * 5
    assert len(template) == 10


on_linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux does")

BOMBS: dict[str, Callable[[], bytes]] = {
    "nested a million deep": lambda: b"<div>" * 1_000_000 + b"x",
    "nested with attributes": lambda: b"<p a>" * 1_000_000,
    "elements with attributes": lambda: b"<p a>x" * 90_000,
    "headings": lambda: b"<h1 a>x</h1>" * 45_000,
    "a million links": lambda: b"".join(b"<a href=/%x>x</a>" % number for number in range(1_000_000)),
    "links without a name": lambda: b"<a href=/>x" * 90_000,
    "links to hosts that are not ASCII": lambda: b"<a href=//\xc3\xa9/>x" * 90_000,
    "links of the longest hosts": lambda: (b"<a href=//" + b"a" * 1_900 + b"\xc3\xa9/>x") * 1_000,
    "ten megabytes of line breaks": lambda: b"x<br>" * 2_000_000,
    "a megabyte of U+FDFA": lambda: "\ufdfa".encode() * 350_000,
    "piles of marks": lambda: "\u0344\u0f73\u0f81".encode() * 120_000,
    "a million attributes": lambda: b"<p " + b"".join(b"a%x=1 " % number for number in range(1_000_000)) + b">x",
    "a million attributes of a base": lambda: (
        b"<base " + b"".join(b"a%x " % number for number in range(1_000_000)) + b">x"
    ),
    "a million attributes of a meta": lambda: b"<meta " + b"a=1 " * 1_000_000 + b">x",
    "a thousand metas": lambda: (b"<meta name=keywords content=" + b"x" * 2_000 + b">") * 1_000,
    "a link of a million arguments": lambda: b"<a href=/?" + b"a=b&" * 1_000_000 + b">x</a>",
    "links of a thousand arguments": lambda: (b'<a href="/?' + b"&" * 1_900 + b'">x</a>') * 1_000,
    "lone surrogates": lambda: b"\xed\xa0\x80" * 1_000_000,
    "zeros": lambda: b"\0" * 3_000_000,
    "zeros among letters": lambda: b"x\0" * 1_500_000,
    "open quotes": lambda: b'<a x="' * 500_000 + b"'" * 1_000_000,
    "open comments": lambda: b"<!--" * 1_000_000,
    "open noscripts": lambda: b"<noscript>" * 200_000,
    "graphics": lambda: b"<svg>" * 400_000,
    "pictures": lambda: b"".join(b"<img src=/%x.jpg alt=%x>" % (number, number) for number in range(60_000)),
    "pictures with long names": lambda: (b"<img src='" + b"/1x11x1" * 280 + b".jpg'>") * 1_000,
    "nested pictures": lambda: (b"<div class=x>" * 90 + b"<img src=/1.jpg><a href=/1.pdf>" + b"</div>" * 90) * 900,
    "a frame of much": lambda: b"<iframe srcdoc='" + b"&lt;p&gt;x" * 150_000 + b"'></iframe>",
    "frames": lambda: b"<iframe srcdoc='<p>x'></iframe>" * 60_000,
    "a form of a million lines": lambda: b"<textarea>" + b"x\n" * 1_000_000,
    "buttons": lambda: b"<button>x</button>" * 50_000,
    "a list of a million options": lambda: b"<select>" + b"<option>x" * 200_000,
    "a million strings": lambda: b"<script type=x/json>" + b'"a b",' * 330_000 + b"</script>",
    "open strings": lambda: b"<script type=x/json>" + b'"\\' * 600_000 + b"</script>",
    "a string of tags": lambda: b'<script type=x/json>"' + b"a <" * 600_000 + b'"</script>',
    "a picture in its page": lambda: b"<img src=data:" + b"x" * 1_900_000 + b">",
    "open scripts": lambda: b"<script>" * 500_000,
    "titles": lambda: b"<title>" + b"a" * 4_000 + b"</title>" + (b"<p>" + b"a" * 2_000 + b"b") * 1_500,
}
TEXTS: dict[str, Callable[[], str]] = {
    "a line of 50 MB": lambda: "one two " * 6_250_000,
    "a line of 50 MB, letter by letter": lambda: "a " * 25_000_000,
    "a line of 50 MB of one word": lambda: "a" * 50_000_000,
    "a line of 50 MB, in Chinese": lambda: "\u4e2d\u6587" * 8_333_333,
    "ten million lines": lambda: "a\n" * 10_000_000,
    "ten megabytes of U+FDFA": lambda: "\ufdfa" * 3_300_000,
    "piles of marks": lambda: "a" + "\u0344" * 5_000_000,
    "URLs": lambda: "http://a " * 1_000_000,
    "lone surrogates": lambda: "\ud800" * 3_000_000,
    "zeros": lambda: "\0" * 10_000_000,
}
_CHILD = """
import resource, sys
from dedupcrawl.core.facts import Facts
from dedupcrawl.core.page import Page, read
from dedupcrawl.core.signatures import sampled_shingles, simhash
from dedupcrawl.core.tags import tame

def page_of(made):
    if type(made) is str:
        return Page("http://a.example/", paragraphs=(made,))
    tame(made)
    return read(Facts(made), "http://a.example/", host_alike=lambda name: name,
        locate=lambda base: (b"a.example", b"a.example", b"/"), stays=lambda target, base: True)

def status(name):  # getrusage tells the peak of the process that this one was made by
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1]) * 1024

def sign(text):
    simhash(text, True), sampled_shingles(text, 5_000, 8, 100)

resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
sign(page_of(b"<a href=/><p>x").main_text())
made = open(sys.argv[1], "rb").read()
if sys.argv[2:]:
    made = made.decode("utf-8", "surrogatepass")
open("/proc/self/clear_refs", "w").write("5")  # the peak is what is used now
before = status("VmRSS")
page = page_of(made)
*_, secondary = page.beside()
texts = page.main_text(), secondary
print(status("VmHWM") - before)
for text in texts:
    sign(text.without(b"\\1").without_urls())
facts = Facts(made if type(made) is bytes else b"")
facts.base, facts.anchors, facts.numbered_anchors, facts.references(len(facts.markup)), facts.has_elements({"x"})
facts.elements((("link", b"rel", (b"canonical",)), ("meta", b"name", (b"a",)))), facts.scripts(b"x")
"""


def _times(made: bytes, path: Path, *options: str) -> float:
    """How many times its size the peak of a process's memory is raised by reading a page and finding its symbols.

    What else is done with it may take a minute of CPU together with that.
    """
    path.write_bytes(made)
    command = [sys.executable, "-c", _CHILD, str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, f"{done.returncode}, of a signal where it is negative: {done.stderr}"
    return max(0, int(done.stdout) - _TABLES) / len(made)


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_page_takes_bounded_time_and_memory(name: str, tmp_path: Path) -> None:
    assert _times(BOMBS[name](), tmp_path / "page") <= _TIMES


@on_linux
@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_takes_bounded_time_and_memory(name: str, tmp_path: Path) -> None:
    assert _times(TEXTS[name]().encode("utf-8", "surrogatepass"), tmp_path / "text", "text") <= _TIMES
