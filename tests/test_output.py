from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.output import results, to_json


def test_a_file_is_there_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with results(path) as file:
        file.write(b"row\n")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"row\n"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_early_end_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")

    def fail() -> None:
        with results(path) as file:
            file.write(b"half a r")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out.jsonl", tmp_path / "latest"
    path.touch(0o640)
    link.symlink_to(path)
    with results(link) as file:
        file.write(b"row")
    assert link.is_symlink()
    assert path.read_bytes() == b"row"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with results(path) as file:
        file.write(b"row")
    reader.join()
    assert read == [b"row"]
    assert path.is_fifo()


def test_a_folder_that_is_not_there_is_named_without_the_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "out"
    with pytest.raises(FileNotFoundError) as raised, results(path):
        pass
    assert raised.value.filename == str(path)


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=3), max_size=4), st.booleans())
def test_json_says_the_same_and_holds_nothing_that_a_terminal_obeys(value: Any, is_indented: bool) -> None:
    raw = to_json(value, indent=2 if is_indented else 0)
    assert json.loads(raw) == value
    assert raw.decode().replace("\n", "").isprintable()


def test_json_of_bytes_that_were_no_utf_8() -> None:
    assert to_json(["\udcff\u202e"]) == b'["\\udcff\\u202e"]'
    assert to_json(["\udcff\u202e"], indent=2) == b'[\n  "\\udcff\\u202e"\n]'


def test_json_of_people_stays_readable() -> None:
    assert to_json("Bücher 本 🙂\x7f\U000e0001") == '"Bücher 本 🙂\\u007f\\udb40\\udc01"'.encode()
