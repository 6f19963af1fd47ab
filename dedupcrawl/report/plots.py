"""The plots, as SVG that takes its colours from the page, so that it is readable in the dark, and carries no style.

Matplotlib draws with stand-in colours, which are then replaced by the page's CSS variables. Its style attributes become
presentation attributes: the page's content security policy forbids the former. No text of a page or URL is drawn.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
from numpy.typing import NDArray

_INK, _FAINT = "#000001", "#000002"  # as in `_SETTINGS`
_SERIES = ("#000011", "#000012", "#000013", "#000014", "#000015", "#000016", "#000017")
_COLOURS = {_INK: "var(--ink)", _FAINT: "var(--line)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES, 1)
}
_SIZE = (4.6, 2.6)  # inches at 72 points: as wide as a phone's screen, so that the text keeps its size there
_POINTS = 400  # of a line
_LEGEND_COLUMNS = 3
_WINDOWS = 40  # of the share of duplicates
_LONGEST_NAME = 22  # characters
_LEAST_PAGES = 2  # for a curve

_STYLE = re.compile(r' style="([^"]*)"')
_IDS = re.compile(
    r' id="(?:figure|axes|patch|line2d|text|legend|matplotlib|xtick|ytick|PolyCollection|FillBetween)[^"]*"'
)
_SETTINGS = Path(__file__).parent / "assets" / "plots.mplstyle"


class Plot(NamedTuple):
    """A plot."""

    title: str  # what it shows
    caption: str  # how to read it
    svg: str


def learning_curve(duplicate: NDArray[np.bool_], saved: NDArray[np.int64] | None = None) -> list[Plot]:
    """How the duplicates accumulated, page by page.

    Args:
        duplicate: Shape (pages,): whether each fetched page is a duplicate, in the order in which they came.
        saved: Shape (pages,): how many fetches rules had saved by the time of each; None when none is known.
    """
    if len(duplicate) < _LEAST_PAGES:
        return []
    lines = {"duplicates fetched": duplicate.cumsum()}
    if saved is not None:
        lines["fetches saved by rules"] = saved
    with mpl.rc_context(fname=_SETTINGS):
        figure, axes = _figure()
        at = np.unique(np.linspace(0, len(duplicate) - 1, _POINTS).astype(np.intp))
        for colour, (name, values) in zip(_SERIES, lines.items(), strict=False):
            axes.plot(at + 1, values[at], color=colour, label=name, linewidth=1.8)
        axes.set_xlabel("pages fetched")
        axes.set_ylabel("pages so far" if len(lines) > 1 else "duplicates so far")
        axes.set_ylim(bottom=0)
        _show_counts(axes.xaxis, axes.yaxis)
        if len(lines) > 1:
            figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS)
        cumulative = Plot(
            "Over the crawl",
            "Each page fetched is a step to the right, each duplicate among them a step up"
            + ("; what rules saved was not fetched at all." if saved is not None else "."),
            _svg(figure, "Duplicates over the pages fetched"),
        )
        figure, axes = _figure()
        windows = min(_WINDOWS, len(duplicate) // 5 or 1)
        parts = np.array_split(duplicate, windows)
        ends = np.cumsum([0, *(len(part) for part in parts)])
        shares = [float(part.mean()) for part in (parts[0], *parts)]
        axes.fill_between(ends, shares, step="pre", color=_SERIES[0], alpha=0.35, linewidth=0)
        axes.step(ends, shares, where="pre", color=_SERIES[0], linewidth=1.8)
        axes.set_xlabel("pages fetched")
        axes.set_ylabel("duplicates among them")
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        _show_counts(axes.xaxis)
        share = Plot(
            "Learning curve",
            "Share of duplicates among the pages fetched, part by part. What rules save is never fetched, so the"
            " share may end high although they work: new pages run out, and the copies that no rule covers are left.",
            _svg(figure, "Share of duplicates among the pages fetched, over the crawl"),
        )
    return [cumulative, share]


def histogram(title: str, caption: str, label: str, series: Mapping[str, Sequence[int]]) -> list[Plot]:
    """Counts over [0, 1] in equal bins, one colour per series, stacked; none when nothing was counted."""
    bins = {_plain(name): np.asarray(counts) for name, counts in series.items() if any(counts)}
    if not bins:
        return []
    with mpl.rc_context(fname=_SETTINGS):
        figure, axes = _figure()
        size = len(next(iter(bins.values())))
        edges = np.arange(size) / size
        filled = np.flatnonzero(sum(bins.values()))
        left = min(float(edges[filled[0]]), 0.5)
        bottom = np.zeros(size, dtype=np.int64)
        for number, (name, counts) in enumerate(bins.items()):
            colour = _SERIES[number % len(_SERIES)]
            axes.bar(edges, counts, 0.86 / size, bottom, align="edge", color=colour, label=name, linewidth=0)
            bottom = bottom + counts
        axes.set_xlim(left, 1)
        axes.set_xlabel(label)
        axes.set_ylabel("pages")
        _show_counts(axes.yaxis)
        if len(bins) > 1:
            figure.legend(loc="outside upper left", ncols=_LEGEND_COLUMNS)
        return [Plot(title, caption, _svg(figure, title))]


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, dpi=72, layout="constrained")
    return figure, figure.subplots()


def _show_counts(*of: Axis) -> None:
    """Whole numbers, few enough to be read on a phone."""
    for axis in of:
        axis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axis.set_major_formatter(FuncFormatter(_count))


def _plain(name: str) -> str:
    """A name that can be drawn, whatever an index calls its checks."""
    return re.sub(r"[^ -~]", "?", name)[:_LONGEST_NAME]


def _count(value: float, _: object) -> str:
    return f"{value:,.0f}" if value < 10_000 else f"{value / 1e3:g}k" if value < 1_000_000 else f"{value / 1e6:g}M"


def _svg(figure: Figure, label: str) -> str:
    """The figure as an element for a page: no prolog, no metadata, no style, no size of its own."""
    written = io.StringIO()
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg = written.getvalue()
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None
    body = svg[svg.index("<g id=") :]
    body = _STYLE.sub(lambda found: _attributes(found[1]), _IDS.sub("", body))
    body = re.sub("|".join(_COLOURS), lambda found: _COLOURS[found[0]], body)
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.S)
    return f'<svg role="img" aria-label="{label}" {view[0]}>{body}'


def _attributes(style: str) -> str:
    """``"fill: none; stroke: #000"`` as the attributes ``fill="none" stroke="#000"``; fonts are the page's."""
    pairs = (pair.partition(":") for pair in style.split(";") if pair.strip())
    given = ((name.strip(), value.strip()) for name, _, value in pairs)
    return "".join(f' {name}="{value}"' for name, value in given if name not in ("font-family", "white-space"))
