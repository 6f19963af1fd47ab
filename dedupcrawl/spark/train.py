"""Crawl logs in, rule files out, on Spark: the stages of Koppula et al. (2010), Sect. 4, as dataframes keyed by site.

Rows are read where they lie and parted by site once; a site is then learned by one task, by the code of the local
engine. Sites of too many rows for a task are clustered and thinned as dataframes first (`large_sites`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import functions as F

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.spark import learning
from dedupcrawl.spark.learning import SCHEMA, at_hand, learn_large_sites, packed, with_files
from dedupcrawl.spark.lines import add_to
from dedupcrawl.spark.log_rows import TOLD, in_order, read_logs, tells
from dedupcrawl.spark.session import spark_session
from dedupcrawl.training.learning_part import Learned, LearningOptions, RulesBefore, learn_sites
from dedupcrawl.training.page_rows import hashed
from dedupcrawl.training.train import TrainingSummary, write_all

_MOST_ROWS = 1_000_000  # of a site that one task clusters
_ROWS_A_PART = 250_000  # aim for a task


def train_on_spark(logs: Sequence[str], folder: Path, options: LearningOptions, *, tally: Tally) -> TrainingSummary:
    """As `training.train.train`, with the same result row for row; the rules are written by this process.

    Args:
        logs: Paths or URIs, see `log_rows.read_logs`.
        folder: As there.
        options: As there.
        tally: As there.

    Raises:
        LogError: A log cannot be read; nothing is written.
        NoSparkError: Spark cannot be started.
        SparkFailedError: A job failed; nothing is written.
        OSError: A file cannot be written.
    """
    started = time.perf_counter()
    with spark_session() as spark:
        rows, names = read_logs(spark, logs)
        rows, options = rows.persist(), with_files(spark, options)
        add_to(tally, tells(rows), names)
        pages = rows.where(F.col(TOLD).isNull())
        sizes = pages.groupBy("site").count()
        large = [row["site"] for row in sizes.where(F.col("count") > _MOST_ROWS).collect()]
        parts = max(spark.sparkContext.defaultParallelism, tally.rows // _ROWS_A_PART)
        learned, of_large = Learned(), F.col("site").isin(large)
        carried_over = learning.shared(spark, folder)
        small = pages.where(~of_large).repartition(parts, "site")
        learning.add_to(learned, small.mapInArrow(partial(_learn, options, carried_over), SCHEMA))
        if large:
            learned += learn_large_sites(pages.where(of_large), options, {site: carried_over(site) for site in large})
        rows.unpersist()
    return write_all(learned, folder, tally, started)


def _learn(
    options: LearningOptions, carried_over: RulesBefore, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What a task learns: all rows of its sites → what was learned of them."""
    found = list(batches)
    if found:
        rows = hashed(in_order(pa.Table.from_batches(found)))
        del found
        yield from packed([learn_sites(rows, at_hand(options), carried_over)]).to_batches()
