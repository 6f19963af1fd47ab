"""Every command that takes an INDEX takes one in Redis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.cli import group
from dedupcrawl.index.open import open_index
from dedupcrawl.verdict import Verdict
from tests.crawls.site import prose
from tests.redis_server import RedisServer, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running(tmp_path_factory.mktemp("redis")) as server:
        yield server


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, arguments)


def test_all_commands(server: RedisServer, tmp_path: Path) -> None:
    index = ("--index", server.url("commands"))
    pages = tmp_path / "pages.jsonl"
    rows = [{"url": f"http://a.example/{n}/{copy}", "text": prose(n)} for n in range(3) for copy in range(2)]
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    checked = run("check", str(pages), *index)
    assert [json.loads(line)["verdict"] for line in checked.stdout.splitlines()] == ["unique", "duplicate"] * 3
    info = json.loads(run("index", "info", "--json", *index).stdout)
    assert (info["pages"], info["verdicts"], info["index"]) == (3, 3, index[1])
    assert run("index", "verify", *index).stdout == "3 pages, all sound\n"
    assert "duplicate of http://a.example/1/0" in run("explain", "http://a.example/1/1", *index).stdout
    assert run("index", "restore", "http://a.example/1/1", *index).stdout == ""  # check drops nothing
    opened = open_index(index[1], [])
    opened.record(Verdict("http://a.example/9", "duplicate", "http://a.example/0/0"), run="", site="", request=b"asked")
    opened.close()
    assert run("index", "restore", "http://a.example/9", *index).stdout.startswith('{"url":"http://a.example/9",')
    assert run("index", "forget", "http://a.example/2/0", *index).exit_code == 0
    assert run("index", "compact", *index).exit_code == 0
    assert run("report", "--output", str(tmp_path / "report.html"), *index).exit_code == 0
    info = json.loads(run("index", "info", "--json", *index).stdout)
    assert (info["pages"], info["verdicts"], info["restored"]) == (2, 3, 1)


@pytest.mark.parametrize(
    ("spec", "status", "told"),
    [
        ("redis://127.0.0.1:{port}/0?prefix=nothing", 2, "there is no index at redis://127.0.0.1"),
        ("redis://127.0.0.1:1/0", 1, "; start a server there, or name another index"),
        ("redis://127.0.0.1:{port}/0?prefix={{}}", 2, "the prefix"),
        ("redis://127.0.0.1:{port}/zero", 2, "not the number of a database"),
    ],
)
def test_what_cannot_be_opened_is_one_sentence(server: RedisServer, spec: str, status: int, told: str) -> None:
    done = run("index", "info", "--index", spec.format(port=server.port))
    assert done.exit_code == status
    assert told in done.output
    assert len(done.output.strip().splitlines()) == 1
