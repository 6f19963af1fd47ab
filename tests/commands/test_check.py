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
from tests.commands.invoked import check_refused, run, told, write
from tests.commands.invoked import rows as verdicts
from tests.crawl_logs.test_warc import answer
from tests.crawls.site import page, prose
from tests.fixtures import table_of


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


def test_one_row_out_for_each_row_in(tmp_path: Path) -> None:
    rows = verdicts(check(write(tmp_path / "pages.jsonl", *ROWS)))
    assert [row["url"] for row in rows] == [row["url"] for row in ROWS]
    assert [row["verdict"] for row in rows] == ["unique", "duplicate", "unique", "abstained"]
    assert list(rows[0]) == ["url", "verdict", "duplicate_of", "check", "similarity", "evidence"]
    assert (rows[1]["duplicate_of"], rows[1]["check"], rows[1]["similarity"]) == ("http://a.example/1", "exact", 1.0)


def test_batch_keeps_the_longest_and_answers_in_the_order_of_the_rows(tmp_path: Path) -> None:
    """The excerpt comes first: as a stream it is kept, as a batch its source is."""
    source = "\n".join(prose(n, 400) for n in (1, 2))
    excerpt = prose(1, 400)
    path = write(tmp_path / "p.jsonl", {"url": "http://a/x", "text": excerpt}, {"url": "http://a/s", "text": source})
    assert [row["verdict"] for row in verdicts(check(path, "--checks", "feature_code"))] == ["unique", "unique"]
    rows = verdicts(check(path, "--checks", "feature_code", "--order", "batch"))
    assert [(row["url"], row["verdict"]) for row in rows] == [("http://a/x", "duplicate"), ("http://a/s", "unique")]


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


def test_broken_rows_are_skipped_and_named(tmp_path: Path) -> None:
    rows = ['{"url": "http://a/1"\n', '["no", "object"]\n', '{"url": "http://a/2"}\n', "\n", '{"text": "no url"}\n']
    path = write(tmp_path / "pages.jsonl", *rows, '{"url": "http://a/3", "text": 5}\n', "[" * 100_000 + "\n", ROWS[0])
    with path.open("ab") as file:
        file.write('{"url": "http://a/4", "text": "今天"}\n'.encode("gb18030"))
    result = check(path)
    assert [row["url"] for row in verdicts(result)] == ["http://a.example/1"]
    for says in (
        f"{path}, line 1: skipped",
        "skipped, the row must be an object, not a list",
        'skipped, the row has no "url"',
        "skipped, text must be a string or null, not a number",
        "1 not UTF-8",
        "7 broken rows skipped",
    ):
        assert says in result.stderr


def test_a_file_is_not_written_over_that_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.jsonl", *ROWS)
    (tmp_path / "link").symlink_to(path)
    before = path.read_bytes()
    for output in (path, tmp_path / "link"):
        check_refused(check(path, "--output", output), "is one of the files to read")
    assert path.read_bytes() == before


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


def test_output_and_counts_as_json(tmp_path: Path) -> None:
    pages, output = write(tmp_path / "p.jsonl", *ROWS), tmp_path / "out.jsonl"
    counts = {"pages": 4, "unique": 2, "duplicate": 1, "abstained": 1, "skipped": 0}
    assert told(check(pages, "--output", output, "--json")) == counts
    assert len(output.read_text().splitlines()) == 4


@table_of("commands", "what_cannot_be_used_is_said_in_one_sentence")
def test_what_cannot_be_used_is_said_in_one_sentence(tmp_path: Path, arguments: list[str], says: str) -> None:
    pages = write(tmp_path / "p.jsonl", *ROWS)
    write(tmp_path / "words.txt", "cloud computing\n")
    write(tmp_path / "shop.toml", SHOP.replace("css:.note", "css:p["))
    verdicts(check(pages, "--index", tmp_path / "index"))
    check_refused(check(pages, *(argument.replace("FOLDER", str(tmp_path)) for argument in arguments)), says)


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


def test_rows_that_are_broken_in_the_same_way_are_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "report.html", "<!DOCTYPE html>\n", "\ufeff\n", *["<p>\n"] * 1_200, '{"url": 1}\n')
    result = check(path)
    check_refused(result, "no row is a page: it takes WARC, or JSON Lines")
    first, counts, _ = result.stderr.splitlines()
    assert first == f"{path}, lines 1, 2, 3, 4, 5, …: skipped, not a JSON object"
    assert counts == (
        "0 pages: 0 unique, 0 duplicate, 0 abstained; 1,203 broken rows skipped "
        "(1,202 not a JSON object, 1 url must be a string, not a number)"
    )
