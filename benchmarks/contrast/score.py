"""What today's product says of contrast pairs: through a Detector that knows the site, and `compare`."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import dedupcrawl
from benchmarks.texts import json_lines
from dedupcrawl.commands.compare import comparing
from dedupcrawl.content.model import TARGET_PRECISION, load

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair (without its pages), the probability that its new page duplicates the kept one, and its features.

    Where the product abstains, the probability is 0, and there are no features.
    """

    pair: Row
    probability: float
    values: list[float]

    @property
    def is_same(self) -> bool:
        """Whether the new page may be dropped."""
        return bool(self.pair["label"] == "same")


def judged(path: Path) -> Iterator[Judged]:
    """All pairs of a file; each site's other pages are checked first, in an index of their own."""
    sites: dict[str, list[Row]] = {}
    for is_site, group in groupby(json_lines(path), key=lambda row: bool(row["kind"] == "site")):
        if is_site:
            sites = {row["id"]: row["pages"] for row in group}
            continue
        pairs = sorted(group, key=lambda row: str(row["site"]))
        for site, some in groupby(pairs, key=lambda row: str(row["site"])):
            yield from _compared(some, sites.get(site, []))


def _compared(pairs: Iterator[Row], context: Sequence[Row]) -> Iterator[Judged]:
    def page(row: Row) -> dedupcrawl.Page:
        return dedupcrawl.read_html(row["html"], row["url"])

    with tempfile.TemporaryDirectory() as folder:
        if context:
            with dedupcrawl.Detector(Path(folder, "index")) as detector:
                list(detector.check_many(map(page, context)))
        with comparing(f"lmdb:{folder}/index" if context else None, load(None)) as compare:
            for row in pairs:
                found = compare(page(row.pop("new")), page(row.pop("kept")))
                yield Judged(row, found.probability, found.values)


def area(same: Sequence[float], other: Sequence[float]) -> float:
    """How often one of `same` lies above one of `other`, ties half: the area under the ROC curve."""
    low = np.sort(np.array(other))
    below = np.searchsorted(low, same, "left") + np.searchsorted(low, same, "right")
    return float(below.mean() / (2 * len(low))) if len(same) and len(low) else float("nan")


def table(pairs: Sequence[Judged], threshold: float) -> str:
    """Kind x language: the share that is decided rightly; then of all without and with slots, alone and on a site.

    A kind's AUC is that of its probabilities against those of all pairs of the other label.
    """
    names = sorted({one.pair["language"] for one in pairs})
    kinds: defaultdict[tuple[bool, str], list[Judged]] = defaultdict(list)
    for one in sorted(pairs, key=lambda one: (not one.is_same, str(one.pair["kind"]))):
        kinds[one.is_same, one.pair["kind"]].append(one)
        kinds[one.is_same, "ALL"].append(one)
    columns: dict[str, Callable[[Row], bool]] = {name: lambda row, name=name: row["language"] == name for name in names}  # type: ignore[misc]
    columns |= {"bare": lambda row: not row["slots"], "slots": lambda row: bool(row["slots"])}
    columns |= {"alone": lambda row: not row["site"], "site": lambda row: bool(row["site"]), "all": lambda _: True}
    lines = [f"{'label':6}{'kind':18}{''.join(f'{name:>8}' for name in (*columns, 'AUC', 'pairs'))}"]
    for (is_same, kind), some in sorted(kinds.items(), key=lambda item: (not item[0][0], item[0][1] == "ALL")):
        shares = ""
        for is_in in columns.values():
            right = [(one.probability >= threshold) == is_same for one in some if is_in(one.pair)]
            shares += f"{np.mean(right):8.2f}" if right else f"{'–':>8}"
        own, against = ([one.probability for one in group] for group in (some, kinds[not is_same, "ALL"]))
        auc = area(own, against) if is_same else area(against, own)
        lines.append(f"{'same' if is_same else 'other':6}{kind:18}{shares}{auc:8.3f}{len(some):8}")
    return "\n".join([*lines, f"threshold {threshold:.3f}, for a target precision of {TARGET_PRECISION}"])


def score(path: Path, rows: Path | None) -> None:
    """Print the table; write a line of tab-separated values for each pair into `rows`."""
    pairs = list(judged(path))
    if rows:
        lines = ("\t".join([*map(str, one.pair.values()), f"{one.probability:.4f}"]) for one in pairs)
        rows.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(table(pairs, load(None).threshold(TARGET_PRECISION)))
