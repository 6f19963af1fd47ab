"""Fixtures that several rooms share."""

from __future__ import annotations

import gc
import os
import signal
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # it has no types

from tests.redis_server import RedisServer, running

# No test is timed: machines are slow and busy. What is rare needs more examples, and says so.
# The suite tries the same examples each time, so that what a change breaks is the change's; others are tried by
# `pytest --hypothesis-profile explore`.
settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=25)
settings.load_profile("suite")

# NumPy's threads wait for each other by spinning. Where other workers have the cores, the tests of calibrate take 41 s
# of CPU with two threads and 5 s with one. NumPy reads this when it is imported, here or in a process of a test's.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

gc.set_threshold(2_000, 50, 100)  # as it is without, a sixteenth of the tests' time is looking for garbage

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job; some tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which uses of rules are tried in crawls of this process."""
    monkeypatch.setattr("dedupcrawl.crawl.parts.Random", lambda _: Random(1))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two a core: half of the time a test waits, for servers, Scrapy's clock or another process."""
    return 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2 * (os.cpu_count() or 1)


class _OneSpark(LoadFileScheduling):  # type: ignore[misc]  # as above
    """All tests of a file are run by one worker, and all that share the session of Spark, which takes long to start."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "spark" if "/spark/" in file else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _OneSpark | None:
    return _OneSpark(config, log) if config.getvalue("dist") == "loadfile" else None


# What starts crawls, servers, browsers, Spark, or a page's worth of commands: most of the time, a quarter of the
# tests. `make test-fast` leaves it out.
_SLOW = tuple(
    str(Path(__file__).parent / name)
    for name in (
        "benchmarks/", "crawls/", "demo/", "docs/", "hostile/", "shared_queue/", "spark/", "test_cli",
        "test_packaging", "commands/test_restore", "commands/test_train", "crawl/test_monitors",
        "crawl/test_refetches", "index/test_compact", "index/test_lmdb", "index/test_processes", "index/test_redis",
        "index/test_stateful", "report/test_page", "training/test_parts",
    )
)  # fmt: skip


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where all that is slow is left out, it is not imported either."""
    return (config.option.markexpr == "not slow" and str(collection_path).startswith(_SLOW)) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with it: small files leave no worker alone with a long one in the end."""
    for item in items:
        if str(item.path).startswith(_SLOW):
            item.add_marker("slow")
    items.sort(key=lambda item: (item.path.parent.name != "spark", item.get_closest_marker("slow") is None))


def pytest_collection_finish() -> None:
    """What was collected stays: no garbage collection looks at its million objects again."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line that says what was skipped, and for want of what."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        said = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"{reasons.total()} skipped: {said}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real crawls beside the checkout; tests that need it are skipped, by name, where it is absent."""
    data = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not data.is_dir():
        pytest.skip(f"needs the real crawls of {data}")
    return data


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests that do not kill it."""
    with running(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """Where an index can be made that no other test uses."""
    return redis_server.url(uuid.uuid4().hex)
