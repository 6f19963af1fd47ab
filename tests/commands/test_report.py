"""`dedupcrawl report`: what it writes, says and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dedupcrawl.cli import run
from dedupcrawl.commands.options import index_folder
from dedupcrawl.commands.report import command
from dedupcrawl.index.lmdb import LmdbIndex
from tests.commands.checked import checked
from tests.crawls.site import prose
from tests.report.made import tell_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with a page and two copies, and no rules."""
    monkeypatch.chdir(tmp_path)
    rows = [{"url": f"http://a.com/{n}", "text": prose(min(n, 1))} for n in range(4)]
    checked(tmp_path, rows)
    return tmp_path


def report(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(command, ["--index", str(folder / "index"), *options])


def test_what_it_says(folder: Path) -> None:
    output = folder / "report.html"
    result = report(folder, "--output", str(output))
    assert result.exit_code == 0, result.output
    assert "2 duplicates (2 would have been dropped), 0 in doubt, 0 rules" in result.stdout
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_page_is_not_printed(folder: Path) -> None:
    result = report(folder, "--output", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give it a name such as report.html" in result.stderr


def test_the_figures_alone(folder: Path) -> None:
    whole = json.loads(report(folder, "--output", "report.html", "--json").stdout)
    (folder / "report.html").unlink()
    before = sorted(folder.iterdir())
    figures = json.loads(report(folder, "--json").stdout)
    assert figures == {name: value for name, value in whole.items() if name not in {"output", "bytes"}}
    assert sorted(folder.iterdir()) == before


def test_what_it_says_as_json(folder: Path) -> None:
    output = folder / "report.html"
    result = report(folder, "--output", str(output), "--json")
    said = json.loads(result.stdout)
    (run,) = said.pop("runs")
    assert said == {
        "output": str(output),
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
    assert run["started"] <= run.pop("ended")
    del run["started"]
    assert run == {"run": "check", "spider": "", "kept": 2, "duplicates": 2, "in_doubt": 0, "saved": 0, "fell_back": 0}


def test_a_run_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    result = report(folder, "--output", str(folder / "report.html"), "--run", "\x1b[2J")
    assert result.exit_code == 2
    assert "the index knows no run '\\x1b[2J', but check." in result.stderr
    assert not (folder / "report.html").exists()
    index = LmdbIndex(folder / "index", [])
    for number in range(8):
        tell_run(index, f"run-{number}")
    index.close()
    said = report(folder, "--output", str(folder / "report.html"), "--run", "nope").stderr
    assert "but run-7, run-6, run-5, run-4, run-3, …." in said
    result = report(folder, "--output", str(folder / "report.html"))
    assert "run run-7: 0 duplicates" in result.stdout
    assert "The index knows 8 other runs: --run all shows them together." in result.stderr
    assert "9 runs: 2 duplicates" in report(folder, "--output", str(folder / "report.html"), "--run", "all").stdout


def test_a_log_that_is_none_is_named_and_the_rest_is_shown(folder: Path) -> None:
    log = folder / "log"
    log.write_bytes(b"\x00\x00")
    result = report(folder, "--output", str(folder / "report.html"), "--log", str(log))
    assert result.exit_code == 0
    assert "not a crawl log" in result.stderr
    assert "2 duplicates" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--output", "x.html", "--index", "nowhere"], 2, "there is no index at nowhere"),
        (["--output", "x.html", "--index", "memory:"], 2, "memory: is an index that ends with its crawl"),
        (["--index", "index"], 2, "--output"),
        (["--output", "pages.jsonl/x.html", "--index", "index"], 2, "there is no folder pages.jsonl"),
        (["--output", "new/x.html", "--index", "index"], 2, "there is no folder new"),
        (["--output", "index", "--index", "index"], 2, "is a directory"),
        (["--output", "x.html", "--index", "index", "--rules", "nope"], 2, "there are no rules at nope"),
    ],
)
def test_what_it_cannot_do(  # noqa: PLR0913 - cases and fixtures
    folder: Path,
    arguments: list[str],
    status: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert run(["report", *arguments]) == status
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


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
            result = report(tmp_path, "--output", str(tmp_path / "report.html"), "--json")
        finally:
            process.kill()
    assert json.loads(result.stdout)["duplicates"] > 100


@pytest.mark.parametrize(
    ("spec", "folder"),
    [
        ("lmdb:/data/x/index", "/data/x/index"),
        ("/data/x/index", "/data/x/index"),
        (None, ".scrapy/dedup/index"),
        ("lmdb:", ".scrapy/dedup/index"),
        ("redis://host/3", ".scrapy/dedup/index"),
    ],
)
def test_where_the_log_is_looked_for(
    spec: str | None, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scrapy.cfg").touch()
    monkeypatch.chdir(tmp_path)
    assert index_folder(spec) == tmp_path / folder
