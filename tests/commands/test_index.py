"""`dedupcrawl index`: figures that are true, or left out."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from dedupcrawl.commands.console import Command, FailureError
from dedupcrawl.commands.index import command
from dedupcrawl.commands.options import open_existing
from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.runs import RunTally
from dedupcrawl.verdict import Verdict
from tests.commands.checked import checked
from tests.crawls.site import prose
from tests.index.toys import CHECKS, offer, page


def test_info_of_an_index_that_is_opened_to_be_read(tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n)} for n in range(3)], "--checks", "exact,simhash")
    told = json.loads(CliRunner().invoke(command, ["info", "--index", index, "--json"]).stdout)
    assert (told["pages"], told["postings/url"]) == (3, 3)
    assert sorted(told["checks"].split(", ")) == sorted(CHECK_NAMES), "a place for all of them"
    assert not {"postings/exact", "postings/simhash"} & told.keys()
    assert "pages         3\n" in CliRunner().invoke(command, ["info", "--index", index]).stdout
    assert CliRunner().invoke(command, ["verify", "--index", index]).stdout == "3 pages, all sound\n"


@pytest.mark.parametrize("error", [OSError(5, "the index: Input/output error"), IndexDamagedError("page 7 is torn")])
def test_what_goes_wrong_while_an_index_is_read_is_one_sentence(tmp_path: Path, error: Exception) -> None:
    index = str(tmp_path / "index")
    open_index(index, make_checks(CHECK_NAMES, {}), default_path=tmp_path / "index").close()
    told = Command("told", callback=lambda: _fail(index, error))
    with pytest.raises(FailureError, match=r"error|torn"):
        told.main([], standalone_mode=False)


def _fail(index: str, error: Exception) -> None:
    with open_existing(index):
        raise error


def test_a_damaged_segment_is_made_anew_by_a_command_that_reads(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with closing(LmdbIndex(index, make_checks(CHECK_NAMES, {}), batch_pages=8)):
        pass
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n, 30)} for n in range(20)])
    (segment,) = index.glob("*.segment")
    for damage in (segment.unlink, lambda: next(index.glob("*.segment")).write_bytes(b"garbage" * 100)):
        damage()
        assert CliRunner().invoke(command, ["verify", "--index", str(index)]).stdout == "20 pages, all sound\n"
    with closing(LmdbIndex(index, [])) as read:
        assert read.entry("http://a/3") is not None


def test_a_folder_that_holds_an_index_further_down(tmp_path: Path) -> None:
    (tmp_path / "job" / "dedup").mkdir(parents=True)
    LmdbIndex(tmp_path / "job" / "dedup" / "index", CHECKS).close()
    wrong = CliRunner().invoke(command, ["info", "--index", str(tmp_path / "job")])
    assert wrong.exit_code == 2
    assert f"but at {tmp_path}/job/dedup/index: name that with --index." in wrong.stderr
    file = CliRunner().invoke(command, ["info", "--index", str(tmp_path / "job" / "dedup" / "index" / "data.mdb")])
    assert file.exit_code == 2
    assert "data.mdb is a file: --index takes the folder of an index, such as .scrapy/dedup/index." in file.stderr
    empty = CliRunner().invoke(command, ["info", "--index", str(tmp_path)])
    assert empty.exit_code == 2
    assert f"there is no index at {tmp_path}: crawl first" in empty.stderr


@pytest.mark.parametrize("name", ["forget", "restore"])
def test_a_url_that_the_index_does_not_know_is_said_to_be_unknown(tmp_path: Path, name: str) -> None:
    LmdbIndex(tmp_path / "index", CHECKS).close()
    done = CliRunner().invoke(command, [name, "http://a.com/nope", "--index", str(tmp_path / "index")])
    assert done.exit_code == 1
    assert "the index " in done.output
    assert "these URLs" in done.output


def test_rows_are_written_as_the_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://a.example/%E6%96%B0%E9%97%BB"
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        offer(made, page(url, 1), lambda check, other: None)
    listing = ("list", "--index", str(tmp_path / "index"), "--output")
    (tmp_path / "rows").mkdir()
    monkeypatch.chdir(tmp_path / "rows")
    for name, shown in (("rows.CSV", "http://a.example/新闻"), ("rows.jsonl", url), ("rows", url)):
        assert CliRunner().invoke(command, [*listing, name]).exit_code == 0
        assert shown in Path(name).read_text("utf-8")
    for name in ("rows.xlsx", "rows.csv.gz"):
        refused = CliRunner().invoke(command, [*listing, name])
        assert refused.exit_code == 2
        assert f"--output: {name} is neither .csv nor .jsonl" in refused.stderr
    assert url in CliRunner().invoke(command, [*listing, "-"]).stdout
    assert sorted(path.name for path in Path().iterdir()) == ["rows", "rows.CSV", "rows.jsonl"]


def test_the_rows_of_one_crawl(tmp_path: Path) -> None:
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        for number, run in enumerate(("one", "two")):
            RunTally(made, run, "toy").close()
            offer(made, msgspec.structs.replace(page(f"http://a/{run}", number), run=run), lambda check, other: None)
            dropped = Verdict(f"http://a/{run}-copy", "duplicate", f"http://a/{run}", "exact", 1.0)
            made.record(dropped, run=run, site="a", spider="toy", request=b"asked")
    for chosen, runs in (("one", ["one"]), ("last", ["two"]), ("all", ["one", "two"])):
        for drops in ((), ("--drops",)):
            arguments = ["list", "--index", str(tmp_path / "index"), "--run", chosen, *drops]
            listed = CliRunner().invoke(command, arguments).stdout.splitlines()
            assert sorted(json.loads(line)["run"] for line in listed) == runs
    unknown = CliRunner().invoke(command, ["list", "--index", str(tmp_path / "index"), "--run", "nope"])
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "the index knows no run 'nope', but two, one." in unknown.stderr


def test_no_spreadsheet_takes_a_title_for_a_formula(tmp_path: Path) -> None:
    titles = ("=1+1", "+1", "-1", "@SUM(1)", "1=1", "＝1+1", "a;=1", "a; ＋1")
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        for number, title in enumerate(titles):
            offer(made, page(f"http://a.example/{number}", number, title=title), lambda check, other: None)
    output = tmp_path / "rows.csv"
    listing = ("list", "--index", str(tmp_path / "index"), "--output", str(output))
    assert CliRunner().invoke(command, listing).exit_code == 0
    more = ["'＝1+1", "a;'=1", "a;' ＋1"]
    with output.open(encoding="utf-8", newline="") as file:
        assert [row["title"] for row in csv.DictReader(file)] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "1=1", *more]


@pytest.mark.parametrize("arguments", [("info",), ("verify",), ("list",), ("restore", "--check", "exact")])
def test_a_damaged_page_of_the_database_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """What LMDB says of the transaction that met it is no traceback."""
    index = LmdbIndex(tmp_path / "index", CHECKS)
    for number in range(50):
        offer(index, page(f"http://a.example/{number}", number), lambda check, other: None)
    index.close()
    with (tmp_path / "index" / "data.mdb").open("r+b") as file:
        file.seek(8192)
        file.write(b"garbage" * 2000)
    result = CliRunner().invoke(command, [*arguments, "--index", str(tmp_path / "index")])
    assert result.exit_code == 1
    assert "is damaged" in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_damage_that_ends_whoever_reads_it_is_a_sentence(tmp_path: Path) -> None:
    """LMDB aborts at some of its own pages, if they are zeros."""
    index = tmp_path / "index"
    with closing(LmdbIndex(index, CHECKS, batch_pages=8)) as made:
        for number in range(500):
            offer(made, page(f"http://a.example/{number}", number), lambda check, other: None)
            if number % 100 == 0:
                assert made.verify() == []  # waits for the thread that folds, or on a busy machine little is folded
    journal = index / "data.mdb"
    whole, zeros = journal.read_bytes(), bytes(4096)
    for at in range(8192, len(whole), 4096):
        if whole[at : at + 4096] == zeros:
            continue
        with journal.open("r+b") as file:
            file.seek(at)
            file.write(zeros)
        done = CliRunner().invoke(command, ["verify", "--index", str(index)])
        journal.write_bytes(whole)
        assert done.exit_code in {0, 1, 2}
        if "is damaged: reading it ended the process that did" in done.stderr:
            break
    else:
        pytest.fail("no page ended it")
