from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.train import command
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.training import false_clusters, learning_part
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


def test_the_same_rules_as_the_local_engine_where_sites_are_too_large_for_a_task(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clusters, links, faults, false clusters and samples by dataframes. (Where none is: test_the_command.)"""
    from dedupcrawl.spark import train as on_spark

    monkeypatch.setattr(on_spark, "_MOST_ROWS", 40)
    monkeypatch.setattr(learning_part, "MOST_URLS", 170)
    monkeypatch.setattr(learning_part, "MOST_OF_A_CLUSTER", 2)
    monkeypatch.setattr(false_clusters, "MOST_SLOTS", 500)
    log = messy_json_lines(tmp_path / "log.jsonl")
    options = LearningOptions(min_coverage=2)
    for folder in ("here", "there"):
        carry_over(tmp_path / folder)
    here = train([log], tmp_path / "here", options, workers=1)
    there = on_spark.train_on_spark([str(log)], tmp_path / "there", options, tally=Tally())
    assert told(there) | {"log": {}} == told(here) | {"log": {}}
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert here.to_dict()["carried_over_rules"] == {"kept": 3, "refuted": 1}
    rules = [rule.id for rule in read_rules(tmp_path / "there" / "large.com.toml").rules]
    assert rules[-1] == "p" != rules[0]
    assert {"error status", "empty page", "unlike URLs"} >= here.learned.false_clusters.keys() > {"error status"}


def test_the_command(spark: SparkSession, tmp_path: Path) -> None:
    log = messy_json_lines(tmp_path / "log.jsonl")
    knowledge = tmp_path / "data.min.json"
    knowledge.write_text('{"providers": {"all": {"urlPattern": ".*", "rules": ["sid"]}}}')
    said = []
    for engine in ("local", "spark"):
        carry_over(tmp_path / engine)
        args = [str(log), "--rules", str(tmp_path / engine), "--engine", engine, "--json", "--min-coverage", "2"]
        result = CliRunner().invoke(command, [*args, "--knowledge", str(knowledge)])
        assert result.exit_code == 0, result.stderr
        said.append({**json.loads(result.stdout), "seconds": 0, "urls_per_second": 0})
        assert "skipped rows: " in result.stderr
    assert said[0] == said[1]
    assert said[0]["carried_over_rules"] == {"kept": 3, "refuted": 1}
    assert contents(tmp_path / "local") == contents(tmp_path / "spark") != {}


def test_spark_leaves_interrupts_as_they_were(spark: SparkSession) -> None:
    assert getattr(signal.getsignal(signal.SIGINT), "__module__", None) != "pyspark.core.context"


def test_a_site_cannot_make_a_url_that_passes_for_one_of_another_site(spark: SparkSession) -> None:
    from pyspark.sql import functions

    from dedupcrawl.spark.train import _key

    urls = ["http://a.example/old?i=1", "http://b.co/36ecQ2/qc6Y*"]  # xxHash64 can be solved for the last eight bytes
    rows = spark.createDataFrame([(url,) for url in urls], "url string")
    told = rows.select(functions.xxhash64("url").alias("forged"), _key("url").alias("key")).collect()
    assert len({row.forged for row in told}) == 1
    assert len({row.key for row in told}) == 2
