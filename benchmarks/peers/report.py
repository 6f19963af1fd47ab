"""The report of `benchmarks.peers`: its words and its plot."""

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


TEXT = """# Beside other libraries

Made by `python -m benchmarks.peers`: every method sees the same pages in the same order, reads their text, and drops or
keeps each as it comes. Nothing was chosen on these documents ("report" half). A peer has two lines: as its
documentation shows it, and with the features and the threshold of the best F1 on the other half. A drop is right if the
page was made from the kept one, or has three quarters of its words all the same; a peer that names several kept pages
is right if one of them is. Ours: the default checks, and each check alone, once as its paper has it (what matches is
dropped) and once with the comparison of the texts that the package asks for (concepts only once, in English: see
[concept networks](papers.md#concept-networks)). Pages a CPU second: medians of three in turn over the first 2,000; the
checks as published run on an index in memory, our others on LMDB. Bytes a page: of a peer the growth of a process that
keeps 8,000 pages in memory; of ours the files of the index after this stream. So small an index has much unused room;
what a page takes in large ones is [measured elsewhere](cost.md#a-page-of-a-real-crawl).

Columns: exact copies; 2, 5, 10 % of the words edited; wrapped in a template of 15 %; blocks shuffled; cut to 70 %;
excerpt of 40 %. Precision is over all drops except those of bulletins: the stream contains pages with text of their own
in a template that makes up 50, 75 or 85 % of them, 100 pairs each. A bulletin is the same page with 8 other figures, or
with all figures different.

## English

{en_pages}: documentation and news articles.

{en_table}
## Chinese

{zh_pages}: documentation.

{zh_table}
## Two releases of one Chinese documentation

All pages of the earlier release, then all of the later; {version_pairs} pairs have shingles with a Jaccard similarity
of .8 or more. A drop is false when no kept page that it names is of the same path or has three quarters of its words.

{versions}
![Recall and wrong drops](peers.png)
"""
