from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.train import command
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import TrainingSummary, train
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from tests.spark.logs import messy_json_lines

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
        result = CliRunner().invoke(command, args)
        assert result.exit_code == 0, result.stderr
        said.append({**json.loads(result.stdout), "seconds": 0, "urls_per_second": 0})
        assert "skipped rows: " in result.stderr
    assert said[0] == said[1]
    assert said[0]["carried_over_rules"] == {"kept": 3, "refuted": 1}
    assert contents(tmp_path / "local") == contents(tmp_path / "spark") != {}


def test_spark_leaves_interrupts_as_they_were(spark: SparkSession) -> None:
    assert getattr(signal.getsignal(signal.SIGINT), "__module__", None) != "pyspark.core.context"
