"""Crawl logs in, rule files out, on Spark: the stages of Koppula et al. (2010), Sect. 4, as dataframes keyed by site.

Rows are parted by site once; a site is then learned by one task, by the code of the local engine. Sites of more rows
than a task holds are clustered, cleaned and thinned as dataframes first: what `clusters_of` and `bounded` do in memory,
said again for Spark, so that nothing grows with a site but one task's sort on disk and its links, 16 bytes each.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.spark.reading import ORDER, REPORT, add_reports, check_formats, in_order, read_logs
from dedupcrawl.spark.session import materialized, spark_session
from dedupcrawl.training import false_clusters, learning_part
from dedupcrawl.training.clusters import (
    DISBELIEVED,
    NEAR,
    NEAR_OF_ONE_REQUEST,
    SHARED,
    UNLIKE,
    SitePages,
    components,
)
from dedupcrawl.training.evaluate import measured
from dedupcrawl.training.learning_part import (
    Learned,
    RulesBefore,
    learn_bounded,
    learn_sites,
    rules_after,
    without_cycle_detection,
)
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import FAULTS
from dedupcrawl.training.train import TrainingSummary, write_all
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import file_of, read_named, rule_files

_MOST_ROWS = 1_000_000  # of a site that one task clusters
_ROWS_A_PART = 250_000  # aim for a task


def train_on_spark(logs: Sequence[str], folder: Path, options: LearningOptions, *, tally: Tally) -> TrainingSummary:
    """As `training.train.train`, with the same rules; they are written by this process.

    Of a site that one task does not hold the summary's `log` tells of the URLs on which its rules were proved.

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
        large = [row["site"] for row in sizes.where(F.col("count") > _MOST_ROWS).collect()]
        parts = max(spark.sparkContext.defaultParallelism, tally.rows // _ROWS_A_PART)
        learned, of_large = Learned(), F.col("site").isin(large)
        small = pages.where(~of_large).repartition(parts, "site")
        _add_up(learned, small.mapInArrow(partial(_learn, options, of_file), _LEARNED))
        if large:
            learned += _learn_large_sites(pages.where(of_large), options, {site: of_file(site) for site in large})
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
        yield from _packed([learn_sites(rows, options, rules_before)]).to_batches()


_LEARNED = "learned binary"
_COLUMN = "learned"


def _packed(learned: Sequence[Learned]) -> pa.Table:
    """Rows of `_LEARNED`."""
    return pa.table({_COLUMN: pa.array([pickle.dumps(one) for one in learned], pa.binary())})


def _add_up(learned: Learned, rows: DataFrame) -> None:
    """Add up what is in rows of `_LEARNED`."""
    for row in rows.collect():
        learned += pickle.loads(bytes(row[_COLUMN]))  # made by our own tasks, like all that Spark brings from them


_THINNED = "site string, url string, label long, size long"
_DRAWN = "site string, is_drawn boolean, below_shared long, below_single long"


def _learn_large_sites(
    rows: DataFrame, options: LearningOptions, rules_before: Mapping[str, Sequence[Rule]]
) -> Learned:
    """Learn the rules of some sites from all their rows, without the reports."""
    learned = Learned()
    pages = materialized(_labelled(rows))
    good = materialized(_without_unknown(_without_unlike(_without_faults(pages, learned), learned), learned))
    worth = _bounded(good, learned, rules_before)

    def learn(pages: pa.Table) -> pa.Table:  # no partial: Spark asks a function for its hints
        return _learn_one(options, rules_before, pages)

    _add_up(learned, worth.groupBy("site").applyInArrow(learn, _LEARNED))
    return learned


def _labelled(rows: DataFrame) -> DataFrame:
    """One row per URL: site, url, content, fault, importance; and label, equal for one page."""
    answer = F.col("content").isNotNull() | F.col("redirect_to").isNotNull() | F.col("fault").isNotNull()
    says = answer | F.col("canonical").isNotNull()
    last = F.max_by(
        F.struct("content", "fault", "importance", "redirect_to", "canonical", "duplicate_of", "names_own", "simhash"),
        F.struct(answer, "fetched_at", *ORDER),
    )  # a time that is not known comes before all others
    pages = rows.where(says).groupBy("site", "url").agg(last.alias("last")).select("site", "url", "last.*")
    pages = materialized(pages)
    tried = rows.where("alias_of is not null").groupBy("site", "url")
    aliases = tried.agg(F.max_by(F.struct("alias_of", "alias_held"), F.struct("fetched_at", *ORDER)).alias("last"))
    aliases = aliases.select("site", "url", F.col("last.alias_of").alias("to"), "last.alias_held")
    links = materialized(_links(pages, rows.where(~says), aliases))
    pages = pages.withColumn("names_another", F.col("canonical").isNotNull())
    pages = pages.drop("redirect_to", "canonical", "duplicate_of", "names_own", "simhash")
    ends = links.select("site", "url").union(links.select("site", F.col("to").alias("url"))).distinct()
    pages = pages.unionByName(ends.join(pages, "url", "left_anti"), allowMissingColumns=True)
    pages = _with_kept(pages, rows)
    same = _key("site", "content", F.coalesce("fault", F.lit(-1)))
    joins = F.col("content").isNotNull() & ~F.col("is_of_several")
    pages = pages.withColumn("node", F.when(joins, same).otherwise(_key("url")))
    ways = pages.where(F.col("fault").isNull()).select("url", "node")
    joined = links.join(ways, "url").join(ways.select(F.col("url").alias("to"), F.col("node").alias("other")), "to")
    pairs = joined.where("node <> other").select("site", "node", "other").distinct()
    labels = pairs.groupBy("site").applyInArrow(_components, "node long, label long")
    return pages.join(labels, "node", "left").withColumn("label", F.coalesce("label", "node"))


def _with_kept(pages: DataFrame, rows: DataFrame) -> DataFrame:
    """With whether the checks kept a page, and whether its content is one of `clusters._contents_of_several`."""
    last = F.max_by("kept_in", F.struct("fetched_at", *ORDER)).alias("kept_in")
    pages = pages.join(rows.where("kept_in is not null").groupBy("url").agg(last), "url", "left")
    counts = pages.where("kept_in is not null and content is not null").groupBy("site", "content", "kept_in").count()
    several = counts.where("count > 1").select("site", "content").distinct().withColumn("several", F.lit(True))
    pages = pages.join(several, ["site", "content"], "left")
    pages = pages.withColumn("is_of_several", F.col("several").isNotNull())
    return pages.withColumn("is_kept", F.col("kept_in").isNotNull()).drop("several", "kept_in")


def _key(*columns: Column | str) -> Column:
    """60 bits of a cryptographic hash, so that no site can make a URL that has another site's key."""
    said = F.concat_ws("\0", *(F.col(one) if isinstance(one, str) else one for one in columns))
    return F.conv(F.substring(F.sha2(said, 256), 1, 15), 16, 10).cast("long")


def _links(pages: DataFrame, mere: DataFrame, aliases: DataFrame) -> DataFrame:
    """As `clusters._links`, with a row a URL: site, url, to.

    `mere` rows say nothing of a page but, some, a verdict. `aliases` were fetched because they were said to be some:
    site, url, to and alias_held.
    """
    redirects = pages.where("redirect_to is not null").select("site", "url", F.col("redirect_to").alias("to"))
    verdicts = _verdicts(pages, mere)
    named = pages.where("canonical is not null and (content is not null or names_own)").select(
        "site", "url", "content", F.col("canonical").alias("to")
    )
    there = pages.select(F.col("url").alias("to"), "content").join(named.select("to"), "to", "left_semi")
    said = named.select("to", "content").union(there)
    one = said.groupBy("to").agg(F.count_distinct("content").alias("contents")).where("contents <= 1")
    named = named.join(one, "to", "left_semi").select("site", "url", "to")
    of_it = pages.where("simhash is not null").select(F.col("url").alias("to"), F.col("simhash").alias("of_it"))
    near = pages.where("names_own").withColumnRenamed("canonical", "to").join(of_it, "to")
    near = near.where(F.bit_count(F.col("simhash").bitwiseXOR(F.col("of_it"))) <= NEAR).select("site", "url", "to")
    held = aliases.where("alias_held").drop("alias_held")
    said = verdicts.union(held).union(named).union(near).union(_respelled(pages))
    failed = aliases.where("not alias_held").select("url", "to")
    both_ways = failed.union(failed.select("to", "url"))
    return redirects.union(said.join(both_ways, ["url", "to"], "left_anti").select("site", "url", "to")).distinct()


def _respelled(pages: DataFrame) -> DataFrame:
    """As `clusters._respelled`: site, url, to."""
    path, query = F.substring_index("url", "?", 1).alias("path"), F.expr("substring(url, instr(url, '?') + 1)")
    args = F.array_join(F.array_sort(F.split(F.replace(query, F.lit("+"), F.lit("%20")), "&")), "&").alias("args")
    asked = pages.where("instr(url, '?') > 0 and simhash is not null").select("site", "url", "simhash", path, args)
    first = asked.groupBy("path", "args").agg(F.min(F.struct("url", "simhash")).alias("first"))
    asked = asked.join(first, ["path", "args"]).where("url <> first.url")
    near = F.bit_count(F.col("simhash").bitwiseXOR(F.col("first.simhash"))) <= NEAR_OF_ONE_REQUEST
    return asked.where(near).select("site", "url", F.col("first.url").alias("to"))


def _verdicts(pages: DataFrame, mere: DataFrame) -> DataFrame:
    """As `clusters._verdicts`: site, url, to."""
    last = F.max_by("duplicate_of", F.struct("fetched_at", *ORDER))
    alone = mere.where("duplicate_of is not null").groupBy("site", "url").agg(last.alias("to"))
    own = pages.where("duplicate_of is not null").select("site", "url", F.col("duplicate_of").alias("to"))
    verdicts = alone.union(own.join(alone, "url", "left_anti").select("site", "url", "to"))
    return verdicts.join(verdicts.select(F.col("url").alias("to")), "to", "left_anti").select("site", "url", "to")


def _components(pairs: pa.Table) -> pa.Table:
    """The links of one site between contents → content and label, equal for those that are joined."""
    first, second = pairs["node"].to_numpy(), pairs["other"].to_numpy()
    nodes, ends = np.unique(np.concatenate([first, second]), return_inverse=True)
    n = len(first)
    return pa.table({"node": nodes, "label": nodes[components(ends[:n].tolist(), ends[n:].tolist(), len(nodes))]})


def _without_faults(pages: DataFrame, learned: Learned) -> DataFrame:
    """The good pages; the others are counted."""
    labels = pages.where("fault is not null").groupBy("fault", "label").count()
    counted = labels.groupBy("fault").agg(F.sum("count"), F.sum((F.col("count") > 1).cast("long")))
    for fault, urls, clusters in counted.collect():
        learned.left_out += Counter({FAULTS[fault]: urls})
        learned.false_clusters += Counter({FAULTS[fault]: clusters})
    return pages.where("fault is null")


def _without_unlike(pages: DataFrame, learned: Learned) -> DataFrame:
    """The pages without the clusters of unlike URLs, which are counted. As `false_clusters.unlike_clusters`."""
    many, most = false_clusters.MANY, false_clusters.MOST_SLOTS
    large = pages.groupBy("site", "label").agg(F.count("*").alias("size")).where(F.col("size") >= many)
    large = materialized(large)
    looked_at = pages.join(large.select("site").distinct(), "site", "left_semi")
    marks = F.length(F.regexp_replace("url", f"[^{false_clusters.SLOT_MARKS}]", ""))
    slots = F.sum(F.least(marks, F.lit(false_clusters.MOST_OF_A_URL))).alias("slots")
    looked_at = looked_at.join(looked_at.groupBy("site").agg(slots), "site").join(large.drop("site"), "label", "left")
    step = F.floor((F.col("slots") - 1) / most) + 1
    thinned = looked_at.select("site", "url", "label", "size", step.alias("step")).mapInArrow(_thinned, _THINNED)
    unlike = materialized(thinned.groupBy("site").applyInArrow(_unlike, "label long"))
    urls, clusters = large.join(unlike, "label", "left_semi").agg(F.sum("size"), F.count("*")).head() or (0, 0)
    learned.left_out += Counter({UNLIKE: urls or 0})
    learned.false_clusters += Counter({UNLIKE: clusters})
    return pages.join(unlike, "label", "left_anti")


def _thinned(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        urls, steps = (batch[name].to_pylist() for name in ("url", "step"))
        kept = [false_clusters.in_sample(url, step) for url, step in zip(urls, steps, strict=True)]
        yield batch.filter(pa.array(kept, pa.bool_())).drop_columns("step")


def _unlike(pages: pa.Table) -> pa.Table:
    urls, labels, sizes = (pages[name].to_pylist() for name in ("url", "label", "size"))
    large = {label for label, size in zip(labels, sizes, strict=True) if size is not None}
    found = false_clusters.unlike_among(urls, labels, large)
    return pa.table({"label": pa.array(sorted(found), pa.int64())})


def _without_unknown(pages: DataFrame, learned: Learned) -> DataFrame:
    """The pages of which something is known.

    Counted are those whose word for their canonical URL was not believed, and those whose content several pages have.
    """
    known = F.max((F.col("content").isNotNull()).cast("int")) > 0  # else nothing is, unless others lead there, too
    sizes = pages.groupBy("label").agg(F.count("*").alias("size"), known.alias("known"))
    unknown = materialized(sizes.where("not known and size = 1").select("label"))
    learned.left_out += Counter({DISBELIEVED: pages.where("names_another").join(unknown, "label", "left_semi").count()})
    alone = sizes.where("known and size = 1").select("label")
    shared = pages.where("is_of_several and not is_kept").join(alone, "label", "left_semi").select("label")
    shared = materialized(shared)
    learned.left_out += Counter({SHARED: shared.count()})
    return pages.join(unknown.union(shared), "label", "left_anti")


def _bounded(pages: DataFrame, learned: Learned, rules_before: Mapping[str, Sequence[Rule]]) -> DataFrame:
    """As `learning_part.bounded`, of the sites with something to learn; all are counted.

    Gives site, url, importance and cluster.
    """
    most, size = learning_part.MOST_URLS, F.col("size")
    step = F.floor((size - 1) / learning_part.MOST_OF_A_CLUSTER) + 1
    clusters = pages.groupBy("site", "label").agg(F.min("url").alias("first"), F.count("*").alias("size"))
    left = F.sum(F.when(size > 1, F.floor((size - 1) / step) + 1).otherwise(0))
    totals = clusters.groupBy("site").agg(F.sum("size"), F.count("*"), F.sum((size > 1).cast("long")), left)
    drawn = []
    for site, urls, count, shared, urls_of_shared in totals.collect():
        learned += Learned(sites=1, urls=urls, clusters=shared, redundant=urls - count)
        if shared or rules_before[site]:
            drawn.append((site, urls > most, *learning_part.below(most, urls_of_shared, count - shared)))
    number = F.row_number().over(Window.partitionBy("site").orderBy("first")) - 1
    clusters = clusters.withColumn("cluster", number.cast("long"))
    clusters = clusters.join(F.broadcast(pages.sparkSession.createDataFrame(drawn, _DRAWN)), "site")
    mixed = (F.col("cluster") * learning_part.MULTIPLIER) % learning_part.MODULUS
    below = F.when(size > 1, F.col("below_shared")).otherwise(F.col("below_single"))
    pages = pages.join(clusters.where(~F.col("is_drawn") | (mixed < below)).drop("site"), "label")
    order = Window.partitionBy("label").orderBy(F.coalesce("importance", F.lit(0.0)).desc(), "url")
    pages = pages.withColumn("place", F.row_number().over(order) - 1)
    return pages.where(~F.col("is_drawn") | (F.col("place") % step == 0)).select("site", "url", "importance", "cluster")


def _learn_one(options: LearningOptions, rules_before: Mapping[str, Sequence[Rule]], pages: pa.Table) -> pa.Table:
    """What a task learns of its one site."""
    pages = pages.sort_by("url")
    urls, clusters, importance = (pages[name].to_pylist() for name in ("url", "cluster", "importance"))
    found = SitePages(urls, clusters, [one or 0.0 for one in importance])
    site = pages["site"][0].as_py()
    with without_cycle_detection():
        learned = learn_bounded(site, found, options, rules_before[site])
        learned.measured = measured(site, found, rules_after(rules_before[site], learned))
        return _packed([learned])
