"""Claims: what is kept but not stored yet, and what was dropped because of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from dedupcrawl.index.contract import Kept
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.lmdb import LmdbIndex
from dedupcrawl.index.record import Dependent, digest
from dedupcrawl.verdict import Verdict
from tests.index.claimant import COPY, assert_reaped, claimant, keep, keeper_of
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS, depend, offer, page


def test_what_depends_on_an_abandoned_page_is_orphaned(index: AnyIndex) -> None:
    index.start_claiming()
    keep(index, "http://a/1", 7)
    keep(index, "http://a/2", 8)
    assert depend(index, "http://a/1", COPY)
    other = Dependent("other", "http://a/copy", b"")
    assert depend(index, "http://a/1", other)
    assert index.orphans("toy") == []
    assert set(index.abandon(["http://a/1"])) == {COPY, other}
    assert index.entry("http://a/1") is None
    assert index.entry("http://a/2") is not None
    assert index.orphans("toy") == [COPY]
    assert index.orphans("other") == [other]
    assert keeper_of(index, "http://a/3", 7) is None
    assert index.verify() == []


def test_what_is_confirmed_stays_and_nothing_depends_on_it(index: AnyIndex) -> None:
    index.start_claiming()
    keep(index, "http://a/1", 7)
    depend(index, "http://a/1", COPY)
    index.confirm(["http://a/1", "http://a/unknown"])
    assert depend(index, "http://a/1", COPY), "it is kept, though nobody remembers this"
    assert index.abandon(["http://a/1"]) == []
    assert index.orphans("toy") == []


def test_nothing_can_depend_on_what_is_not_kept(index: AnyIndex) -> None:
    index.start_claiming()
    assert not depend(index, "http://a/1", COPY)
    keep(index, "http://a/1", 7)
    index.abandon(["http://a/1"])
    assert not depend(index, "http://a/1", COPY)


def test_an_orphan_that_is_kept_is_one_again_if_that_claim_dies(index: AnyIndex) -> None:
    index.start_claiming()
    keep(index, "http://a/1", 7)
    depend(index, "http://a/1", COPY)
    index.abandon(["http://a/1"])
    keep(index, COPY.url, 7)
    index.adopt(COPY, COPY.url)
    assert index.orphans("toy") == []
    assert index.abandon([COPY.url]) == [COPY]
    assert index.orphans("toy") == [COPY]


def test_an_orphan_that_is_a_duplicate_again_is_one_no_more(index: AnyIndex) -> None:
    index.start_claiming()
    keep(index, "http://a/1", 7)
    depend(index, "http://a/1", COPY)
    index.abandon(["http://a/1"])
    index.adopt(COPY, None)
    assert index.orphans("toy") == []


def test_without_claims_everything_is_stored(index: AnyIndex) -> None:
    keep(index, "http://a/1", 7)
    assert depend(index, "http://a/1", COPY)
    assert index.abandon(["http://a/1"]) == []


def test_a_claimed_page_depends_on_itself_where_it_is_known_what_to_ask_for(index: AnyIndex) -> None:
    index.start_claiming()
    for url, content in (("http://a/1", 7), ("http://a/2", 8), ("http://a/3", 9)):
        entry = structs.replace(page(url, content), fetched_url=f"{url}?fetched")
        assert isinstance(offer(index, entry, request=f"ask for {url}".encode()), Kept)
    index.confirm(["http://a/1"])
    depend(index, "http://a/2", COPY)
    itself = Dependent("toy", "http://a/2?fetched", b"ask for http://a/2")
    assert index.abandon(["http://a/1"]) == []
    assert set(index.abandon(["http://a/2"])) == set(index.orphans("toy")) == {itself, COPY}


@pytest.mark.parametrize("end", ["kill", "close"])
def test_claims_die_with_their_process(tmp_path: Path, end: str) -> None:
    path = tmp_path / "index"
    with claimant(f"lmdb:{path}", end) as process:
        index = LmdbIndex(path, CHECKS)
        if end == "kill":
            assert index.reap_expired() == 0, "it is alive"
            assert keeper_of(index, "http://a/2", 7) == "http://a/1"
            index.abandon(["http://a/2"])
            index.close()
            process.send_signal(signal.SIGKILL)
            process.wait()
            index = LmdbIndex(path, CHECKS)
        assert index.reap_expired() == 1
        assert_reaped(index)
        index.close()
        assert list((path / "owners").iterdir()) == []


def test_a_page_that_the_living_keep_again_is_not_forgotten_for_the_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the claims and the transaction that ends one, another may have kept the page."""
    index = LmdbIndex(tmp_path / "index", CHECKS)
    index.start_claiming()
    keep(index, "http://a/1", 7)
    keep(index, "http://a/2", 8)
    index.close()  # the claims are nobody's now
    index = LmdbIndex(tmp_path / "index", CHECKS)
    read = index.rows

    def keep_meanwhile(table: str) -> list[tuple[bytes, bytes]]:
        claims = list(read(table))
        keep(index, "http://a/1", 9)
        return claims

    monkeypatch.setattr(index, "rows", keep_meanwhile)
    index.start_claiming()
    assert index.reap_expired() == 1
    assert index.entry("http://a/1") is not None
    assert index.entry("http://a/2") is None
    index.confirm(["http://a/1"])
    assert index.info()["claimed"] == 0
    assert index.verify() == []
    index.close()


def test_a_claim_of_another_process_is_not_confirmed_by_this_one(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = LmdbIndex(path, CHECKS)
    index.start_claiming()
    keep(index, "http://a/1", 7)
    index.close()  # the claim is nobody's now
    index = LmdbIndex(path, CHECKS)
    index.confirm(["http://a/1"])
    index.close()
    index = LmdbIndex(path, CHECKS)
    assert index.reap_expired() == 1
    index.close()


@pytest.mark.parametrize("row", [b"\xc1", b"\x92\xa1\xe9\xa1x", msgspec.msgpack.encode(["http://a/2", "somebody"])])
@pytest.mark.parametrize("table", ["claims", "orphans"])
def test_a_damaged_claim_says_where(tmp_path: Path, table: str, row: bytes) -> None:
    """To take the claim of one page for that of another would lose pages."""
    path = tmp_path / "index"
    index = LmdbIndex(path, CHECKS)
    key = digest("http://a/1") if table == "claims" else digest("toy") + digest("http://a/1")
    index.journal.writing(lambda txn: txn.put(key, row, db=index.journal.tables[table]))
    with pytest.raises(IndexDamagedError, match=f"the index at {path} is damaged .*: delete that folder"):
        index.reap_expired() if table == "claims" else index.orphans("toy")
    index.close()


def test_a_claimant_that_is_excluded_is_reaped_later(tmp_path: Path) -> None:
    dead = LmdbIndex(tmp_path / "index", CHECKS)
    name = dead.start_claiming()
    assert dead.start_claiming() == name
    keep(dead, "http://a/1", 7)
    dead.close()
    index = LmdbIndex(tmp_path / "index", CHECKS)
    assert index.reap_expired({name}) == 0
    assert index.entry("http://a/1") is not None
    assert index.reap_expired({"another"}) == 1
    index.close()


def test_orphans_can_be_taken(index: AnyIndex) -> None:
    index.start_claiming()
    index.refetch([COPY])
    assert index.take(index.orphans("toy")) == [COPY]
    assert index.orphans("toy") == [COPY], "until it is adopted"
    index.adopt(COPY, None)
    assert index.orphans("toy") == []


def test_many_pages_are_confirmed_in_short_transactions(tmp_path: Path) -> None:
    index = LmdbIndex(tmp_path / "index", CHECKS, batch_pages=100)
    index.start_claiming()
    urls = [f"http://a/{number}" for number in range(600)]
    for number, url in enumerate(urls, 1):
        keep(index, url, number)
    index.confirm(urls)
    index.close()
    index = LmdbIndex(tmp_path / "index", CHECKS)
    assert index.reap_expired() == 0
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
    index.start_claiming()
    first, second = "http://a/1", "http://a/2"
    assert transactions_of(index, lambda: keep(index, first, 7, b"ask for it")) == 1, "page, claim and dependent"
    keep(index, second, 8, b"ask for it")
    assert index.info()["claimed"] == 2
    assert transactions_of(index, lambda: index.confirm([first, second])) == 1, "claims and dependents"
    assert (index.info()["claimed"], list(index.rows("dependents"))) == (0, [])
    for url in (first, second, first):
        index.record(Verdict(url, "duplicate", "http://a/0"), run="", site="a")
    assert transactions_of(index, lambda: index.withdraw([first, second])) == 2, "one for each page"
    assert len(list(index.restored())) == 2
    index.close()
