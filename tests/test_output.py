"""What is shown to people, and written where."""

from __future__ import annotations

import doctest
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl import printable
from dedupcrawl.crawl.failures import in_words
from dedupcrawl.output import results, to_json
from dedupcrawl.system_errors import cause
from tests.fixtures import table_of

KILLED = """
import os, pathlib, signal, sys
from dedupcrawl.output import results

with results(pathlib.Path(sys.argv[1])) as file:
    file.write(b"a row and half a r")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


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


def test_what_killed_processes_leave_is_one_file_and_goes_with_the_next_that_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == [tmp_path / ".out.jsonl.tmp"]
    with results(path) as file:
        file.write(b"row\n")
    assert path.read_bytes() == b"row\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_another_has_laid_in_its_way_is_not_written_to(tmp_path: Path) -> None:
    path, other = tmp_path / "out.jsonl", tmp_path / "other"
    other.write_bytes(b"other")
    (tmp_path / ".out.jsonl.tmp").symlink_to(other)
    with results(path) as file:
        file.write(b"row\n")
    assert (path.read_bytes(), other.read_bytes()) == (b"row\n", b"other")


def test_of_two_that_write_one_file_at_once_the_last_counts_and_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with results(path) as first:
        first.write(b"first\n")
        with results(path) as second:
            second.write(b"second\n")
            first.flush()
        assert path.read_bytes() == b"second\n"
    assert path.read_bytes() == b"first\n"
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


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=3), max_size=4), st.booleans())
def test_json_says_the_same_and_holds_nothing_that_a_terminal_obeys(value: Any, is_indented: bool) -> None:
    raw = to_json(value, indent=2 if is_indented else 0)
    assert json.loads(raw) == value
    assert raw.decode().replace("\n", "").isprintable()


def test_json_of_bytes_that_were_no_utf_8() -> None:
    assert to_json(["\udcff\u202e"]) == b'["\\udcff\\u202e"]'
    assert to_json(["\udcff\u202e"], indent=2) == b'[\n  "\\udcff\\u202e"\n]'


class Row(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    same: bool = False
    rest: list[Row] = []


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(printable).failed == 0


@table_of("settings_and_sites", "a_value_of_another_shape_is_told_in_words_of_json")
def test_a_value_of_another_shape_is_told_in_words_of_json(value: Any, says: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Row)
    assert printable.mismatch(str(caught.value), "the row") == says


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EMFILE, errno.EISDIR, errno.EDQUOT])
def test_what_the_system_says_comes_with_what_to_do(code: int) -> None:
    said, _, advice = cause(OSError(code, os.strerror(code))).partition("; ")
    assert said == os.strerror(code)
    assert advice
    assert in_words(OSError(code, said, "log")) == f"log: {said}; {advice}"


def test_what_says_already_what_to_do_stays_as_it_is() -> None:
    assert cause(OSError(errno.ENOSPC, "no room: delete something")) == "no room: delete something"
    assert cause(OSError("a sentence")) == "a sentence"
