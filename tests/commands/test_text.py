"""`dedupcrawl text`: what is read of a page, of a file or of an index; and what selectors leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.commands.selection import forms_of
from dedupcrawl.commands.text import lines_of
from dedupcrawl.core.digests import Secret
from dedupcrawl.core.template import RECURRING, Template
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.page import Page
from tests.commands import invoked
from tests.commands.invoked import check_refused, checked, run
from tests.crawls.site import prose
from tests.fixtures import table_of


def text(*arguments: object, **given: Any) -> Result:
    return run("text", *arguments, **given)


def told(*arguments: object) -> Any:
    return invoked.told(text(*arguments, "--json"))


def html(number: int) -> str:
    return (
        f"<title>Topic {number}</title><body><div class=post><p>{prose(number, 150)}</p></div>"
        f"<p>Welcome to the board of the friends of old pumps, where everybody is at home.</p>"
        f"<p class=stats>There are {number} guests and {number + 7} members online on this board now.</p></body>"
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    checked(
        tmp_path, [{"url": f"http://a.example/{n}", "html": html(n)} for n in range(1, 13)], "--set", "KEEP_TEXT=True"
    )
    return tmp_path / "index"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "page.html").write_text(html(77), encoding="utf-8")
    return tmp_path / "page.html"


def test_no_secret_of_an_index_makes_a_slot_of_a_line_without_values() -> None:
    page = Page("http://a.example/77", title="Topic 77", paragraphs=("Welcome to the board of the friends of pumps",))
    for number in range(400):  # a word has the symbol of a date word by one secret in 546
        secret, template = Secret.of(b"%d" % number), Template()
        for _ in range(RECURRING):
            template.add(Analysis(page, secret).text.block_hashes)
        assert [line.kind for line in lines_of(page, template, secret)[0]] == ["furniture"]


def test_it_can_be_read_without_colours_and_with(file: Path, index: Path) -> None:
    arguments = (file, "--index", index, "--url", "http://a.example/77")
    plain, coloured = text(*arguments).stdout, text(*arguments, color=True).stdout
    assert plain.startswith("Topic 77\nmain text: ")
    assert "- Welcome to the board" in plain
    assert "~ There are 77 guests" in plain
    assert "\x1b[" not in plain
    assert "\x1b[33m~ There are" in coloured


@table_of("commands", "what_cannot_be_read")
def test_what_cannot_be_read(tmp_path: Path, file: Path, index: Path, arguments: list[str], says: str) -> None:
    checked(tmp_path, [{"url": "http://c.example/", "text": prose(50)}])
    (empty := tmp_path / "empty.html").touch()
    there = {"INDEX": index, "FILE": file, "FOLDER": tmp_path, "EMPTY": empty}
    check_refused(text(*(there.get(argument, argument) for argument in arguments)), says)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<p>" + b"pump " * 500_000, "of more than 2 MB of HTML"),
        (b"%PDF-1.4\n1 0 obj << /Type /Catalog >>", "does not look like HTML"),
        (bytes(range(256)) * 9, "does not look like HTML"),
        (html(1).encode(), None),
        (html(1).encode("utf-16"), None),
        (html(1).encode("utf-16-le"), None),
        (f"Here it begins. {html(1)}".encode("utf-16-le"), "this looks like UTF-16 without a byte order mark"),
        (f"Here it begins. {html(1)}".encode("utf-16-be"), "save it as UTF-8"),
    ],
)
def test_why_a_file_has_no_text_or_what_is_none(tmp_path: Path, body: bytes, said: str | None) -> None:
    (tmp_path / "page.html").write_bytes(body)
    warning = told(tmp_path / "page.html")["warning"]
    assert said in warning if said else warning is None


def test_no_terminal_obeys_a_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<title>a\x1b[2J</title><p>{prose(1)} \x1b[2J</p>", encoding="utf-8")
    assert "\x1b" not in text(path).stdout


@table_of("commands", "as_a_crawl_writes_it")
def test_as_a_crawl_writes_it(typed: str, form: str) -> None:
    assert form in forms_of(typed)


@pytest.mark.parametrize("typed", ["example.com", "http://example.com", "http://example.com/"])
def test_a_host_alone_is_first_of_all_the_page_at_its_slash(typed: str) -> None:
    assert forms_of(typed)[:2] == ["http://example.com/", "http://example.com"]


@pytest.mark.parametrize("typed", ["foo", "", "javascript:alert(1)", "data:text/html,x", "ftp://a.example/", "a b.c"])
def test_what_is_no_url(typed: str) -> None:
    assert forms_of(typed) == []


@given(st.one_of(st.text(), st.text().map("http://{}".format), st.text().map("http://a.example/{}".format)))
def test_any_text(typed: str) -> None:
    forms = forms_of(typed)
    assert len(forms) <= 9
    assert len(set(forms)) == len(forms)


def test_what_is_longer_than_any_url_is_none() -> None:
    assert forms_of("http://a.example/" + "<" * 20_000) == []
