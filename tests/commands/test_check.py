"""`dedupcrawl check`: one verdict a row, in their order, whatever is in the file."""

from __future__ import annotations

import gzip
import json
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.commands.check import _secret_of, in_batch_order
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import rows as verdicts
from tests.commands.invoked import run, write
from tests.crawl_logs.test_warc import answer
from tests.crawls.site import page, prose


def check(*arguments: object) -> Result:
    return run("check", *arguments)


ROWS = [
    {"url": "http://a.example/1", "title": "One", "text": prose(1)},
    {"url": "http://b.example/1", "html": page(prose(1))},
    {"url": "http://a.example/2", "text": f"{prose(2)}\n{prose(3)}"},
    {"url": "http://a.example/3", "text": ""},
]


def test_the_same_files_have_the_same_verdicts_and_others_are_keyed_otherwise(tmp_path: Path) -> None:
    """With keys at random SimHash tells texts of which two words differ alike at one time, and not at another."""
    words = [prose(number, 120).split() for number in range(30)]
    edited = [" ".join("changed" if at % 60 == 59 else word for at, word in enumerate(text)) for text in words]
    texts = [*map(" ".join, words), *edited]
    rows = [{"url": f"http://{number}.example/", "text": text} for number, text in enumerate(texts)]
    file = write(tmp_path / "pages.jsonl", *rows)
    same = [check(file, "--checks", "simhash", "--set", "TARGET_PRECISION=0").stdout for _ in range(3)]
    assert same[0] == same[1] == same[2]
    assert _secret_of([file]) != _secret_of([write(tmp_path / "more.jsonl", *rows, *ROWS)])
    assert _secret_of([file, tmp_path]) is _secret_of([tmp_path / "missing"]) is None


SHOP = """
name = "shop"
title = "Our shop"
source = "us"
signs = [{url = "/compare/{:digits}/{:digits}", weight = 2}, {url = "/shelf/{:digits}"}]
ignored = ["css:.note"]
"""


def test_what_a_program_says_once_makes_no_other_page(tmp_path: Path) -> None:
    """As a shop that a crawl recognizes: above each page it says what was put on a list."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "shop.toml").write_text(SHOP, encoding="utf-8")

    def shelf(number: int, said: int) -> str:
        html = page(prose(number, 40), f"/shelf/{number}", f"/compare/{said}/{number}", title=f"Shelf {number}")
        return html.replace("<article>", f'<article><p class="note">{prose(200 + said, 30)}</p>')

    added = [(n, to) for n in range(4) for to in range(3)]
    rows = [{"url": f"http://a.example/compare/{n}/{to}", "html": shelf(to, 3 * n + to)} for n, to in added]
    file = write(tmp_path / "p.jsonl", *rows)

    def kept(software: object) -> int:
        return sum(row["verdict"] == "unique" for row in verdicts(check(file, "--set", f"SOFTWARE={software}")))

    assert kept(tmp_path / "mine") <= 4  # the first came before the program was recognized
    assert kept(True) == kept(False) > 6


def test_a_record_that_is_cut_short_is_skipped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc"
    path.write_bytes(answer("http://a.example/1", page(prose(1))) + answer("http://a.example/2", page(prose(2)))[:-50])
    result = check(path)
    assert [row["url"] for row in verdicts(result)] == ["http://a.example/1"]
    assert f"{path}, record 2: skipped, the record is cut short" in result.stderr
    assert "1 page: 1 unique, 0 duplicate, 0 abstained; 1 broken row skipped" in result.stderr


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_dash_is_stdin(compress: Callable[[bytes], bytes]) -> None:
    data = compress("".join(json.dumps(row) + "\n" for row in (*ROWS, [])).encode())
    result = run("check", "-", input=data)
    assert [row["verdict"] for row in verdicts(result)] == ["unique", "duplicate", "unique", "abstained"]
    assert "stdin, line 5: skipped" in result.stderr


def test_interrupted_it_leaves_nothing_half_written(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command_line = [sys.executable, "-m", "dedupcrawl.cli", "check", "-", "--output", str(out)]
    with subprocess.Popen(command_line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.02)  # until it has begun; it waits for the end of its input
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert said.strip() == "dedupcrawl: interrupted"
    assert list(tmp_path.iterdir()) == []


TEXTS = st.lists(st.lists(st.sampled_from(["a", "bb", "中文", "1,5", "\udfff?"]), max_size=5), max_size=12)


class Judge:
    """Calls a page a duplicate of any that it saw before and that contains its text."""

    def __init__(self) -> None:
        self.seen: list[Page] = []

    def __call__(self, page: Page) -> Verdict:
        text = " ".join(page.paragraphs)
        holder = next((other.url for other in self.seen if text in " ".join(other.paragraphs)), None)
        self.seen.append(page)
        return Verdict(page.url, "duplicate" if holder else "unique", holder, evidence={"seen": len(self.seen)})


@given(TEXTS)
@settings(deadline=None)
def test_longest_first_and_answered_in_their_order(texts: list[list[str]]) -> None:
    sound = [[re.sub("[\ud800-\udfff]", "", word) for word in words] for words in texts]
    pages = [
        Page(str(number), title=f"Title {number}", paragraphs=tuple(words), body_digest=bytes(16))
        for number, words in enumerate(sound)
    ]
    judge = Judge()
    found = list(in_batch_order(pages, judge))
    assert [verdict.url for verdict in found] == [page.url for page in pages]
    by_definition = sorted(pages, key=lambda page: -len(SymbolText.of(page.paragraphs).symbols))
    assert judge.seen == by_definition
    again = Judge()
    expected = {page.url: again(page) for page in by_definition}
    assert found == [expected[page.url] for page in pages]


def test_no_room_is_said_in_a_sentence() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        with pytest.raises(OSError, match="disk") as raised:
            list(in_batch_order((Page(f"http://a/{n}", paragraphs=("word " * 50_000,)) for n in range(50)), Judge()))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "temporary files" in str(raised.value.filename)


@pytest.mark.parametrize(("checks", "verdict"), [("papers", "duplicate"), ("exact,feature_code,simhash,mwo", "unique")])
def test_the_papers_checks_decide_by_their_thresholds_alone(tmp_path: Path, checks: str, verdict: str) -> None:
    fare = "A ticket to the island costs %s euros. " + prose(5, 150)
    rows = [{"url": f"http://a.example/{euros}", "text": fare % euros} for euros in (30, 50)]
    path = write(tmp_path / "pages.jsonl", *rows)
    _, said = verdicts(check(path, "--checks", checks))
    assert said["verdict"] == verdict
    evidence = said["evidence"].get("in_doubt", said["evidence"])
    assert ("needed" in evidence) == (checks != "papers" and "probability" in evidence)
