"""`dedupcrawl train`: crawl logs in, rule files out."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dedupcrawl.commands.console import Command, FailureError, no_rows, progress, show, tell_skipped
from dedupcrawl.commands.options import json_option, no_file, software_option
from dedupcrawl.crawl_logs.tally import Tally
from dedupcrawl.printable import counted, printable
from dedupcrawl.project import RULES, rules_folder
from dedupcrawl.software.program import programs
from dedupcrawl.system_errors import cause
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.urls.bounds import said_share

if TYPE_CHECKING:
    from dedupcrawl.training.train import TrainingSummary

_DEFAULTS = LearningOptions()


def _number(_context: click.Context, _option: click.Parameter, given: float) -> float:
    """Not nan, which is in every range."""
    if math.isnan(given):
        raise click.BadParameter("nan is not a number between 0 and 1.")
    return given


class _Log(click.Path):
    """An existing file; for Spark also a folder, or a URI, which is not checked here."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the path and return it as it was given."""
        text = str(value)
        self.dir_okay = ctx is not None and ctx.params.get("engine") == "spark"
        if not (self.dir_okay and "://" in text):
            super().convert(text, param, ctx)
        return text


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, type=_Log(exists=True))
@click.option(
    "--rules",
    required=True,
    type=click.Path(path_type=Path),
    callback=no_file,
    metavar="FOLDER",
    help=f"Folder for one rule file per site; in a project {RULES}/, where a crawl looks for them.",
)
@click.option(
    "--holdout",
    default=_DEFAULTS.holdout,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    callback=_number,
    help="Share of the clusters that is held out to prove the rules on.",
)
@click.option("--seed", default=_DEFAULTS.seed, show_default=True, help="Seed of the split.")
@click.option(
    "--min-precision",
    default=_DEFAULTS.min_precision,
    show_default=True,
    type=click.FloatRange(0, 1),
    callback=_number,
    help="Keep rules of at least this precision on all clusters, if held-out clusters, or most sites, confirm them.",
)
@click.option(
    "--min-coverage", type=click.IntRange(1), help="Drop rules that apply to fewer URLs of the held-out clusters."
)
@software_option
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    is_eager=True,  # `_Log` depends on it
    help="spark: on the cluster that Spark is set up for, else on this machine; needs dedupcrawl[spark] and Java.",
)
@json_option
def command(  # noqa: PLR0913 - the options of a command, as click passes them
    logs: Sequence[str],
    rules: Path,
    holdout: float,
    seed: int,
    min_precision: float,
    min_coverage: int | None,
    software: bool | Path,
    engine: str,
    as_json: bool,
) -> None:
    """Learn URL rules from crawl LOGS, test them on held-out clusters, and write one rule file per site.

    A log is JSON Lines, CSV or TSV with a header, a JSON array, Parquet, Heritrix crawl.log, CDX, CDXJ or WARC, plain
    or compressed (.gz, .xz, .zst); each row has a url and a digest of its page, ideally of its main text. Nothing is
    written until everything has been learned. Rules that were disabled, imported or written by hand stay, and so do
    rules learned earlier, unless the pages of these logs contradict them.

    \b
    dedupcrawl train .scrapy/dedup/crawl-log.jsonl --rules rules/
    dedupcrawl train may.warc.gz june.cdx --rules rules/ --min-precision 0.99
    dedupcrawl train crawl.tsv --rules rules/ --json | jq .rules
    dedupcrawl train s3a://crawls/2026-05/ --rules rules/ --engine spark
    """
    from dedupcrawl.training.train import train

    tally = Tally()
    own = None if software is True else programs(software)
    try:
        options = LearningOptions(holdout, seed, min_precision, min_coverage or 0, own)
        if engine == "spark":
            from dedupcrawl.spark.train import train_on_spark  # needs an extra

            summary = train_on_spark(logs, rules, options, tally=tally)
        else:
            with progress() as advance:
                summary = train([Path(log) for log in logs], rules, options, tally=tally, progress=advance)
    except OSError as error:
        why = printable(f"{error.filename or rules}: {cause(error)}")
        raise FailureError(f"{why}; each rule file is intact, in its old or its new version.") from error
    tell_skipped(tally)
    for failure in sorted(summary.learned.failed):
        click.echo(f"not learned, please report: {printable(failure)}", err=True)
    if not summary.learned.urls:
        raise no_rows(tally)
    given = {
        "--min-coverage": min_coverage is not None,
        "--min-precision": min_precision > _DEFAULTS.min_precision,
        "--holdout": holdout != _DEFAULTS.holdout,
        "--software False": software is False,
    }
    show(summary.to_dict(), _lines(summary, rules, [name for name, is_so in given.items() if is_so]), as_json=as_json)


def _lines(summary: TrainingSummary, rules: Path, given: Sequence[str]) -> list[str]:
    """`given` are options that may leave rules out which there are without them."""
    values = summary.to_dict()
    proof = values["holdout"]
    neither = proof["coverage"] - proof["correct"] - proof["wrong"]
    others = f" ({neither:,} to a URL that the log says nothing of, which count as right)" if neither else ""
    false = ", ".join(f"{count:,} {reason}" for reason, count in values["false_clusters"].items()) or "none"
    proved = (  # a URL counts once for each rule that changes it
        f"{counted(proof['coverage'], 'use')} of rules, {proof['correct']:,} led to the right page and "
        f"{proof['wrong']:,} to another one{others}, precision "
    )
    proved += said_share(proof["coverage"] - proof["wrong"], proof["wrong"])
    whole = values["log"]
    of_log = (
        f"{whole['coverage']:,} URLs changed, {whole['merged']:,} merged, {counted(whole['wrong'], 'URL')} sent "
        f"to a URL of another cluster, precision {said_share(whole['coverage'] - whole['wrong'], whole['wrong'])}"
    )
    earlier = values["carried_over_rules"]
    kept, refuted = counted(earlier["kept"], "rule"), earlier["refuted"]
    off = sum(rule.is_off for of_site in summary.learned.rules for rule in of_site.rules)
    named = ", including those that redirects and canonical links name" if values["urls"] > values["rows"] else ""
    if values["urls"] < values["rows"] - sum(summary.skipped.values()):
        named = ", each counted once however many rows it has"
    return [
        f"{counted(values['rows'], 'row')} of {counted(values['sites'], 'site')} in {values['seconds']:.1f} s",
        f"{counted(values['urls'], 'URL')}, {counted(values['clusters'], 'duplicate cluster')}, "
        f"{counted(values['redundant_urls'], 'redundant URL')}{named}",
        f"false clusters left out: {false}",
        f"{counted(values['rules'], 'rule')} for {counted(values['sites_with_rules'], 'site')} in {rules}",
        *(
            [f"known of other sites and switched off, for this log speaks against them: {counted(off, 'rule')}"]
            * (off > 0)
        ),
        f"held-out clusters: {proved}",
        f"the whole log: {of_log}",
        *([f"learned before and not again: {kept} kept, {refuted:,} refuted"] if any(earlier.values()) else []),
        *_next_steps(values, rules, given),
    ]


def _next_steps(values: Mapping[str, Any], rules: Path, given: Sequence[str]) -> list[str]:
    """Commands to go on with, or why there is nothing to go on with."""
    folder = shlex.quote(str(rules))
    if not values["clusters"]:
        return [
            "No two URLs of this log have the same page, so there is nothing to learn. If it is a feed, it has only "
            "what was kept: take the crawl log, .scrapy/dedup/crawl-log.jsonl."
        ]
    if not values["rules"]:
        further = "further " * bool(values["carried_over_rules"]["kept"])
        without = f" with {' and '.join(given)}: there may be some without" if given else ""
        return [f"No {further}rule was sure enough{without}. A log of more pages helps."]
    return [
        "Where to look next:",
        f"  dedupcrawl rules list --rules {folder}            what each rule does, and how sure it is",
        f"  dedupcrawl rules test URL --rules {folder}        what they make of a URL, step by step",
        f"  dedupcrawl evaluate OTHER_LOG --rules {folder}    how they do on another crawl",
        "  The next crawl follows them: it looks in rules/."
        if rules.absolute() == rules_folder().absolute()
        else f"  DEDUP_RULES = [{str(rules)!r}]  in settings.py    the next crawl follows them",
    ]
