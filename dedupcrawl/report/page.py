"""The page: figures, plots and packed rows in one template, which loads no other file.

The plots are SVG paths of lines and bars, which the template draws; they contain no text from crawled pages.
"""

from __future__ import annotations

import base64
import hashlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from dedupcrawl.content.differences import KINDS_IN_WORDS, PLACES_IN_WORDS
from dedupcrawl.content.evidence import LABELS, UNITS
from dedupcrawl.output import results
from dedupcrawl.printable import counted, megabytes, moment, printable
from dedupcrawl.report.collect import Report
from dedupcrawl.report.listing import LISTED, packed
from dedupcrawl.report.sources import Rewritten, RunFigures, saved_by
from dedupcrawl.software.installation import in_words


def savings(report: Report) -> dict[str, float]:
    """The figures at the top of the page: the share of duplicates among pages and, with a crawl log, among bytes.

    With a crawl log, it also estimates from means the bytes and seconds of the fetches that rules saved, and the
    seconds spent on fetching duplicates, which rules could still save.
    """
    duplicates, crawled = report.verdicts.duplicates, report.crawled
    share = duplicates / max(1, report.compared) if duplicates else 0.0
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
    """A duration in words.

    >>> duration(0.84), duration(75), duration(9_000)
    ('0.8 s', '1.2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3_600 else f"{seconds / 3_600:.1f} h"


def sent(rewritten: Rewritten) -> str:
    """How many URLs rules and aliases rewrote, and to how many canonical URLs, in words."""
    by = {"rules": rewritten.variants - rewritten.aliases, "aliases": rewritten.aliases}
    who = " and ".join(f"{name} sent {counted(urls, 'URL')}" for name, urls in by.items() if urls)
    return f"{who} to {counted(rewritten.pages, 'canonical URL')}"


_WORDS = {"labels": LABELS, "units": UNITS, "kinds": KINDS_IN_WORDS, "places": PLACES_IN_WORDS}
_SITES = 100  # most sites listed one by one
_RUNS = 100  # most runs listed one by one, the newest


@cache
def _asset(name: str) -> str:
    return (files("dedupcrawl.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """The hash by which a content security policy allows an inline script or style (CSP 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def environment() -> Environment:
    """The Jinja environment of the page: every string in a template is escaped and made `printable`, except our own."""
    made = Environment(
        loader=PackageLoader("dedupcrawl.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,  # only our own text is Markup
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "counted": counted,
        "megabytes": megabytes,
        "duration": duration,
        "moment": moment,
        "software": in_words,
        "sent": sent,
    }
    return made


def render(report: Report) -> str:
    """Render the report as one HTML page that needs no network and no other file, and runs no script but its own."""
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
            script=Markup(script),  # our own text, like the style
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
            words=Markup(packed(_WORDS)),
            listed=min(LISTED, verdicts.duplicates + verdicts.in_doubt),
            run=report.runs[-1].run if report.run is not None else None,
            newest_runs=report.runs[: -_RUNS - 1 : -1],
            about=_about(report.runs),
            made=moment(time.time()),
            version=version("dedupcrawl"),
        )
    )


def _about(runs: Sequence[RunFigures]) -> str:
    """The prefix of a number of saved fetches: "≥" if a run was cut off, "≤" if some may be counted twice."""
    cut_off, twice = (any(values) for values in ([not r.run.is_whole for r in runs], [r.run.begun > 1 for r in runs]))
    return {(False, False): "", (True, False): "≥ ", (False, True): "≤ "}.get((cut_off, twice), "about ")


def write(report: Report, path: Path) -> int:
    """Write the page to `path`, replacing an existing file atomically; returns its length in bytes."""
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
    pages = report.crawled.pages_by_site if report.crawled else {}
    return [
        {"site": site, "duplicates": count, "pages": pages.get(site)}
        for site, count in report.verdicts.by_site.most_common(_SITES)
    ]


_ACROSS = (44, 323)  # ends of the x axis: they fit the screen of a phone, where the text thus keeps its size
_BOTTOM = 153  # lower end of the y axis
_COLUMNS = 3  # of the legend, which is above the plot
_POINTS = 400  # most points of a line
_WINDOWS = 40  # most bars of the learning curve
_LEAST_PAGES = 2  # least number of pages for a curve


class Plot(NamedTuple):
    """A plot."""

    title: str  # what it shows
    caption: str  # how to read it
    x: Axis
    y: Axis
    shapes: Mapping[str, str]  # name of a series → its SVG path


def learning_curve(duplicate: NDArray[np.bool_], saved: NDArray[np.int64] | None = None) -> list[Plot]:
    """Plots of the number and the share of duplicates over the course of a crawl.

    Args:
        duplicate: Shape (pages,): whether each fetched page is a duplicate, in the order of the fetches.
        saved: Shape (pages,): number of fetches that had been saved by the time of each; None if unknown.
    """
    pages = len(duplicate)
    if pages < _LEAST_PAGES:
        return []
    lines = {"duplicates fetched": duplicate.cumsum()}
    if saved is not None:
        lines["fetches saved"] = saved
    x = Axis("pages fetched", (0, pages), _ACROSS, _count)
    name, most = "pages so far" if len(lines) > 1 else "duplicates so far", max(map(np.max, lines.values()))
    y = Axis(name, (0, max(1, 1.05 * most)), (_BOTTOM, _top(len(lines))), _count)
    at = np.unique(np.linspace(0, pages - 1, _POINTS).astype(np.intp))
    across = x.at(at + 1)
    shapes = {name: "M" + "L".join(map("{} {}".format, across, y.at(up[at]))) for name, up in lines.items()}
    cumulative = Plot(
        "Over the crawl",
        "Each page fetched is a step to the right, each duplicate among them a step up"
        + ("; what was saved was not fetched at all." if saved is not None else "."),
        x,
        y,
        shapes,
    )
    parts = np.array_split(duplicate, min(_WINDOWS, pages // 5 or 1))
    ends = np.cumsum([0, *map(len, parts)])
    y = Axis("duplicates among them", (0, 1), (_BOTTOM, _top(1)), "{:.0%}".format)
    bars = _bars(x.at(ends), y.at(np.zeros(len(parts))), y.at([part.mean() for part in parts]))
    share = Plot(
        "Learning curve",
        "Share of duplicates among the pages fetched, part by part. What rules save is never fetched, so the"
        " share may end high although they work: new pages run out, and the copies that no rule covers are left.",
        x,
        y,
        {"share": bars},
    )
    return [cumulative, share]


def histogram(title: str, caption: str, label: str, series: Mapping[str, Sequence[int]]) -> list[Plot]:
    """A stacked histogram of counts over [0, 1] in equal bins, one colour per series; empty if all counts are 0."""
    bins = {name: np.asarray(counts) for name, counts in series.items() if any(counts)}
    if not bins:
        return []
    total = np.sum(list(bins.values()), axis=0)
    edges = np.linspace(0, 1, len(total) + 1)
    x = Axis(label, (min(edges[np.flatnonzero(total)[0]], 0.5), 1), _ACROSS, "{:g}".format)
    y = Axis("pages", (0, 1.05 * total.max()), (_BOTTOM, _top(len(bins))), _count)
    bottom = np.zeros(len(total), dtype=np.int64)
    shapes = {}
    for name, counts in bins.items():
        shapes[name] = _bars(x.at(edges), y.at(bottom), y.at(bottom + counts))
        bottom = bottom + counts
    return [Plot(title, caption, x, y, shapes)]


class Axis(NamedTuple):
    """One of the two axes."""

    name: str
    values: tuple[float, float]  # at its ends
    ends: tuple[float, float]  # their coordinates
    as_text: Callable[[float], str]  # formats a value

    def at(self, values: Sequence[float] | NDArray[Any]) -> list[float]:
        return [round(float(place), 1) for place in np.interp(np.asarray(values), self.values, self.ends)]

    def ticks(self) -> list[tuple[float, str]]:
        """Coordinates and labels of round values, few enough to be read on a phone; counts are whole numbers."""
        low, high = self.values
        rough = max((high - low) / 5, 1 if self.as_text is _count else 0)
        power = 10 ** math.floor(math.log10(rough))
        step = power * next(factor for factor in (1, 2, 5, 10) if factor * power > 0.999 * rough)
        numbers = [number * step for number in range(math.ceil(low / step), int(high / step + 0.001) + 1)]
        return list(zip(self.at(numbers), map(self.as_text, numbers), strict=True))


def _count(value: float) -> str:
    return f"{value:,.0f}" if value < 10_000 else f"{value / 1e3:g}k" if value < 1_000_000 else f"{value / 1e6:g}M"


def _top(names: int) -> float:
    """The upper end of the y axis: below the legend, if that has more than one name."""
    return 8 + 14 * (math.ceil(names / _COLUMNS) if names > 1 else 0)


def _bars(edges: Sequence[float], bottoms: Sequence[float], tops: Sequence[float]) -> str:
    """The SVG path of bars between these edges, with small gaps; bars without height are left out."""
    sides = zip(edges, edges[1:], bottoms, tops, strict=False)
    return "".join(f"M{left + 0.5} {low}V{high}H{right - 0.5}V{low}Z" for left, right, low, high in sides if high < low)
