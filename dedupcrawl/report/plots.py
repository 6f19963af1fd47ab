"""The plots of the page: lines and bars as paths of an SVG, which its template draws. No text of a page is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ACROSS = (44, 323)  # where the axis of x begins and ends: a phone's screen, so that the text keeps its size there
_BOTTOM = 153  # of the axis of y
_COLUMNS = 3  # of the legend, which is above it
_POINTS = 400  # of a line
_WINDOWS = 40  # of the share of duplicates
_LEAST_PAGES = 2  # for a curve


class Plot(NamedTuple):
    """A plot."""

    title: str  # what it shows
    caption: str  # how to read it
    x: Axis
    y: Axis
    shapes: Mapping[str, str]  # each series and its path


def learning_curve(duplicate: NDArray[np.bool_], saved: NDArray[np.int64] | None = None) -> list[Plot]:
    """How the duplicates accumulated, page by page.

    Args:
        duplicate: Shape (pages,): whether each fetched page is a duplicate, in the order in which they came.
        saved: Shape (pages,): how many fetches rules had saved by the time of each; None when none is known.
    """
    pages = len(duplicate)
    if pages < _LEAST_PAGES:
        return []
    lines = {"duplicates fetched": duplicate.cumsum()}
    if saved is not None:
        lines["fetches saved by rules"] = saved
    x = Axis("pages fetched", (0, pages), _ACROSS, _count)
    name, most = "pages so far" if len(lines) > 1 else "duplicates so far", max(map(np.max, lines.values()))
    y = Axis(name, (0, max(1, 1.05 * most)), (_BOTTOM, _top(len(lines))), _count)
    at = np.unique(np.linspace(0, pages - 1, _POINTS).astype(np.intp))
    shapes = {name: _line(x.at(at + 1), y.at(values[at])) for name, values in lines.items()}
    cumulative = Plot(
        "Over the crawl",
        "Each page fetched is a step to the right, each duplicate among them a step up"
        + ("; what rules saved was not fetched at all." if saved is not None else "."),
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
    """Counts over [0, 1] in equal bins, one colour per series, stacked; none when nothing was counted."""
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
    ends: tuple[float, float]  # where these are
    as_text: Callable[[float], str]  # how a value is written

    def at(self, values: Sequence[float] | NDArray[Any]) -> list[float]:
        """Where values are."""
        return [round(float(place), 1) for place in np.interp(np.asarray(values), self.values, self.ends)]

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers, few enough to be read on a phone, as they are written; counts are whole."""
        low, high = self.values
        rough = max((high - low) / 5, 1 if self.as_text is _count else 0)
        power = 10 ** math.floor(math.log10(rough))
        step = power * next(factor for factor in (1, 2, 5, 10) if factor * power > 0.999 * rough)
        numbers = [number * step for number in range(math.ceil(low / step), int(high / step + 0.001) + 1)]
        return list(zip(self.at(numbers), map(self.as_text, numbers), strict=True))


def _count(value: float) -> str:
    return f"{value:,.0f}" if value < 10_000 else f"{value / 1e3:g}k" if value < 1_000_000 else f"{value / 1e6:g}M"


def _top(names: int) -> float:
    """Where the axis of y ends: below the legend, if there is more than one name in it."""
    return 8 + 14 * (math.ceil(names / _COLUMNS) if names > 1 else 0)


def _line(x: Sequence[float], y: Sequence[float]) -> str:
    """The path through some points."""
    return "M" + "L".join(map("{} {}".format, x, y))


def _bars(edges: Sequence[float], bottoms: Sequence[float], tops: Sequence[float]) -> str:
    """The path around bars between these edges, a little apart; those of no height are left out."""
    sides = zip(edges, edges[1:], bottoms, tops, strict=False)
    return "".join(f"M{left + 0.5} {low}V{high}H{right - 0.5}V{low}Z" for left, right, low, high in sides if high < low)
