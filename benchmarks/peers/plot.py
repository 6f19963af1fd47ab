"""The plot of `benchmarks.peers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.lines import Line2D

from benchmarks.plots import plt


@dataclass(frozen=True, slots=True)
class Point:
    """One method in one language: shares in [0, 1]."""

    name: str
    setting: str
    recall: float
    precision: float
    bulletins: float


NONE = 1e-4  # where a share of 0 is drawn
MARKS = {"the": "*", "with": "P", "as published": "X", "as documented": "o", "best": "s"}
"""How a setting begins → how it is drawn."""


def plot(points: Mapping[str, Sequence[Point]], figure: Path) -> None:
    """Recall against wrong drops, and against bulletins dropped."""
    panels, axes = plt.subplots(2, len(points), figsize=(11, 9), sharey=True, layout="constrained")
    names = list(dict.fromkeys(point.name for group in points.values() for point in group))
    colours = dict(zip(names, plt.get_cmap("tab20").colors, strict=False))  # type: ignore[attr-defined]  # a listed map has colours
    for column, (language, group) in enumerate(points.items()):
        for point in group:
            mark = next(mark for begin, mark in MARKS.items() if point.setting.startswith(begin))
            size, layer = (260, 3) if mark == MARKS["the"] else (70, 2)
            for row, wrong in enumerate((1 - point.precision, point.bulletins)):
                axes[row][column].scatter(
                    max(wrong, NONE),
                    point.recall,
                    marker=mark,
                    s=size,
                    zorder=layer,
                    color=colours[point.name],
                    edgecolors="0.3",
                )
        for row, label in enumerate(
            ("share of drops that are wrong (none: left)", "share of the bulletins dropped (none: left)")
        ):
            axes[row][column].set_xscale("log")
            axes[row][column].set_xlabel(label)
            axes[row][column].grid(alpha=0.3)
        axes[0][column].set_title(language)
    for row in axes:
        row[0].set_ylabel("recall, all kinds but excerpts")
    handles = [Line2D([], [], color=colours[name], marker="o", linestyle="", label=name) for name in names]
    kinds = ("dedupcrawl's default", "a check with evidence", "a check as published", "peer, documented", "peer, best")
    handles += [
        Line2D([], [], color="0.3", marker=mark, linestyle="", label=kind)
        for mark, kind in zip(MARKS.values(), kinds, strict=True)
    ]
    panels.legend(handles=handles, loc="outside right upper", fontsize="small")
    panels.savefig(figure, dpi=100)
    plt.close(panels)
