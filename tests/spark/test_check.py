"""Checks and training on Spark."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.check import command
from dedupcrawl.commands.train import command as command_train
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import TrainingSummary, train
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.spark.logs import messy_json_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("ran", "tel", "mos", "dik", "lup")]
FOOTER = "All rights reserved by the editors of this paper; write to us at any hour of the day about what is wrong here"


def pages() -> list[bytes]:
    """Articles of three sites with reprints, excerpts, near copies, a template, and rows that are not pages."""
    chance = random.Random(1)
    lines = []
    for number in range(40):
        paragraphs = [" ".join(chance.choices(WORDS, k=40)) for _ in range(chance.randrange(3, 8))]
        sites = chance.sample(["a.com", "www.a.com", "b.org", "c.net"], 2)
        versions = [paragraphs, paragraphs, paragraphs[:-1], [*paragraphs[:1], "and so on"], paragraphs[1:]]
        for place, version in enumerate(chance.sample(versions, chance.randrange(1, 4))):
            url = f"http://{sites[place % 2]}/{number}/{place}"
            if number % 3:
                row = {"url": url, "title": f"Article {number}", "text": "\n".join([*version, FOOTER])}
            else:
                html = "".join(f"<p>{text}</p>" for text in [*version, FOOTER])
                row = {"url": url, "html": f"<html><title>Article</title><body><main>{html}</main></body></html>"}
            lines.append(json.dumps(row).encode())
    chance.shuffle(lines)
    lines[5:5] = [b"broken", b"", b'{"url": "http://a.com/none"}', b'{"url": "http://a.com/short", "text": "short"}']
    lines[9:9] = [b'{"url": "http://b.org/\xff", "text": "\xe4\xb8\xad\xe6\x96\x87"}', lines[0]]
    return lines


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    lines = pages()
    half = len(lines) // 2
    (tmp_path / "first.jsonl").write_bytes(b"\n".join(lines[:half]))
    (tmp_path / "second.jsonl").write_bytes(b"\n".join(lines[half:]) + b"\n")
    return [str(tmp_path / "first.jsonl"), str(tmp_path / "second.jsonl")]


@pytest.mark.parametrize("options", [["--checks", "exact,simhash,mwo"], ["--set", "SCOPE=site"]])
def test_the_same_verdicts_as_on_one_machine(
    spark: SparkSession, tmp_path: Path, files: list[str], options: list[str]
) -> None:
    """Read in pieces of some pages; with a scope of sites each of them is judged by itself."""
    said = []
    spark.conf.set("spark.sql.files.maxPartitionBytes", 40_000)
    try:
        for engine in ("local", "spark"):
            out = tmp_path / f"{engine}.jsonl"
            args = [*files, "--order", "batch", "--engine", engine, "--output", str(out), "--json", *options]
            result = CliRunner().invoke(command, args)
            assert result.exit_code == 0, result.stderr
            told = {line for line in result.stderr.splitlines() if "skipped, " in line}
            said.append((result.stdout, out.read_text().splitlines(), told))
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert said[1] == said[0]
    rows = [json.loads(line) for line in said[0][1]]
    found = {row["verdict"] for row in rows}
    assert found == {"unique", "duplicate", "abstained"}
    assert sum(row["verdict"] == "duplicate" for row in rows) > 3
    assert len(said[0][2]) == 3


def test_pages_in_archives_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(b"WARC/1.0\r\n\r\n")
    result = CliRunner().invoke(command, [str(archive), "--order", "batch", "--engine", "spark"])
    assert result.exit_code == 2
    assert f"{archive} is WARC, which Spark cannot split" in result.stderr


@pytest.mark.parametrize("options", [[], ["--order", "batch", "--index", "memory:"]])
def test_what_is_only_done_here(tmp_path: Path, files: list[str], options: list[str]) -> None:
    result = CliRunner().invoke(command, [*files, "--engine", "spark", *options])
    assert result.exit_code == 2
    assert "--engine spark goes with --order batch" in result.stderr


if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def told(summary: TrainingSummary) -> dict[str, object]:
    return {name: value for name, value in summary.to_dict().items() if name not in ("seconds", "urls_per_second")}


def carry_over(folder: Path) -> None:
    """Rules that were learned before, some of which the log refutes."""
    rules = (
        Rule("of", "equivalence", match="/{x}/{}", to="/{x}/{}", source="learned"),
        Rule("p", "rewrite", drop=("p",), source="learned"),
    )
    for site in ("large.com", "c.net", "elsewhere.net"):
        write_rules(folder, SiteRules(site, rules))


def test_of_a_site_that_is_too_large_for_a_task_whole_pages_are_drawn(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all URLs of each, however they lead there; so its rules are found, and other sites are learned as ever."""
    from dedupcrawl.spark import train as on_spark

    monkeypatch.setattr(on_spark, "_MOST_ROWS", 1_000)
    monkeypatch.setattr(on_spark, "_MOST_ROWS_OF_A_PAGE", 50)
    rows = list[dict[str, object]]()
    for i in range(1_000):
        page: dict[str, object] = {"url": f"http://huge.com/{i}", "text_digest": f"page {i}"}
        rows += [page, {**page, "url": f"{page['url']}?sid={i * 7919 % 10007}"}]
        rows.append({"url": f"http://huge.com/old/{i}", "status": 301, "redirect_to": f"/{i}"})
        rows.append({"url": f"http://huge.com/print/{i}", "text_digest": f"p{i}", "duplicate_of": page["url"]})
        rows.append({"url": f"http://huge.com/gone/{i}", "text_digest": "no such page"})
    log = messy_json_lines(tmp_path / "log.jsonl")
    with log.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    here = train([log], tmp_path / "here", LearningOptions(), workers=1)
    there = on_spark.train_on_spark([str(log)], tmp_path / "there", LearningOptions(), tally=Tally())
    sizes = [summary.learned.redundant for summary in (there, here)]
    assert 0.15 < sizes[0] / sizes[1] < 0.35
    ours, theirs = (read_rules(tmp_path / folder / "huge.com.toml").rules for folder in ("there", "here"))
    assert [rule.effect for rule in ours] == [rule.effect for rule in theirs] != []
    elsewhere = [contents(tmp_path / folder) for folder in ("there", "here")]
    assert all(one.pop("huge.com.toml") for one in elsewhere)
    assert elsewhere[0] == elsewhere[1] != {}


def test_the_command(spark: SparkSession, tmp_path: Path) -> None:
    log = messy_json_lines(tmp_path / "log.jsonl")
    said = []
    for engine in ("local", "spark"):
        carry_over(tmp_path / engine)
        args = [str(log), "--rules", str(tmp_path / engine), "--engine", engine, "--json", "--min-coverage", "2"]
        result = CliRunner().invoke(command_train, args)
        assert result.exit_code == 0, result.stderr
        said.append({**json.loads(result.stdout), "seconds": 0, "urls_per_second": 0})
        assert "skipped rows: " in result.stderr
    assert said[0] == said[1]
    assert said[0]["carried_over_rules"] == {"kept": 3, "refuted": 1}
    assert contents(tmp_path / "local") == contents(tmp_path / "spark") != {}


def test_spark_leaves_interrupts_as_they_were(spark: SparkSession) -> None:
    assert getattr(signal.getsignal(signal.SIGINT), "__module__", None) != "pyspark.core.context"
