"""Short runs of the replay, of random little webs and of the fuzzer, from end to end."""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz import seeds
from benchmarks.fuzz.inputs import LARGEST, mutations
from benchmarks.fuzz.run import Fuzzed, fuzz, targets
from benchmarks.random_webs.web import START, Web
from tests import warm
from tests.crawls.site import NEEDS_PROXIES

ROOT = Path(__file__).parents[2]
TEXTS = [
    "The lock keeper still writes down every boat that goes up, and in a dry August she may ask the crews to wait. ",
    "Flour matters more than method, and rye wakes a tired starter sooner than anything else in a cold kitchen. ",
    "Run your fingers slowly around the inside of the tyre before you do anything clever with glue and patches. ",
    "Cherry tomatoes ripen weeks before the big ribbed ones and go on until the first frost of a long autumn. ",
]


def replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["benchmarks.replay", *arguments], cwd=ROOT, env={**os.environ, "WARM_PYTHON": warm.python()})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pages on two hosts: each text twice; only the first half is linked."""
    folder = tmp_path_factory.mktemp("data")
    site = folder / "crawls" / "small"
    site.mkdir(parents=True)
    urls = [f"https://{host}.example/{n}" for host in "ab" for n in range(len(TEXTS))]
    links = "".join(
        f'<a href="{url}">go</a>' for url in [*urls[:4], "https://a.example/missing", "mailto:x@y", "http://["]
    )
    with lzma.open(site / "pages.jsonl.xz", "wt", encoding="utf-8") as file:
        for n, url in enumerate(urls):
            html = f"<title>{n % 4}</title><body><article><p>{TEXTS[n % 4] * 4}</p></article>{links}</body>"
            file.write(json.dumps({"url": url, "html": html}) + "\n")
    return folder


def test_every_stored_page_is_fetched_and_the_crawls_are_compared(data: Path, tmp_path: Path) -> None:
    done = replay("small", "--data", str(data), "--out", str(tmp_path), "--calls")
    assert done.returncode == 0, done.stderr
    rows = {match[1].strip(): match[2].split() for match in re.finditer(r"^  ([\w ,]+?)  +(.*)$", done.stdout, re.M)}
    assert rows["pages fetched"] == ["8", "8"]
    assert rows["items kept"] == ["8", "4"]
    assert rows["dropped by exact"] == ["4"]
    for name in ("Python", "C"):
        off, on, added = map(int, rows[name])
        assert 100 < off < on
        assert added == pytest.approx(on - off, abs=1)


def test_a_seed_makes_one_web() -> None:
    one, other = Web(5), Web(5)
    assert {url: page.text for url, page in one.pages.items()} == {url: page.text for url, page in other.pages.items()}
    assert one.rules == other.rules
    assert one.answer("GET", START, "", 1) == other.answer("GET", START, "", 1)
    assert {url: page.text for url, page in Web(6).pages.items()} != {url: page.text for url, page in one.pages.items()}


@NEEDS_PROXIES
@pytest.mark.parametrize("first", [0, 4])
def test_nothing_is_lost(first: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.random_webs", "--seeds", str(first), str(first + 4)]
    done = subprocess.run([*command, "--keep", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("lost: 0 texts in 0 webs\n", 0), done.stderr[-2_000:]


TARGETS = {name: target for name, target in targets().items() if target.is_limited}


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_input_is_taken_by_everything(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    target = TARGETS[name]
    outcomes = list(fuzz(target, len(target.examples) + 20, seed=20_261_122))
    assert [data for _, data in outcomes] == [None, None], capfd.readouterr().err
    assert sum(ran for ran, _ in outcomes) == len(target.examples) + 20


@given(st.text() | st.text(alphabet="htp:/.?&=#%@[]aé中\x1b\u202e\ud800\n ", max_size=80))
def test_any_url_is_taken(url: str) -> None:
    for name in ("urls", "normalizer"):
        TARGETS[name].call(url.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=300) | st.text(alphabet="<>/=\"'&;#! -divpaxsg\n", max_size=300).map(str.encode))
def test_any_page_is_taken(page: bytes) -> None:
    for name in ("extraction", "checks"):
        TARGETS[name].call(page)


def _raises(data: bytes) -> None:
    raise KeyError("no such thing")


def _ends(data: bytes) -> None:
    os.kill(os.getpid(), 9)


def _takes_long(data: bytes) -> None:
    end = time.process_time() + 1.2
    while time.process_time() < end:
        pass


def _takes_much(data: bytes) -> None:
    assert len(bytearray(b"x") * (300 << 20)) == 300 << 20


@pytest.mark.parametrize("call", [_raises, _ends, _takes_long, _takes_much])
def test_what_fails_is_told(call: Callable[[bytes], None]) -> None:
    assert next(fuzz(Fuzzed(call, [b"input"], mutations, True), 1, 1)) == (1, b"input")


def test_mutations_are_bounded_and_the_same_for_the_same_seed() -> None:
    one, other = (list(islice(mutations(3, seeds.PAGES), 200)) for _ in range(2))
    assert one == other
    assert max(map(len, one)) <= LARGEST
