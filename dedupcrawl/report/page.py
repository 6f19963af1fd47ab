"""The page itself: figures, plots and packed rows put into one template, with nothing to load from anywhere."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dedupcrawl.content.evidence_words import LABELS, UNITS
from dedupcrawl.counts import counted, megabytes, moment
from dedupcrawl.output import results
from dedupcrawl.printable import printable
from dedupcrawl.report.collect import Report
from dedupcrawl.report.listing import LISTED, packed
from dedupcrawl.report.plots import Plot, histogram, learning_curve
from dedupcrawl.report.sources import RunFigures, saved_by


def savings(report: Report) -> dict[str, float]:
    """For the top of the page: the share of duplicates among the pages compared and, with a crawl log, among the bytes.

    And estimates from means: what the fetches that rules saved would have taken, and the time that fetching the
    duplicates took, which rules can still save.
    """
    duplicates, crawled = report.verdicts.duplicates, report.crawled
    share = duplicates / (report.kept + duplicates) if duplicates else 0.0
    if crawled is None:
        return {"share": share}
    a_response = crawled.seconds / max(1, crawled.responses)
    return {
        "share": share,
        "byte_share": crawled.duplicate_bytes / max(1, crawled.bytes),
        "saved_bytes": report.saved * crawled.bytes // max(1, crawled.pages),
        "saved_seconds": report.saved * a_response,
        "wasted_seconds": int(crawled.duplicate.sum()) * a_response,
    }


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.84), duration(75), duration(9_000)
    ('0.8 s', '1.2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3_600 else f"{seconds / 3_600:.1f} h"


_SITES = 100  # named one by one
_RUNS = 100  # named one by one, the newest


@cache
def _asset(name: str) -> str:
    return (files("dedupcrawl.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """How a content security policy names an inline script or style (CSP 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def environment() -> Environment:
    """Of the page's templates: what is written into them is escaped, and made `printable`, unless it is ours."""
    made = Environment(
        loader=PackageLoader("dedupcrawl.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,  # not Markup, which is ours
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "megabytes": megabytes, "duration": duration, "moment": moment}
    return made


def render(report: Report) -> str:
    """The report as one HTML page that needs no network, no other file, and runs no script but its own."""
    script, style = _asset("report.js"), _asset("report.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    verdicts, crawled = report.verdicts, report.crawled
    titles = crawled.titles if crawled else {}
    return (
        environment()
        .get_template("report.html")
        .render(
            policy=policy,
            script=Markup(script),  # ours, like the style
            style=Markup(style),
            report=report,
            savings=savings(report),
            sites=_sites(report),
            more_sites=max(0, len(verdicts.by_site) - _SITES),
            plots=list(_plots(report)),
            columns=Markup(packed(verdicts.listing.columns(titles, report.standing))),  # base64
            evidence=[Markup(chunk) for chunk in verdicts.listing.evidence()],
            texts={row: Markup(packed(texts)) for row, texts in report.texts.items()},
            rules=Markup(packed(report.rules.rows)),
            words=Markup(packed({"labels": LABELS, "units": UNITS})),
            listed=min(LISTED, verdicts.duplicates + verdicts.in_doubt),
            run=report.runs[-1].run if report.run is not None else None,
            newest_runs=report.runs[: -_RUNS - 1 : -1],
            about=_about(report.runs),
            made=moment(time.time()),
            version=version("dedupcrawl"),
        )
    )


def _about(runs: Sequence[RunFigures]) -> str:
    """What stands before a number of fetches saved: whether it is all, and none counted twice."""
    cut_off, twice = (any(found) for found in ([not r.run.is_whole for r in runs], [r.run.begun > 1 for r in runs]))
    return {(False, False): "", (True, False): "≥ ", (False, True): "≤ "}.get((cut_off, twice), "about ")


def write(report: Report, path: Path) -> int:
    """Write the page to `path` in one step, in place of what is there; gives its length in bytes."""
    content = render(report).encode("utf-8", "replace")
    with results(path) as file:
        file.write(content)
    return len(content)


def _plots(report: Report) -> Iterable[Plot]:
    verdicts, crawled = report.verdicts, report.crawled
    if crawled is not None:
        saved = saved_by(report.runs, crawled.at) if report.saved else None
        yield from learning_curve(crawled.duplicate, saved)
    yield from histogram(
        "Similarity",
        "Duplicates by their similarity, as measured by the check that found them.",
        "similarity",
        verdicts.similarity,
    )
    yield from histogram(
        "How certain",
        "Duplicates, and pages kept in doubt, by the probability that they are duplicates. Pages with the same"
        " text and title have none: there is nothing to weigh.",
        "probability",
        {"duplicates": verdicts.probability, "kept in doubt": verdicts.doubted},
    )


def _sites(report: Report) -> list[dict[str, Any]]:
    """The sites with most duplicates: how many, and of how many pages."""
    pages = report.crawled.pages_by_site if report.crawled else {}
    return [
        {"site": site, "duplicates": count, "pages": pages.get(site)}
        for site, count in report.verdicts.by_site.most_common(_SITES)
    ]
