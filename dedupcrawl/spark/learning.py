"""How what tasks have learned comes back, and how they get at the files of the options."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark import Broadcast, SparkFiles
from pyspark.sql import DataFrame, SparkSession

from dedupcrawl.sites import other_form
from dedupcrawl.training.learning_part import Learned, LearningOptions, RulesBefore
from dedupcrawl.training.rule_folder import learned_rules
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import file_name, rule_files

SCHEMA = "learned binary"
_COLUMN = "learned"


def packed(learned: Sequence[Learned]) -> pa.Table:
    """Rows of `SCHEMA`."""
    return pa.table({_COLUMN: pa.array([pickle.dumps(one) for one in learned], pa.binary())})


def add_to(learned: Learned, rows: DataFrame) -> None:
    """Add up what is in rows of `SCHEMA`."""
    for row in rows.collect():
        learned += pickle.loads(bytes(row[_COLUMN]))  # made by our own tasks, like all that Spark brings from them


def with_files(spark: SparkSession, options: LearningOptions) -> LearningOptions:
    """Have Spark bring the options' file to every machine; tasks call `at_hand` on what this returns."""
    if options.knowledge is None:
        return options
    spark.sparkContext.addFile(str(options.knowledge))
    return replace(options, knowledge=Path(options.knowledge.name))


def at_hand(options: LearningOptions) -> LearningOptions:
    """In a task: the options with the path of their file on this machine."""
    if options.knowledge is None:
        return options
    return replace(options, knowledge=Path(SparkFiles.get(options.knowledge.name)))


def shared(spark: SparkSession, folder: Path) -> RulesBefore:
    """The rules that were learned from earlier logs into a folder of this machine, for every machine."""
    files = rule_files([folder]) if folder.exists() else {}
    found = {name: rules for name, path in files.items() if (rules := learned_rules(path))}
    return partial(_of_site, spark.sparkContext.broadcast(found))


def _of_site(found: Broadcast[dict[str, tuple[Rule, ...]]], site: str) -> tuple[Rule, ...]:
    names = file_name(site), file_name(other_form(site))
    return next((found.value[name] for name in names if name in found.value), ())
