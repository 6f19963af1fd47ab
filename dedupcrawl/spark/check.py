"""Batch order on Spark: the same verdicts as `dedupcrawl check --order batch` on one machine, row for row.

All machines read, extract and sort. Judging is a fold over the pages in their order, in one task, or in one task for
each site if no page is compared with those of other sites (docs/several-workers.md). A task holds a batch of pages in
memory and its index on disk.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial, reduce

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from dedupcrawl.crawl_logs.page_files import Wanted, page_of, stored_rows
from dedupcrawl.crawl_logs.tally import LogError, Tally
from dedupcrawl.page import Page, packed, unpacked
from dedupcrawl.sites import site_of
from dedupcrawl.spark.reading import ORDER, PLACE, REPORT, Files, add_reports, head_of, lines_of, numbered, piece_blocks
from dedupcrawl.spark.session import materialized
from dedupcrawl.verdict import Verdict

Judge = Callable[[Page], Verdict]
OpenJudge = Callable[[], AbstractContextManager[Judge]]
"""Picklable; called in a task: what judges the pages of one group in their order."""

_PAGES = pa.schema(
    [*PLACE, ("symbols", pa.int64()), ("together", pa.string()), ("page", pa.binary()), (REPORT, pa.binary())]
)
_VERDICTS = pa.schema([*PLACE, ("verdict", pa.binary()), (REPORT, pa.binary())])
_BATCH_BYTES = 8 << 20  # of pages
_decode_verdict = msgspec.msgpack.Decoder(Verdict).decode


def verdicts_in_order(  # noqa: PLR0913 - a session, rows, and what is asked of them
    spark: SparkSession, files: Sequence[str], judge: OpenJudge, tally: Tally, *, wanted: Wanted, by_site: bool
) -> Iterator[Verdict]:
    """A verdict for each page, in the order of the pages, after all of them were judged longest first.

    `files` are JSON Lines of pages, named as `reading.read_logs` takes them. `tally` is filled in before the first
    verdict. If `by_site`, sites are judged each for itself.

    Raises:
        LogError: A file cannot be read, or is not JSON Lines.
    """
    pages, names = _pages(spark, files, wanted, by_site)
    parts = spark.sparkContext.defaultParallelism if by_site else 1
    ordered = pages.repartition(parts, "together").sortWithinPartitions(
        "together", F.desc("symbols"), *ORDER
    )  # equally long pages in the order in which they stand
    judged = materialized(ordered.mapInArrow(partial(_judged, judge), from_arrow_schema(_VERDICTS)))
    add_reports(tally, judged, names)
    for row in judged.where(F.col(REPORT).isNull()).orderBy(*ORDER).select("verdict").toLocalIterator():
        yield _decode_verdict(bytes(row[0]))


def _pages(spark: SparkSession, logs: Sequence[str], wanted: Wanted, by_site: bool) -> tuple[DataFrame, Sequence[str]]:
    frames, files = [], Files({}, [])
    for log in logs:
        if any(head_of(spark, file).startswith(b"WARC/") for file in files.add(spark, log)[:1]):
            raise LogError(f"{log} is WARC, which Spark cannot split: take JSON Lines, or --engine local.")
        pages = lines_of(spark, log).mapInArrow(partial(_read, files, wanted, by_site), from_arrow_schema(_PAGES))
        frames.append(numbered(pages))
    return reduce(DataFrame.unionAll, frames), files.names


def _read(files: Files, wanted: Wanted, by_site: bool, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task makes of its lines: rows of `_PAGES`."""
    rows, size = list[dict[str, object]](), 0
    for report, block in piece_blocks(batches, files, sound=False):
        file, start = report.piece
        for stored in stored_rows(block, files.names[file], report.tally):
            page = page_of(stored, wanted)
            symbols, together = len(page.main_text()), site_of(page.url) if by_site else ""
            row = packed(page)
            rows.append({"file": file, "start": start, "symbols": symbols, "together": together, "page": row})
            size += len(row)
            if size >= _BATCH_BYTES:
                yield pa.RecordBatch.from_pylist(rows, schema=_PAGES)
                rows, size = [], 0
        rows.append({REPORT: pickle.dumps(report)})
    yield pa.RecordBatch.from_pylist(rows, schema=_PAGES)


def _judged(judge: OpenJudge, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task makes of rows of `_PAGES`, group by group, each in its order: rows of `_VERDICTS`."""
    encode = msgspec.msgpack.Encoder().encode
    group = None
    with ExitStack() as stack:
        for batch in batches:
            rows = list[dict[str, object]]()
            for row in batch.to_pylist():
                if row[REPORT] is not None:
                    rows.append({REPORT: row[REPORT]})
                    continue
                if row["together"] != group:
                    group = row["together"]
                    stack.close()
                    judged = stack.enter_context(judge())
                verdict = judged(unpacked(row["page"]))
                rows.append({name: row[name] for name in ORDER} | {"verdict": encode(verdict)})
            yield pa.RecordBatch.from_pylist(rows, schema=_VERDICTS)
