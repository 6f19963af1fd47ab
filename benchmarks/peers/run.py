"""Runs of one method over one stream: what it drops, what that costs, and what it keeps of a page."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.offering import offer
from benchmarks.peers.methods import Setting, all_peers
from benchmarks.peers.stream import Matches
from benchmarks.planted import Paragraphs, size, words
from dedupcrawl.content.checks.base import Check
from dedupcrawl.content.checks.registry import make_checks
from dedupcrawl.core.template import Template
from dedupcrawl.detection.analysis import Analysis, Reading
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.record import Entry
from dedupcrawl.index.steps import Kept
from dedupcrawl.page import Page

SIZED_ON = 8_000  # pages whose memory is measured
_STATM = Path("/proc/self/statm")  # Linux; elsewhere no memory is measured


@dataclass(frozen=True, slots=True)
class Run:
    """One pass over a stream.

    Attributes:
        matches: What each page was dropped for.
        cpu: Seconds of CPU.
        bytes_a_page: Of a kept page on disk; None where that is measured otherwise.
    """

    matches: Matches
    cpu: float
    bytes_a_page: float | None = None


def run_peer(setting: Setting, pages: Sequence[Paragraphs]) -> Run:
    """Text in, streaming: a page that is a duplicate is not kept."""
    kept = setting.keep()
    matches: list[Collection[int]] = []
    begin = time.process_time()
    for number, page in enumerate(pages):
        signature = setting.sign("\n".join(page))
        found = kept.matches(signature)
        if not found:
            kept.add(number, signature)
        matches.append(found)
    return Run(matches, time.process_time() - begin)


def run_ours(names: Sequence[str], pages: Sequence[Paragraphs]) -> Run:
    """The package's detector with these checks, on an index in LMDB; merges of the index count as its CPU."""
    checks = make_checks(names, {})
    matches: list[Collection[int]] = []
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        index = LmdbIndex(Path(folder), checks)
        detector = Detector(index, run="run")
        begin = time.process_time()
        for number, paragraphs in enumerate(pages):
            page = Page(f"http://site{number % 50}.example/articles/{number}.html", paragraphs=paragraphs)
            keeper = detector.judge(Analysis(page, index.secret), checks).duplicate_of
            matches.append([int(keeper.rpartition("/")[2].removesuffix(".html"))] if keeper else [])
        spent = time.process_time() - begin
        info = index.info()
        index.close()
    return Run(matches, spent, int(info["bytes"]) / int(info["pages"]))


def run_published(check: Check, pages: Sequence[Paragraphs]) -> Run:
    """One check as its paper has it: what it accepts is a duplicate, and no evidence is asked for; in memory."""
    index = TemporaryIndex([check])
    matches: list[Collection[int]] = []
    begin = time.process_time()
    for number, page in enumerate(pages):
        analysis = Analysis(Page(str(number), paragraphs=page), index.secret)
        entry = Entry(
            url=str(number),
            site="",
            spider="",
            run="",
            kept_at=0.0,
            title="",
            signatures=Reading.of(analysis, Template()).signatures([check]),
            outline=b"",
        )
        answer = offer(index, entry)
        matches.append([] if isinstance(answer, Kept) else [int(answer.duplicate_of or "")])
    spent = time.process_time() - begin
    index.close()
    return Run(matches, spent)


def bytes_a_page(language: str, peer: str, setting: str, pages: Sequence[Paragraphs]) -> float | None:
    """By how much the memory of a new process grows for each page that is kept; Linux only.

    The pages are as long as the given ones and have their words, drawn at random, so that no two are alike: some stores
    do not keep what they have. The first half is kept before, so that what is there once is not counted.
    """
    if not _STATM.exists():
        return None
    chance = random.Random(5)
    pool = [word for page in pages for word in words(page)]
    space = " " if language == "en" else ""
    texts = [space.join(chance.choices(pool, k=size(page))) for page in chance.choices(pages, k=SIZED_ON)]
    context = multiprocessing.get_context("spawn")  # a fork would use up what its parent has set free
    here, there = context.Pipe()
    child = context.Process(target=_keep_all, args=(language, peer, setting, texts, there))
    child.start()
    there.close()  # so that a child that dies is noticed
    grown: float = here.recv()
    child.join()
    return grown


def _keep_all(language: str, peer: str, setting: str, texts: Sequence[str], answer: Connection) -> None:
    found = next(one for one in all_peers(language) if one.name == peer)
    used = next(one for one in (found.documented, *found.tried) if one.name == setting)
    kept = used.keep()
    half = len(texts) // 2
    for number, text in enumerate(texts[:half]):
        kept.add(number, used.sign(text))
    before = _resident()
    for number, text in enumerate(texts[half:], half):
        kept.add(number, used.sign(text))
    answer.send((_resident() - before) / (len(texts) - half))


def _resident() -> int:
    gc.collect()
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
