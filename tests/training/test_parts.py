"""Training in parts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from dedupcrawl.crawl_logs.rows import canonical_row
from dedupcrawl.training import learning_part
from dedupcrawl.training import parts as module
from dedupcrawl.training.clusters import SitePages
from dedupcrawl.training.learning_part import bounded, learn_bounded, learn_sites
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import PageRow, SiteRows, page_rows
from dedupcrawl.training.parts import Part, spooled, work_on
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.workers import WorkFailedError

Told = list[tuple[str, int, int]]


def no_progress(stage: str, done: int, total: int) -> None:
    pass


def rows_and_process(rows: SiteRows) -> tuple[int, int]:
    return sum(map(len, rows.values())), os.getpid()


def fails(rows: SiteRows) -> None:
    raise ValueError(f"rows of {len(rows)} sites")


@pytest.fixture
def parts(tmp_path: Path) -> list[Part]:
    made = []
    for number in range(4):
        (tmp_path / f"part{number}").mkdir()
        made += spooled([{"a.com": [PageRow("x")] * (number + 1)}], tmp_path / f"part{number}")
    return made


@pytest.mark.parametrize("workers", [None, 2])
def test_few_rows_are_worked_on_here(parts: list[Part], workers: int | None) -> None:
    told: Told = []
    done = list(work_on(parts, rows_and_process, "working", lambda *at: told.append(at), workers))
    processes = {process for _, process in done}
    assert (processes == {os.getpid()}) == (workers is None)
    assert (os.getpid() in processes) == (workers is None)
    assert sorted(count for count, _ in done) == [1, 2, 3, 4]
    assert [at[0] for at in told] == ["working"] * 5
    assert [at[1] for at in told] == sorted(at[1] for at in told)
    assert told[0] == ("working", 0, 10)
    assert told[-1] == ("working", 10, 10)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_through(parts: list[Part], workers: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        list(work_on(parts, fails, "working", no_progress, workers))


def killed(rows: SiteRows) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_an_error(parts: list[Part]) -> None:
    with pytest.raises(WorkFailedError, match="a worker process was killed"):
        list(work_on(parts, killed, "working", no_progress, 2))


def slow(rows: SiteRows) -> None:
    Path(os.environ["TEST_STARTED"], str(os.getpid())).touch()
    time.sleep(600)


@pytest.mark.parametrize("at_work", [0, 1, 2])
def test_whatever_ends_the_work_early_ends_the_workers(
    parts: list[Part], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_work: int
) -> None:
    """Interrupted when so many workers are at work; with none of them, while they are being started."""
    started = tmp_path / "started"
    started.mkdir()
    monkeypatch.setenv("TEST_STARTED", str(started))
    before = set(multiprocessing.active_children())
    results = work_on(parts, slow, "working", no_progress, 2)
    main = threading.get_ident()
    interrupted = threading.Event()

    def interrupt() -> None:
        while len(list(started.iterdir())) < at_work:
            time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)
        while not interrupted.wait(5):  # Python swallows an interrupt that comes while an object is finalized
            signal.pthread_kill(main, signal.SIGINT)

    def work_until_interrupted() -> None:
        try:
            threading.Thread(target=interrupt, daemon=True).start()
            next(results)
        finally:
            interrupted.set()

    with pytest.raises(KeyboardInterrupt):
        work_until_interrupted()
    deadline = time.monotonic() + 60
    while set(multiprocessing.active_children()) - before:  # join would race against the pool's own thread
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("rows_a_part", [10**6, 10, 1])
def test_every_site_is_in_one_part_in_the_order_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_a_part: int
) -> None:
    monkeypatch.setattr(module, "_ROWS_A_PART", rows_a_part)
    batches: list[SiteRows] = []
    for start in range(0, 100, 9):
        batches.append({})
        for number in range(start, min(start + 9, 100)):
            batches[-1].setdefault(f"site{number % 13}", []).append(PageRow(str(number), simhash=-number))
    parts = spooled(batches, tmp_path)
    assert sum(part.rows for part in parts) == 100
    assert [part.rows for part in parts] == sorted((part.rows for part in parts), reverse=True)
    seen: set[str] = set()
    for part in parts:
        there = part.read()
        assert sum(map(len, there.values())) == part.rows
        assert seen.isdisjoint(there)
        seen |= set(there)
        for site, rows in there.items():
            numbers = [number for number in range(100) if f"site{number % 13}" == site]
            assert rows == [PageRow(str(number), simhash=-number) for number in numbers]
    assert len(seen) == 13
    assert (len(parts) == 1) == (rows_a_part == 10**6)


def site(sizes: list[int], importance: list[float] | None = None) -> SitePages:
    clusters = [number for number, size in enumerate(sizes) for _ in range(size)]
    return SitePages([f"{i:06}" for i in range(len(clusters))], clusters, importance or [0.0] * len(clusters))


def taken(pages: SitePages, most: int) -> SitePages:
    return pages.at(bounded(pages, most))


def test_one_huge_cluster_is_thinned_at_equal_steps() -> None:
    kept = taken(site([5000, 3]), 1000)
    assert kept.sizes()[1] == 3
    step = 5000 // learning_part.MOST_OF_A_CLUSTER
    urls = [url for url, cluster in zip(kept.urls, kept.clusters, strict=True) if cluster == 0]
    assert urls == [f"{i:06}" for i in range(0, 5000, step)]


def test_of_a_huge_cluster_the_important_urls_are_taken_as_well_as_others() -> None:
    importance = [float(i >= 900) * 100 + 1 for i in range(1000)]
    kept = taken(site([1000], importance), 100).urls
    assert kept[-1] >= "000900"
    assert sum(url < "000900" for url in kept) >= len(kept) - 2


def test_of_a_site_of_nothing_but_absurd_urls_nothing_is_learned() -> None:
    pages = SitePages(["x" * 30_000, "y" * 30_000], [0, 1], [0.0, 0.0])
    rule = Rule("r", "rewrite", drop=("sid",), source="learned")
    learned = learn_bounded("a.com", pages, LearningOptions(), [rule])
    assert (learned.rules, learned.carried_over, learned.failed) == ([], [SiteRules("a.com", (rule,))], [])


def test_a_site_whose_carried_over_rules_break_something_costs_no_other_site_its_rules() -> None:
    def carried_over(site: str) -> tuple[Rule, ...]:
        if site == "a.com":
            raise ValueError("odd")
        return ()

    log = [
        {"url": f"http://{site}/{page}?sid={page + session}", "text_digest": f"{page}"}
        for site in ("a.com", "b.com")
        for page in range(40)
        for session in range(3)
    ]
    rows = page_rows(map(canonical_row, log))
    learned = learn_sites(rows, LearningOptions(), carried_over)
    assert learned.failed == ["a.com: ValueError: odd"]
    assert [rules.site for rules in learned.rules] == ["b.com"]
