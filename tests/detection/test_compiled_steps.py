"""Pages on their whole way: compiled or not, the verdicts are the same, and no compiled step is gone around."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from dedupcrawl.content import kernels, main_outline
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.content.html import extract
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.page import Page
from tests.both_ways import BothWays

both_ways = BothWays(kernels)
pytestmark = both_ways.needed

CHECKS = ("exact", "feature_code", "simhash", "shingles", "mwo")
STEPS = {name for name in dir(kernels.compiled) if name.islower() and not name.startswith("_")}


def pages() -> Iterator[tuple[str, ...]]:
    """Texts of which each comes again: equal, edited in words and figures, with a block more, and cut short."""
    chance = random.Random(5)
    words = [
        f"{a}{b}" for a in ("har", "ber", "stone", "mill", "north", "歌") for b in ("bour", "gate", "ing", "7", "數")
    ]
    words += ["the", "of", "not", "rose", "fell", "on", "off", "five", "12"]
    frame = "Read the terms of this site before you write to us"
    for _ in range(8):
        text = [" ".join(chance.choices(words, k=30)) + "." for _ in range(6)]
        yield (frame, *text)
        yield (frame, *text)
        edited = [line.split() for line in text]
        for line in edited:
            line[chance.randrange(30)] = chance.choice(words)
        yield (frame, *map(" ".join, edited))
        yield (*text[3:], *text[:3], " ".join(chance.choices(words, k=40)))
        yield tuple(text[1:5])
        yield (frame, *text, *text[:2], "Nobody knows it")


def read(text: tuple[str, ...], url: str) -> Page:
    return extract("".join(f"<p>{line}</p>" for line in text), url)


def test_every_compiled_step_is_taken_and_changes_no_verdict(tmp_path: Path) -> None:
    folders = count()

    def verdicts() -> list[dict[str, Any]]:
        main_outline.read.cache_clear()  # what the other way has read
        checks = make_checks(CHECKS, {})
        index = LmdbIndex(tmp_path / str(next(folders)), checks, batch_pages=8)
        detector = Detector(index, run="run")
        found = [
            detector.judge(
                Analysis(read(text, f"http://site{number % 2}.example/{number}"), detector.index.secret), checks
            )
            for number, text in enumerate(pages())
        ]
        detector.close()
        index.close()
        return [verdict.to_dict() for verdict in found]

    found = both_ways(verdicts)
    assert {verdict["verdict"] for verdict in found} == {"unique", "duplicate"}
    assert both_ways.called >= STEPS
