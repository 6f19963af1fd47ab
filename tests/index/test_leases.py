"""The ledger, case by case: what is kept but not stored yet, and what was dropped because of it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import Skip, digest
from dedupcrawl.index.steps import Kept
from dedupcrawl.verdict import Verdict
from tests.index.claimant import COPY, LIFE_SECONDS, assert_reaped, claimant, keep, keeper_of
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, drop, lose, offer, page, premise, store


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


def test_what_is_due_can_be_taken(index: AnyIndex) -> None:
    index.start_leasing()
    index.make_due([COPY])
    assert index.take(index.due("toy")) == [COPY]
    assert index.due("toy") == [COPY], "until it is adopted"
    index.release(COPY, None)
    assert index.due("toy") == []


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
