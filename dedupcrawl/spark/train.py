"""Crawl logs in, rule files out, on Spark: the stages of Koppula et al. (2010), Sect. 4, as dataframes keyed by site.

Rows are divided by site once; then one task learns the rules of a site, by the code of the local engine. If a site has
more rows than a task holds, it learns from a sample of the pages, with all URLs that lead to each. (Both engines test a
site's rules on at most `learning_part.MOST_URLS` URLs.)
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.spark.reading import REPORT, add_reports, check_formats, in_order, read_logs
from dedupcrawl.spark.session import spark_session
from dedupcrawl.training.learning_part import Learned, RulesBefore, learn_sites
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.train import TrainingSummary, write_all
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import file_of, read_named, rule_files

_MOST_ROWS = 1_000_000  # of a site that one task clusters
_MOST_ROWS_OF_A_PAGE = 1_000  # in a sample
_ROWS_A_PART = 250_000  # aim for a task
_COLUMN = "learned"
_LEARNED = "learned binary"


def train_on_spark(logs: Sequence[str], folder: Path, options: LearningOptions, *, tally: Tally) -> TrainingSummary:
    """As `training.train.train`, with the same rules where no site is sampled; they are written by this process.

    Of a site that one task does not hold the summary tells of the sample.

    For the logs see `reading.read_logs`.

    Raises:
        LogError: A log cannot be read; nothing is written.
        RuleError: Nor is it where a rule file in `folder` cannot be read.
        WorkFailedError: Spark cannot be started, or a job failed; nothing is written.
        OSError: A file cannot be written.
    """
    started = time.perf_counter()
    check_formats(logs)
    files = rule_files([folder]) if folder.exists() else {}  # of this machine
    before = {name: read_named(path).rules for name, path in files.items()}

    def of_file(site: str) -> Sequence[Rule]:
        return file_of(before, site) or ()

    with spark_session() as spark:
        rows, names = read_logs(spark, logs)
        rows = rows.persist()
        add_reports(tally, rows, names)
        pages = rows.where(F.col(REPORT).isNull())
        sizes = pages.groupBy("site").count()
        large = [(row["site"], _MOST_ROWS / row["count"]) for row in sizes.where(F.col("count") > _MOST_ROWS).collect()]
        if large:
            pages = _sampled(pages, spark.createDataFrame(large, "site string, share double"))
        parts = max(spark.sparkContext.defaultParallelism, tally.rows // _ROWS_A_PART)
        learned = Learned()
        for row in pages.repartition(parts, "site").mapInArrow(partial(_learn, options, of_file), _LEARNED).collect():
            learned += pickle.loads(bytes(row[_COLUMN]))  # made by our own tasks, like all that Spark brings from them
        rows.unpersist()
    return write_all(learned, folder, tally, started)


def _learn(
    options: LearningOptions, rules_before: RulesBefore, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What a task learns: all rows of its sites → what was learned of them."""
    found = list(batches)
    if found:
        rows = in_order(pa.Table.from_batches(found))
        del found
        learned = pickle.dumps(learn_sites(rows, options, rules_before))
        yield pa.RecordBatch.from_pylist([{_COLUMN: learned}])


def _sampled(rows: DataFrame, shares: DataFrame) -> DataFrame:
    """All rows of sites that have no share here; of the others those of this share of their pages.

    What tells a page is its content, or that of the URL that the row leads to. Of a page with very many rows, as a soft
    404 has, a part is drawn by URL. Links between pages of different contents may be torn, which costs evidence.
    """
    held = F.when(F.col("alias_held"), F.col("alias_of"))
    said = F.when(F.col("content").isNull(), F.col("canonical"))  # else it counts only where the contents agree
    to = F.coalesce("redirect_to", held, "duplicate_of", said, "url")
    large = rows.join(F.broadcast(shares), "site").withColumn("to", to)
    contents = large.where("content is not null").groupBy(F.col("url").alias("to")).agg(F.max("content").alias("of_to"))
    large = large.join(contents, "to", "left").withColumn("page", F.coalesce(F.col("of_to").cast("string"), "to"))
    sizes = large.groupBy("site", "page").agg((_MOST_ROWS_OF_A_PAGE / F.count("*")).alias("share_of_page"))
    drawn = large.join(sizes, ["site", "page"]).where(_point("page") < F.col("share"))
    drawn = drawn.where(_point("url") < F.col("share_of_page")).select(rows.columns)
    return rows.join(F.broadcast(shares), "site", "left_anti").select(rows.columns).unionAll(drawn)


def _point(column: str) -> Column:
    """From 0 to 1, by a cryptographic hash, so that a site cannot easily choose what is drawn of it."""
    return F.conv(F.substring(F.sha2(F.col(column), 256), 1, 13), 16, 10).cast("double") / (1 << 52)
