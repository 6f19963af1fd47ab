"""Several processes on one index, and processes that are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedupcrawl.index import journal
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.steps import Kept
from dedupcrawl.index.tables import Cell
from dedupcrawl.verdict import Verdict
from tests import warm
from tests.index.toys import CHECKS, offer, page
from tests.index.worker import BATCH

ROOT = Path(__file__).parents[2]


class Worker:
    """One that has opened the index and waits."""

    def __init__(self, folder: Path | str, name: str, seed: int, contents: int) -> None:
        (its_input, ours), (theirs, its_output) = os.pipe(), os.pipe()
        with open(its_input, "rb") as stdin, open(its_output, "wb") as stdout:
            command = ["tests.index.worker", str(folder), name, str(seed), str(contents)]
            self.process = warm.start(command, cwd=ROOT, output=(stdout, stdout, stdin))
        self._input, self._output = os.fdopen(ours, "wb", buffering=0), os.fdopen(theirs, encoding="utf-8")
        assert next(self.lines()) == "open"

    def go(self) -> None:
        self._input.write(b"\n")

    def lines(self) -> Iterator[str]:
        for line in self._output:
            yield line.strip()

    def wait(self) -> int:
        """Its exit status, once it has printed all that it had to say."""
        self._input.close()
        self._output.read()
        self._output.close()
        return self.process.wait(timeout=120)


def check_each_is_kept_once(workers: list[Worker], contents: int) -> None:
    """Let these workers go at once: of all their pages of one content exactly one is kept, under an id of its own."""
    for worker in workers:
        worker.go()
    printed = [line for worker in workers for line in worker.lines()]
    assert [worker.wait() for worker in workers] == [0] * len(workers)
    kept = [tuple(map(int, line.split()[1:])) for line in printed if line.startswith("kept")]
    assert sorted(content for _, content in kept) == list(range(1, contents + 1))
    assert sorted(page_id for page_id, _ in kept) == list(range(contents))


def opened(folder: Path) -> LmdbIndex:
    return LmdbIndex(folder, CHECKS, batch_pages=BATCH)


def test_each_content_is_kept_once(tmp_path: Path) -> None:
    contents, count = 400, 4
    workers = [Worker(tmp_path, f"worker{number}", number, contents) for number in range(count)]
    check_each_is_kept_once(workers, contents)
    index = opened(tmp_path)
    assert index.verify() == []
    assert sum(1 for _ in index.entries()) == contents
    assert int(index.info()["segments"]) > 0, "merged meanwhile"
    index.close()


def test_what_another_process_writes_is_seen_after_a_change_that_changed_nothing(tmp_path: Path) -> None:
    """LMDB gives the number of a transaction that has written nothing to the next one, whoever begins it."""
    index = opened(tmp_path)
    offer(index, page("http://a/1", 7))
    worker = Worker(tmp_path, "one", 1, 1)
    index.change([Cell("due", b"", b"no such cell")])
    index.attach("http://a/1", "text", b"x")
    index.change([Cell("due", b"", b"no such cell")])
    worker.go()
    assert worker.wait() == 0
    assert sum(1 for _ in index.entries()) == 2
    assert index.verify() == []
    index.close()


def test_a_reader_follows_a_writer(tmp_path: Path) -> None:
    index = opened(tmp_path)
    worker = Worker(tmp_path, "writer", 1, 200)
    worker.go()
    for line in worker.lines():
        if line.startswith("kept"):
            content = int(line.split()[2])
            found = index.entry(f"http://writer/{content}")
            assert found is not None
            copy = page("http://copy", content)
            assert isinstance(offer(index, copy), Verdict)
    assert worker.wait() == 0
    assert index.verify() == []
    index.close()


def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: dict[int, int] = {}
    contents = 20_000  # more lines than a pipe holds: whoever is not read on does not come to an end
    for attempt, lines_until_kill in enumerate([1, 15, 17, 33, 70, 131]):
        worker = Worker(tmp_path, f"worker{attempt}", attempt, contents)
        worker.go()
        for number, line in enumerate(worker.lines()):
            if line.startswith("kept"):
                page_id, content = map(int, line.split()[1:])
                assert page_id not in acknowledged
                assert content not in acknowledged.values()
                acknowledged[page_id] = content
            if number == lines_until_kill:
                worker.process.send_signal(signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL
        index = opened(tmp_path)
        assert index.verify() == []
        kept = {entry.url.rpartition("/")[2] for entry in index.entries()}
        for content in acknowledged.values():
            assert str(content) in kept
            copy = page("http://copy", content)
            assert isinstance(offer(index, copy), Verdict)
        index.close()
        left = {path.name for path in tmp_path.iterdir() if path.suffix != ".segment"}
        assert left == {"data.mdb", "lock.mdb", "merge.lock", "users.lock"}, "left-overs are removed"


def test_the_address_space_grows_in_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "FIRST_MAP_BYTES", 1 << 16)
    small = opened(tmp_path)
    worker = Worker(tmp_path, "worker", 1, 3000)
    worker.go()
    assert list(worker.lines())[-1] == "done"
    assert worker.wait() == 0
    assert (tmp_path / "data.mdb").stat().st_size > 1 << 18
    assert sum(1 for _ in small.entries()) == 3000
    for number in range(4000, 5000):
        entry = page(f"http://small/{number}", number)
        assert isinstance(offer(small, entry), Kept)
    assert small.verify() == []
    small.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path) -> None:
    index = opened(tmp_path)
    child = os.fork()
    if child == 0:  # nothing of pytest may run in the child
        try:
            index.entry("http://a")
        except RuntimeError as error:
            os._exit(0 if "opened before a fork" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert index.entry("http://a") is None
    index.close()
