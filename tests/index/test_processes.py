"""Several processes on one index, and killed ones; the ledger, case by case, of what is kept but not stored."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from dedupcrawl.index import journal
from dedupcrawl.index.contract import Kept
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip, digest
from dedupcrawl.index.tables import Cell
from dedupcrawl.verdict import Verdict
from tests import warm
from tests.index.claimant import COPY, LIFE_SECONDS, assert_reaped, claimant, keep, keeper_of
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, drop, lose, offer, page, premise, store
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
    before = index.others
    index.change([Cell("due", b"", b"no such cell")])
    index.attach("http://a/1", "text", b"x")
    assert index.others == before
    index.change([Cell("due", b"", b"no such cell")])
    worker.go()
    assert worker.wait() == 0
    assert sum(1 for _ in index.entries()) == 2
    assert index.others != before
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


def test_what_was_skipped_for_a_lost_page_is_due(index: AnyIndex) -> None:
    index.start_leasing()
    keep(index, "http://a/1", 7)
    keep(index, "http://a/2", 8)
    assert drop(index, "http://a/1", COPY)
    other = Skip("other", "http://a/copy", b"")
    assert drop(index, "http://a/1", other)
    assert index.due("toy") == []
    assert set(lose(index, "http://a/1")) == {COPY, other}
    assert index.entry("http://a/1") is None
    assert index.entry("http://a/2") is not None
    assert index.due("toy") == [COPY]
    assert index.due("other") == [other]
    assert keeper_of(index, "http://a/3", 7) is None
    assert index.verify() == []


def test_what_is_confirmed_stays_and_nothing_depends_on_it(index: AnyIndex) -> None:
    index.start_leasing()
    keep(index, "http://a/1", 7)
    drop(index, "http://a/1", COPY)
    store(index, "http://a/1", "http://a/unknown")
    assert drop(index, "http://a/1", COPY), "it is kept, though nobody remembers this"
    assert lose(index, "http://a/1") == []
    assert index.due("toy") == []


def test_nothing_can_depend_on_what_is_not_kept(index: AnyIndex) -> None:
    index.start_leasing()
    assert not drop(index, "http://a/1", COPY)
    keep(index, "http://a/1", 7)
    lose(index, "http://a/1")
    assert not drop(index, "http://a/1", COPY)


def test_what_was_due_and_is_kept_is_due_again_if_that_is_lost(index: AnyIndex) -> None:
    index.start_leasing()
    keep(index, "http://a/1", 7)
    drop(index, "http://a/1", COPY)
    lose(index, "http://a/1")
    keep(index, COPY.url, 7)
    index.release(COPY, premise(index, COPY.url))
    assert index.due("toy") == []
    assert lose(index, COPY.url) == [COPY]
    assert index.due("toy") == [COPY]


def test_what_was_due_and_is_a_duplicate_again_is_due_no_more(index: AnyIndex) -> None:
    index.start_leasing()
    keep(index, "http://a/1", 7)
    drop(index, "http://a/1", COPY)
    lose(index, "http://a/1")
    index.release(COPY, None)
    assert index.due("toy") == []


def test_without_leases_everything_is_stored(index: AnyIndex) -> None:
    keep(index, "http://a/1", 7)
    assert drop(index, "http://a/1", COPY)
    assert lose(index, "http://a/1") == []


def test_a_kept_page_is_a_skip_of_itself_where_it_is_known_what_to_ask_for(index: AnyIndex) -> None:
    index.start_leasing()
    for url, content in (("http://a/1", 7), ("http://a/2", 8), ("http://a/3", 9)):
        entry = structs.replace(page(url, content), fetched_url=f"{url}?fetched")
        assert isinstance(offer(index, entry, request=f"ask for {url}".encode()), Kept)
    store(index, "http://a/1")
    drop(index, "http://a/2", COPY)
    itself = Skip("toy", "http://a/2?fetched", b"ask for http://a/2")
    assert lose(index, "http://a/1") == []
    assert set(lose(index, "http://a/2")) == set(index.due("toy")) == {itself, COPY}


@pytest.mark.parametrize("end", ["kill", "close"])
def test_leases_end_with_their_process(address: str, end: str) -> None:
    with claimant(address, end) as process:
        index = open_index(address, CHECKS)
        if end == "kill":
            time.sleep(1.2 * LIFE_SECONDS)  # on a server longer than a life that is not renewed
            assert index.expire() == 0, "it is alive"
            assert keeper_of(index, "http://a/2", 7) == "http://a/1"
            process.send_signal(signal.SIGKILL)
            process.wait()
        deadline = time.monotonic() + 20
        while not index.expire():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert_reaped(index)
        index.close()


def test_a_lessee_that_is_excluded_is_looked_at_later(address: str) -> None:
    dead = open_index(address, CHECKS)
    name = dead.start_leasing()
    assert dead.start_leasing() == name
    keep(dead, "http://a/1", 7)
    dead.close()
    index = open_index(address, CHECKS)
    assert index.expire({name}) == 0
    assert index.entry("http://a/1") is not None
    assert index.expire({"another"}) == 1
    index.close()


def test_a_page_that_the_living_keep_again_is_not_forgotten_for_the_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the leases and the transaction that ends one, another may have kept the page."""
    index = LmdbIndex(tmp_path / "index", CHECKS)
    index.start_leasing()
    keep(index, "http://a/1", 7)
    keep(index, "http://a/2", 8)
    index.close()  # nobody has a lease on them now
    index = LmdbIndex(tmp_path / "index", CHECKS)
    read = index.rows

    def keep_meanwhile(table: str) -> list[tuple[bytes, bytes]]:
        leases = list(read(table))
        keep(index, "http://a/1", 9)
        return leases

    monkeypatch.setattr(index, "rows", keep_meanwhile)
    index.start_leasing()
    assert index.expire() == 1
    assert index.entry("http://a/1") is not None
    assert index.entry("http://a/2") is None
    store(index, "http://a/1")
    assert index.info()["unstored"] == 0
    assert index.verify() == []
    index.close()


def test_a_lease_of_another_process_is_not_ended_by_this_one(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = LmdbIndex(path, CHECKS)
    index.start_leasing()
    keep(index, "http://a/1", 7)
    index.close()  # nobody has a lease on it now
    index = LmdbIndex(path, CHECKS)
    store(index, "http://a/1")
    index.close()
    index = LmdbIndex(path, CHECKS)
    assert index.expire() == 1
    index.close()


@pytest.mark.parametrize("row", [b"\xc1", b"\x92\xa1\xe9\xa1x", msgspec.msgpack.encode(["http://a/2", "somebody"])])
@pytest.mark.parametrize("table", ["leases", "due"])
def test_a_damaged_row_says_where(tmp_path: Path, table: str, row: bytes) -> None:
    """To take the lease on one page for that on another would lose pages."""
    path = tmp_path / "index"
    index = LmdbIndex(path, CHECKS)
    key = digest("http://a/1") if table == "leases" else digest("toy") + digest("http://a/1")
    index.journal.writing(lambda txn: txn.put(key, row, db=index.journal.tables[table]))
    with pytest.raises(IndexDamagedError, match=f"the index at {path} is damaged .*: delete that folder"):
        index.expire() if table == "leases" else index.due("toy")
    index.close()


def transactions_of(index: LmdbIndex, step: Callable[[], object]) -> int:
    """How many transactions a step has written."""

    def newest() -> int:
        with index.journal.lock, index.journal.reading() as txn:
            return txn.id()

    before = newest()
    step()
    return newest() - before


def test_what_must_not_come_apart_is_one_transaction(tmp_path: Path) -> None:
    """A process may be killed between any two."""
    index = LmdbIndex(tmp_path / "index", CHECKS)
    index.start_leasing()
    first, second = "http://a/1", "http://a/2"
    assert transactions_of(index, lambda: keep(index, first, 7, b"ask for it")) == 1, "page, lease and skip"
    keep(index, second, 8, b"ask for it")
    assert index.info()["unstored"] == 2
    assert transactions_of(index, lambda: store(index, first, second)) == 1, "leases and skips"
    assert (index.info()["unstored"], list(index.rows("skips"))) == (0, [])
    for url in (first, second, first):
        index.record(Verdict(url, "duplicate", "http://a/0"), run="", site="a")
    assert transactions_of(index, lambda: index.withdraw([first, second])) == 2, "one for each page"
    assert len(list(index.restored())) == 2
    index.close()
