"""`dedupcrawl index`: figures that are true, or left out."""

from __future__ import annotations

import csv
from contextlib import closing
from pathlib import Path

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.index.contract import Index
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.runs import RunTally
from dedupcrawl.verdict import Verdict
from tests.commands.invoked import check_refused, checked, rows, run, told
from tests.crawls.site import prose
from tests.fixtures import table_of
from tests.index.toys import CHECKS, offer, page


def keep(index: Index, url: str, number: int, run: str = "run", title: str = "") -> None:
    offer(index, page(url, number, title=title, run=run), lambda check, other: None)


def test_info_of_an_index_that_is_opened_to_be_read(tmp_path: Path) -> None:
    index = ("--index", tmp_path / "index")
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n)} for n in range(3)], "--checks", "exact,simhash")
    found = told(run("index info", *index, "--json"))
    assert (found["pages"], found["postings/url"]) == (3, 3)
    assert sorted(found["checks"].split(", ")) == sorted(CHECK_NAMES), "a place for all of them"
    assert not {"postings/exact", "postings/simhash"} & found.keys()


def test_a_damaged_segment_is_made_anew_by_a_command_that_reads(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with closing(LmdbIndex(index, make_checks(CHECK_NAMES, {}), batch_pages=8)):
        pass
    checked(tmp_path, [{"url": f"http://a/{n}", "text": prose(n, 30)} for n in range(20)])
    (segment,) = index.glob("*.segment")
    for damage in (segment.unlink, lambda: next(index.glob("*.segment")).write_bytes(b"garbage" * 100)):
        damage()
        assert run("index verify", "--index", index).stdout == "20 pages, all sound\n"
    with closing(LmdbIndex(index, [])) as read:
        assert read.entry("http://a/3") is not None


@table_of("commands", "what_is_no_index_is_refused_and_one_further_down_is_named")
def test_what_is_no_index_is_refused_and_one_further_down_is_named(tmp_path: Path, where: str, says: str) -> None:
    job = tmp_path / "job"
    (job / "dedup").mkdir(parents=True)
    LmdbIndex(job / "dedup" / "index", CHECKS).close()
    check_refused(run("index info", "--index", tmp_path / where), says.replace("JOB", str(job)))


def test_rows_are_written_as_the_name_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://a.example/%E6%96%B0%E9%97%BB"
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        keep(made, url, 1)
    listing = ("index list", "--index", tmp_path / "index", "--output")
    (tmp_path / "rows").mkdir()
    monkeypatch.chdir(tmp_path / "rows")
    for name, shown in (("rows.CSV", "http://a.example/新闻"), ("rows.jsonl", url), ("rows", url)):
        assert run(*listing, name).exit_code == 0
        assert shown in Path(name).read_text("utf-8")
    for name in ("rows.xlsx", "rows.csv.gz"):
        check_refused(run(*listing, name), f"--output: {name} is neither .csv nor .jsonl")
    assert url in run(*listing, "-").stdout
    assert sorted(path.name for path in Path().iterdir()) == ["rows", "rows.CSV", "rows.jsonl"]


def test_the_rows_of_one_crawl(tmp_path: Path) -> None:
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        for number, name in enumerate(("one", "two")):
            RunTally(made, name, "toy").close()
            keep(made, f"http://a/{name}", number, run=name)
            dropped = Verdict(f"http://a/{name}-copy", "duplicate", f"http://a/{name}", "exact", 1.0)
            made.record(dropped, run=name, site="a", spider="toy", request=b"asked")
    listing = ("index list", "--index", tmp_path / "index", "--run")
    for chosen, names in (("one", ["one"]), ("last", ["two"]), ("all", ["one", "two"])):
        for drops in ((), ("--drops",)):
            assert sorted(row["run"] for row in rows(run(*listing, chosen, *drops))) == names
    check_refused(run(*listing, "nope"), "the index knows no run 'nope', but two, one.")


def test_no_spreadsheet_takes_a_title_for_a_formula(tmp_path: Path) -> None:
    titles = ("=1+1", "+1", "-1", "@SUM(1)", "1=1", "＝1+1", "a;=1", "a; ＋1")
    with closing(LmdbIndex(tmp_path / "index", CHECKS)) as made:
        for number, title in enumerate(titles):
            keep(made, f"http://a.example/{number}", number, title=title)
    output = tmp_path / "rows.csv"
    assert run("index list", "--index", tmp_path / "index", "--output", output).exit_code == 0
    more = ["'＝1+1", "a;'=1", "a;' ＋1"]
    with output.open(encoding="utf-8", newline="") as file:
        assert [row["title"] for row in csv.DictReader(file)] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "1=1", *more]
