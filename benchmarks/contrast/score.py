"""What today's product says of contrast pairs: through a Detector that knows the site, and `compare`."""

from __future__ import annotations

import gzip
import json
import lzma
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np

import dedupcrawl
from dedupcrawl.commands.compare import comparing
from dedupcrawl.content.model import TARGET_PRECISION, load


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and the probability that its new page duplicates the kept one; 0 where the product abstains."""

    pair: dict[str, Any]
    probability: float

    @property
    def is_same(self) -> bool:
        """Whether it is one."""
        return bool(self.pair["label"] == "same")


def opened(path: Path, mode: str) -> IO[Any]:
    """A file of lines, packed or not."""
    packed: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    return packed.get(path.suffix, open)(path, mode)  # type: ignore[no-any-return]


def judged(path: Path) -> list[Judged]:
    """All pairs of a file; each site's other pages are checked first, in an index of their own."""
    results: list[Judged] = []
    sites: dict[str, list[dict[str, str]]] = {}
    with opened(path, "rt") as lines, tempfile.TemporaryDirectory() as folder:
        rows = map(json.loads, lines)
        for is_site, group in groupby(rows, key=lambda row: row["kind"] == "site"):
            if is_site:
                sites = {row["id"]: row["pages"] for row in group}
                continue
            pairs = sorted(group, key=lambda row: str(row.get("site", "")))
            for site, some in groupby(pairs, key=lambda row: str(row.get("site", ""))):
                index = f"{folder}/{len(results)}" if site else None
                results += _compared(list(some), sites.get(site, []), index)
    return results


def _compared(pairs: Sequence[dict[str, Any]], context: Sequence[dict[str, str]], index: str | None) -> list[Judged]:
    def page(row: dict[str, str]) -> dedupcrawl.Page:
        return dedupcrawl.read_html(row["html"], row["url"])

    with ExitStack() as stack:
        if index is not None:
            with dedupcrawl.Detector(Path(index)) as detector:
                list(detector.check_many(map(page, context)))
        compare = stack.enter_context(comparing(index and f"lmdb:{index}", load(None)))
        return [Judged(row, compare(page(row["new"]), page(row["kept"])).probability) for row in pairs]


def area(same: Sequence[float], other: Sequence[float]) -> float:
    """How often one of `same` lies above one of `other`, ties half: the area under the ROC curve."""
    if not len(same) or not len(other):
        return float("nan")
    low = np.sort(np.array(other))
    below = np.searchsorted(low, same, "left") + np.searchsorted(low, same, "right")
    return float(below.mean() / (2 * len(low)))


def score(path: Path, rows: Path | None) -> None:
    """Print kind x language: the share of pairs that are decided rightly, and each kind's AUC."""
    results = judged(path)
    if rows:
        with rows.open("w", encoding="utf-8") as file:
            for one in results:
                said = (one.pair[key] for key in ("id", "kind", "language", "source", "label", "direction", "what"))
                file.write("\t".join([*said, str(bool(one.pair.get("site"))), f"{one.probability:.4f}"]) + "\n")
    print(table(results, load(None).threshold(TARGET_PRECISION)))


def table(results: Sequence[Judged], threshold: float) -> str:
    """Rows of kinds; a kind's AUC is that of its probabilities against those of all pairs of the other label."""
    names = sorted({one.pair["language"] for one in results})
    kinds: defaultdict[tuple[bool, str], list[Judged]] = defaultdict(list)
    for one in sorted(results, key=lambda one: (not one.is_same, one.pair["kind"])):
        kinds[one.is_same, one.pair["kind"]].append(one)
        kinds[one.is_same, "ALL"].append(one)

    def share(some: Sequence[Judged]) -> str:
        right = [(one.probability >= threshold) == one.is_same for one in some]
        return f"{np.mean(right):8.2f}" if right else f"{'–':>8}"

    lines = [f"{'label':6}{'kind':18}" + "".join(f"{name:>8}" for name in (*names, "alone", "site", "all", "AUC", "pairs"))]
    for (is_same, kind), some in sorted(kinds.items(), key=lambda item: (not item[0][0], item[0][1] == "ALL")):
        columns = [share([one for one in some if one.pair["language"] == name]) for name in names]
        columns += [share([one for one in some if bool(one.pair.get("site")) == known]) for known in (False, True)]
        against = [one.probability for one in kinds[not is_same, "ALL"]]
        own = [one.probability for one in some]
        auc = area(own, against) if is_same else area(against, own)
        lines.append(f"{'same' if is_same else 'other':6}{kind:18}{''.join(columns)}{share(some)}{auc:8.3f}{len(some):8}")
    return "\n".join([*lines, f"threshold {threshold:.3f}, for a target precision of {TARGET_PRECISION}"])
