"""Every command that takes an INDEX takes one in Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dedupcrawl.index.open import open_index
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, checked, run, told
from tests.crawls.site import prose
from tests.fixtures import table_of
from tests.redis_server import RedisServer, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running(tmp_path_factory.mktemp("redis")) as server:
        yield server


def test_all_commands(server: RedisServer, tmp_path: Path) -> None:
    index = ("--index", server.url("commands"))
    pages = [{"url": f"http://a.example/{n}/{copy}", "text": prose(n)} for n in range(3) for copy in range(2)]
    assert [row["verdict"] for row in checked(tmp_path, pages, *index)] == ["unique", "duplicate"] * 3
    info = told(run("index info", "--json", *index))
    assert (info["pages"], info["verdicts"], info["index"]) == (3, 3, index[1])
    assert run("index verify", *index).stdout == "3 pages, all sound\n"
    assert "duplicate of http://a.example/1/0" in run("explain", "http://a.example/1/1", *index).stdout
    assert run("index restore", "http://a.example/1/1", *index).stdout == "", "check drops nothing"
    with closing(open_index(index[1], [])) as opened:
        dropped = Verdict("http://a.example/9", "duplicate", "http://a.example/0/0")
        opened.record(dropped, run="", site="", request=b"asked")
    assert run("index restore", "http://a.example/9", *index).stdout.startswith('{"url":"http://a.example/9",')
    assert run("index forget", "http://a.example/2/0", *index).exit_code == 0
    assert run("index compact", *index).exit_code == 0
    assert run("report", "--output", tmp_path / "report.html", *index).exit_code == 0
    info = told(run("index info", "--json", *index))
    assert (info["pages"], info["verdicts"], info["restored"]) == (2, 3, 1)


@table_of("commands", "what_cannot_be_opened_is_one_sentence")
def test_what_cannot_be_opened_is_one_sentence(server: RedisServer, spec: str, status: int, says: str) -> None:
    check_refused(run("index info", "--index", spec.format(port=server.port)), says, status)
