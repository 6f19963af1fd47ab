"""`dedupcrawl report`: what it writes, says and refuses."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from dedupcrawl.index.lmdb import LmdbIndex
from tests.commands.invoked import check_refused, checked, run, told
from tests.crawls.site import prose
from tests.fixtures import table_of
from tests.report.made import tell_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with a page and two copies, and no rules."""
    monkeypatch.chdir(tmp_path)
    rows = [{"url": f"http://a.com/{n}", "text": prose(min(n, 1))} for n in range(4)]
    checked(tmp_path, rows)
    return tmp_path


def report(*options: str) -> Result:
    return run("report", "--index", "index", *options)


def test_what_it_says_as_json(folder: Path) -> None:
    alone = told(report("--json"))
    assert not (folder / "report.html").exists()
    said = told(report("--output", "report.html", "--json"))
    assert said == {"output": "report.html", "bytes": said["bytes"], **alone}
    output = folder / "report.html"
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    (of_run,) = said.pop("runs")
    assert said == {
        "output": "report.html",
        "bytes": output.stat().st_size,
        "run": "check",
        "duplicates": 2,
        "let_through": 2,
        "judged_again": 0,
        "given_back": 0,
        "in_doubt": 0,
        "kept": 2,
        "superseded": 0,
        "saved": 0,
        "fell_back": 0,
        "rules": 0,
        "rewritten": {"rules": 0, "aliases": 0},
        "aliases": [],
    }
    assert of_run.pop("started") <= of_run.pop("ended")
    figures = {"kept": 2, "duplicates": 2, "in_doubt": 0, "saved": 0, "fell_back": 0}
    assert of_run == {"run": "check", "spider": "", **figures}


def test_a_run_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    to = ("--output", "report.html", "--run")
    check_refused(report(*to, "\x1b[2J"), "the index knows no run '\\x1b[2J', but check.")
    assert not (folder / "report.html").exists()
    with closing(LmdbIndex(folder / "index", [])) as index:
        for number in range(8):
            tell_run(index, f"run-{number}")
    check_refused(report(*to, "nope"), "but run-7, run-6, run-5, run-4, run-3, ….")
    last = report("--output", "report.html")
    assert "run run-7: 0 duplicates" in last.stdout
    assert "The index knows 8 other runs: --run all shows them together." in last.stderr
    assert "9 runs: 2 duplicates (2 would have been dropped)" in report(*to, "all").stdout


def test_a_log_that_is_none_is_named_and_the_rest_is_shown(folder: Path) -> None:
    (folder / "log").write_bytes(b"\x00\x00")
    result = report("--output", "report.html", "--log", "log")
    assert result.exit_code == 0
    assert "not a crawl log" in result.stderr
    assert "2 duplicates" in result.stdout


@table_of("commands", "what_it_cannot_do")
def test_what_it_cannot_do(folder: Path, arguments: list[str], says: str) -> None:
    check_refused(report(*arguments), says)


def test_an_index_that_is_being_written_to(tmp_path: Path) -> None:
    """The writer is another process, as in a crawl."""
    writer = (
        "import sys\n"
        "from pathlib import Path\n"
        "from dedupcrawl.content.checks.registry import make_checks\n"
        "from dedupcrawl.index.lmdb import LmdbIndex\n"
        "from dedupcrawl.verdict import Verdict\n"
        "index = LmdbIndex(Path(sys.argv[1]), make_checks(['exact'], {}))\n"
        "for number in range(10**9):\n"
        "    verdict = Verdict(f'http://a.com/{number}', 'duplicate', 'http://a.com/', 'exact', 1.0)\n"
        "    index.record(verdict, run='r', site='s')\n"
        "    if number == 100:\n"
        "        print('go', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", writer, str(tmp_path / "index")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"go\n"
            figures = told(run("report", "--index", tmp_path / "index", "--json"))
        finally:
            process.kill()
    assert figures["duplicates"] > 100
