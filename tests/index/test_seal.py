"""A closed index is sealed: later damage is told before LMDB reads it; verification finds what is wrong."""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.index import command
from dedupcrawl.index.catalog import Catalog
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.record import pack, record_of
from dedupcrawl.index.schema import Schema, header_of
from dedupcrawl.index.seal import USERS, check_seal
from dedupcrawl.index.segment import Segment
from dedupcrawl.index.verify import problems
from tests.index.toys import CHECKS, offer, page

PAGES = 40
BLOCK = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with closing(open_index(str(path), CHECKS)) as index:
        for number in range(PAGES):
            offer(index, page(f"http://a.example/{number}", number))
            index.attach(f"http://a.example/{number}", "text", f"text {number}".encode() * 40)
    return path


def used(folder: Path) -> int:
    return int.from_bytes((folder / USERS).read_bytes()[:8], "little")


def flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def blank(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) // BLOCK) * BLOCK
    data[at : at + BLOCK] = bytes(BLOCK)


def copy(data: bytearray, chance: random.Random) -> None:
    to, of = (at * BLOCK for at in chance.sample(range(len(data) // BLOCK), 2))
    data[to : to + BLOCK] = data[of : of + BLOCK]


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def damaged(folder: Path, how: Callable[[bytearray, random.Random], None], chance: random.Random) -> None:
    whole = (folder / "data.mdb").read_bytes()[: used(folder)]
    data = bytearray(whole)
    while data == whole:
        how(data, chance)
    (folder / "data.mdb").write_bytes(data)


@pytest.mark.parametrize("how", [flip, blank, copy, cut])
def test_no_damage_of_a_closed_index_is_read(folder: Path, how: Callable[[bytearray, random.Random], None]) -> None:
    whole, chance = (folder / "data.mdb").read_bytes(), random.Random(1)
    for _ in range(20):
        damaged(folder, how, chance)
        for checks in (CHECKS, CHECKS[:0]):
            with pytest.raises(IndexDamagedError, match=f"the index at {folder} is damaged .*: delete that folder"):
                open_index(str(folder), checks)
        (folder / "data.mdb").write_bytes(whole)
    open_index(str(folder), CHECKS).close()


def test_who_reads_leaves_the_seal_and_who_writes_breaks_it(folder: Path) -> None:
    sealed = (folder / USERS).read_bytes()
    with closing(open_index(str(folder), [])) as index:
        assert sum(1 for _ in index.entries()) == PAGES
        assert check_seal(folder)
    assert (folder / USERS).read_bytes() == sealed
    with closing(open_index(str(folder), CHECKS)) as index:
        offer(index, page("http://a.example/new", PAGES + 1))
        assert not check_seal(folder)
    assert check_seal(folder)
    assert (folder / USERS).read_bytes() != sealed


def test_a_killed_process_leaves_no_seal(folder: Path) -> None:
    child = os.fork()
    if child == 0:
        index = open_index(str(folder), CHECKS)
        offer(index, page("http://a.example/new", PAGES + 1))
        os._exit(0)
    os.waitpid(child, 0)
    assert not check_seal(folder)
    with closing(open_index(str(folder), CHECKS)) as index:
        assert index.entry("http://a.example/new") is not None
    assert check_seal(folder)


@pytest.mark.parametrize("left", [b"", b"x" * 16, b"garbage" * 10, None])
def test_a_seal_that_cannot_be_read_is_none(folder: Path, left: bytes | None) -> None:
    (folder / USERS).unlink()
    if left is not None:
        (folder / USERS).write_bytes(left)
    with closing(open_index(str(folder), CHECKS)) as index:
        assert index.verify() == []
    assert check_seal(folder)


def test_damage_without_a_seal_is_found_before_a_command_reads_it(folder: Path) -> None:
    """One sentence each, though some of it would end the process; and nobody seals it."""
    whole, size, chance = (folder / "data.mdb").read_bytes(), used(folder), random.Random(3)
    said = set()
    for how in [blank, copy] * 10:
        data = bytearray(whole[:size])
        how(data, chance)
        (folder / "data.mdb").write_bytes(data + whole[size:])
        (folder / USERS).write_bytes(b"")
        for arguments in (["list"], ["verify"], ["restore", "http://a.example/1"]):
            done = CliRunner().invoke(command, [*arguments, "--index", str(folder)])
            assert done.exception is None or isinstance(done.exception, SystemExit)
            said.add("damaged" if "damaged" in done.stderr else done.exit_code)
            if "damaged" in done.stderr:
                assert done.exit_code == 1
                assert not check_seal(folder)
    assert "damaged" in said


def test_verify_says_what_a_broken_seal_is_about(folder: Path) -> None:
    raw = (folder / "data.mdb").read_bytes()
    (folder / "data.mdb").write_bytes(
        raw.replace(b"http://a.example/7\xabexample.com", b"Http://a.example/7\xabexample.com")
    )
    done = CliRunner().invoke(command, ["verify", "--index", str(folder)])
    assert done.exit_code == 1
    assert "kept page 7 fails its checksum" in done.stderr
    other = CliRunner().invoke(command, ["list", "--index", str(folder)])
    assert "data.mdb is not what it was when the index was closed" in other.stderr


Rows = list[tuple[int, bytes]]


def made() -> tuple[Catalog, Rows]:
    """Two segments of four pages and a tail of two; page 1 was replaced by page 6."""
    catalog = Catalog(Schema(header_of(CHECKS, 4), CHECKS))
    rows: Rows = []
    for number in range(10):
        entry = page(f"http://{number if number != 6 else 1}", number + 1, b"abc")
        record = record_of(entry, catalog.schema.names, (1,) if number == 6 else (), ())
        rows.append((number, pack(record, number)))
        catalog.add(catalog.schema.keys(record))
    catalog.set_segments([batch.fold() for batch in catalog.batches[:2]])
    return catalog, rows


def change(catalog: Catalog, table: int, changed: Callable[[Any, Any], object]) -> None:
    """Change arrays of the first segment in place."""
    first = catalog.segments[0]
    tables = [(array("Q", keys), array("I", ids)) for keys, ids in first.tables]
    changed(*tables[table])
    catalog.set_segments([Segment(first.first, first.end, tuple(tables)), *catalog.segments[1:]])


def test_a_missing_segment() -> None:
    catalog, rows = made()
    catalog.segments = catalog.segments[1:]
    assert problems(catalog, rows) == ["the postings of the pages 0 to 4 are missing"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (lambda keys, ids: keys.reverse(), "out of order"),
        (lambda keys, ids: ids.__setitem__(0, 4), "out of order"),
        (lambda keys, ids: ids.__setitem__(0, ids[-1]), "is not what the pages say"),
        (lambda keys, ids: keys.__setitem__(1, keys[1] + 1), "is not what the pages say"),
    ],
)
def test_wrong_postings(changed: Callable[[Any, Any], object], told: str) -> None:
    catalog, rows = made()
    change(catalog, 0, changed)
    found = problems(catalog, rows)
    assert len(found) == 1
    assert told in found[0]
    assert "0 to 4" in found[0]


def test_missing_pages() -> None:
    catalog, rows = made()
    assert problems(catalog, rows[:7]) == ["the pages from 7 on are missing"]
    assert problems(catalog, rows[:3] + rows[4:]) == ["the pages 3 to 4 are missing"]
