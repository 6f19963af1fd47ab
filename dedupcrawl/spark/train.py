"""Learn rule files from crawl logs on Spark: the stages of Koppula et al. (2010), Sect. 4, as dataframes keyed by site.

Spark divides the rows by site once; then one task learns the rules of a site, with the code of the local engine. If a
site has more rows than a task can hold, the task learns from a sample of pages, with all URLs that lead to each. (Both
engines test a site's rules on at most `learning_part.MOST_URLS` URLs.)
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

_MOST_ROWS = 1_000_000  # most rows of a site in one task
_MOST_ROWS_OF_A_PAGE = 1_000  # about the most rows of a page in a sample
_ROWS_A_PART = 250_000  # intended rows of a task
_COLUMN = "learned"
_LEARNED = "learned binary"


def train_on_spark(logs: Sequence[str], folder: Path, options: LearningOptions, *, tally: Tally) -> TrainingSummary:
    """Like `training.train.train`; the rules are the same, except for sites that are sampled.

    This process writes the rules. For a sampled site, the summary describes the sample. `reading.read_logs` says which
    logs it takes.

    Raises:
        LogError: A log cannot be read; nothing is written.
        RuleError: A rule file in `folder` cannot be read; nothing is written.
        WorkFailedError: Spark cannot be started, or a job failed; nothing is written.
        OSError: A file cannot be written.
    """
    started = time.perf_counter()
    check_formats(logs)
    files = rule_files([folder]) if folder.exists() else {}  # on this machine
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
            learned += pickle.loads(bytes(row[_COLUMN]))  # safe: our own tasks have pickled it
        rows.unpersist()
    return write_all(learned, folder, tally, started)


def _learn(
    options: LearningOptions, rules_before: RulesBefore, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    frames = list(batches)
    if frames:
        rows = in_order(pa.Table.from_batches(frames))
        del frames
        learned = pickle.dumps(learn_sites(rows, options, rules_before))
        yield pa.RecordBatch.from_pylist([{_COLUMN: learned}])


def _sampled(rows: DataFrame, shares: DataFrame) -> DataFrame:
    """Sample the sites in `shares`: keep the rows of this share of their pages, and all rows of other sites.

    A page is identified by its content, or by that of the URL that a row leads to. Of a page with very many rows, such
    as a soft 404, only some URLs are drawn. Links between pages with different contents may be lost as evidence.
    """
    held = F.when(F.col("alias_held"), F.col("alias_of"))
    content = F.when(
        F.col("content").isNull(), F.col("canonical")
    )  # with a content, it counts only if the contents agree
    to = F.coalesce("redirect_to", held, "duplicate_of", content, "url")
    large = rows.join(F.broadcast(shares), "site").withColumn("to", to)
    contents = large.where("content is not null").groupBy(F.col("url").alias("to")).agg(F.max("content").alias("of_to"))
    large = large.join(contents, "to", "left").withColumn("page", F.coalesce(F.col("of_to").cast("string"), "to"))
    sizes = large.groupBy("site", "page").agg((_MOST_ROWS_OF_A_PAGE / F.count("*")).alias("share_of_page"))
    drawn = large.join(sizes, ["site", "page"]).where(_point("page") < F.col("share"))
    drawn = drawn.where(_point("url") < F.col("share_of_page")).select(rows.columns)
    return rows.join(F.broadcast(shares), "site", "left_anti").select(rows.columns).unionAll(drawn)


def _point(column: str) -> Column:
    """A number from 0 to 1 from a cryptographic hash, so that a site cannot easily choose which rows are drawn."""
    return F.conv(F.substring(F.sha2(F.col(column), 256), 1, 13), 16, 10).cast("double") / (1 << 52)
