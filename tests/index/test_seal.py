"""A closed index is sealed: what is damaged later is told before LMDB reads it; and without a seal it is looked at."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from dedupcrawl.commands.index import command
from dedupcrawl.index.errors import IndexDamagedError
from dedupcrawl.index.open import open_index
from dedupcrawl.index.seal import USERS, check_seal
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
