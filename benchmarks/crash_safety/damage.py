"""Indexes that are cut or changed at random places, and what the next crawl makes of them."""

from __future__ import annotations

import json
import random
import resource
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import lmdb

from benchmarks.crash_safety.crawling import ON, Project, fork
from benchmarks.crash_safety.kills import Site
from benchmarks.crash_safety.reopening import checks, reopen
from benchmarks.markdown import table
from benchmarks.replay.store import StoredPage
from dedupcrawl.content.html import extract
from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.errors import IndexDamagedError, IndexMismatchError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.segment_store import segment_files
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict

_BATCH_PAGES = 8  # so few that a small crawl has segments, too
_FILES = 15  # of a feed, if nothing were dropped
_OF_SEGMENTS = 0.25  # of the trials
_CPU_LIMIT = 60  # seconds of one trial

REFUSED = "refused, says why"
SOUND = "opened, all pages there"
REPORTED = "opened, verify tells"
FEWER = "opened, pages gone unseen"
SIGNAL = "process ended by a signal"
OTHER = "another error"
_OUTCOMES = (REFUSED, SOUND, REPORTED, FEWER, SIGNAL, OTHER)


def damage_table(site: Site, pages: Sequence[StoredPage], folder: Path, trials: int, seed: int) -> str:
    """The index of a crawl that was killed, and of one that came to its end, damaged and given to the next crawl.

    That crawl is its detector alone, which is asked about all pages of the site in some order; where the index cannot
    be used a page is kept unchecked, as a crawl does. A crawl that is refused is said to start without the index.
    """
    read = [extract(page.body, page.url, encoding="utf-8") for page in pages]
    crawls = {
        killed: _crawled(site, folder / ("killed" if killed else "closed"), killed, max(1, len(pages) // _FILES))
        for killed in (False, True)
    }
    found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    lost: Counter[tuple[str, str]] = Counter()
    for trial in range(trials):
        rng = random.Random(f"{seed} {trial}")
        killed, way = bool(trial % 2), list(_WAYS)[trial // 2 % len(_WAYS)]
        project, whole = crawls[killed]
        index = folder / f"trial-{trial}"
        shutil.copytree(project.index, index)
        _WAYS[way](rng.choice(segment_files(index)) if rng.random() < _OF_SEGMENTS else _data(index), rng)
        outcome, said, kept = _next_crawl(index, read, whole, rng)
        key = "killed" if killed else "closed", way
        found[key][outcome] += 1
        with (folder / "trials.txt").open("a", encoding="utf-8") as log:
            log.write(f"{trial} {key} {outcome} {said}\n")
        if outcome != REFUSED:
            lost[key] += len(site.texts.lost(chain(chain.from_iterable(project.feed_urls()), kept)))
        if outcome in (REFUSED, SOUND, REPORTED):
            shutil.rmtree(index)
    rows = [(*key, *(counts[outcome] for outcome in _OUTCOMES), lost[key]) for key, counts in found.items()]
    head = "crawl was", "damage", *_OUTCOMES, "texts lost"
    return f"{trials} damaged indexes and the next crawl:\n\n" + table(head, rows)


def _crawled(site: Site, folder: Path, killed: bool, batch: int) -> tuple[Project, int]:
    """A crawl, and how many pages its index has when the next one opens it."""
    project = site.project(folder, ON, batch)
    LmdbIndex(project.index, checks(), batch_pages=_BATCH_PAGES).close()
    process = project.start()
    while killed and process.is_alive() and len(list(project.feeds.iterdir())) < 7:  # six files are closed
        time.sleep(0.01)
    if killed:
        process.kill()
    process.join()
    return project, reopen(project.index).pages


# Ways of damage


def _data(index: Path) -> Path:
    return index / "data.mdb"


def _used(file: Path) -> int:
    """Bytes of a file that hold something."""
    if file.name != "data.mdb":
        return file.stat().st_size
    with lmdb.open(str(file), max_dbs=1, subdir=False, readonly=True, lock=False) as journal:
        return int((journal.info()["last_pgno"] + 1) * journal.stat()["psize"])


def _cut(file: Path, rng: random.Random) -> None:
    with file.open("r+b") as opened:
        opened.truncate(rng.randrange(_used(file)))


def _flip(file: Path, rng: random.Random, bits: int = 1) -> None:
    used = _used(file)
    with file.open("r+b") as opened:
        for _ in range(bits):
            at = rng.randrange(used)
            opened.seek(at)
            byte = opened.read(1)[0]
            opened.seek(at)
            opened.write(bytes([byte ^ 1 << rng.randrange(8)]))


def _flip_many(file: Path, rng: random.Random) -> None:
    _flip(file, rng, bits=64)


def _blank(file: Path, rng: random.Random) -> None:
    """A block that the disk never wrote."""
    at = rng.randrange(_used(file)) // 4096 * 4096
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(bytes(min(4096, file.stat().st_size - at)))


_WAYS: Mapping[str, Callable[[Path, random.Random], None]] = {
    "cut": _cut,
    "one bit": _flip,
    "64 bits": _flip_many,
    "a block of zeros": _blank,
}


# The next crawl


def _next_crawl(index: Path, pages: Sequence[Page], whole: int, rng: random.Random) -> tuple[str, str, list[str]]:
    """What became of it, what it said, and the URLs of the pages that it kept."""
    order = rng.sample(pages, len(pages))
    answer = index.with_suffix(".json")
    process = fork.Process(target=_in_process, args=(index, order, whole, answer))
    process.start()
    process.join()
    kept = answer.with_suffix(".kept").read_text(encoding="utf-8").splitlines() if process.exitcode is not None else []
    if process.exitcode:
        return SIGNAL if process.exitcode < 0 else OTHER, f"exit status {process.exitcode}", kept
    outcome, said = json.loads(answer.read_text(encoding="utf-8"))
    return outcome, said, kept


def _in_process(index: Path, order: Sequence[Page], whole: int, answer: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT, _CPU_LIMIT))
    with answer.with_suffix(".kept").open("w", encoding="utf-8", buffering=1) as kept:
        outcome = _judge_all(index, order, whole, lambda url: kept.write(f"{url}\n"))
    answer.write_text(json.dumps(outcome), encoding="utf-8")


def _judge_all(index: Path, order: Sequence[Page], whole: int, keep: Callable[[str], object]) -> tuple[str, str]:
    try:
        opened = LmdbIndex(index, checks())
        opened.start_leasing()
        opened.expire()
        pages = opened.info()["pages"]
        detector = Detector(opened, spider="listed", run="next")
    except (OSError, IndexDamagedError, IndexMismatchError) as error:
        return REFUSED if str(index) in str(error) else OTHER, str(error)
    for page in order:
        verdict: Verdict | None = None
        with suppress(OSError, IndexDamagedError):  # then it is kept, unchecked
            verdict = detector.judge(Analysis(page, opened.secret), checks(), scope="spider", request=lambda: b"again")
        if verdict is None or not verdict.is_duplicate:
            keep(page.url)
    try:
        problems = opened.verify()
    except (OSError, IndexDamagedError) as error:
        problems = [str(error)]
    return REPORTED if problems else SOUND if pages == whole else FEWER, "; ".join(problems)
