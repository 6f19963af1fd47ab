"""Instructions that a piece of work takes, as callgrind counts them: the same on a busy machine as on an idle one.

A benchmark starts its own command again under valgrind (`start_again`). There it imports once what it needs, and each
piece of work runs in a forked process of its own (`per_page`), of which the start is the same: two runs over a
different number of pages tell what a page takes. What callgrind runs is some fifty times slower.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

_FOLDER = "BENCHMARKS_CALLGRIND_FOLDER"
_INPUT, _RESULT = "input.json", "result.json"


def is_counting() -> bool:
    """Whether this process runs under callgrind."""
    return _FOLDER in os.environ


def start_again(given: Any) -> Any:
    """Run the command of this process under callgrind; what it handed back there.

    Args:
        given: What `handed_over` returns there: what takes many instructions to make and is not to be measured.

    Raises:
        RuntimeError: It failed; its traceback is on stderr.
    """
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: it counts the instructions")
    with tempfile.TemporaryDirectory(prefix="callgrind-") as folder:
        Path(folder, _INPUT).write_bytes(msgspec.json.encode(given))
        command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/%p", sys.executable]
        # One order of sets, and no threads that wait for work.
        fixed = {_FOLDER: folder, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        variables = {**os.environ, **fixed}
        status = subprocess.run([*command, *sys.orig_argv[1:]], env=variables, check=False).returncode
        if status:
            raise RuntimeError(f"under callgrind the command ended with status {status}")
        return msgspec.json.decode(Path(folder, _RESULT).read_bytes())


def handed_over() -> Any:
    """What `start_again` was given, of JSON's types."""
    return msgspec.json.decode(Path(os.environ[_FOLDER], _INPUT).read_bytes())


def hand_back(result: Any) -> None:
    """Let `start_again` return this, of JSON's types."""
    Path(os.environ[_FOLDER], _RESULT).write_bytes(msgspec.json.encode(result))


def per_page(work: Callable[[int], object], few: int, many: int) -> float:
    """Instructions a page: of `work(many)` less those of `work(few)`; each argument is a number of pages.

    Raises:
        RuntimeError: The work failed; its traceback is on stderr.
    """
    processes = [_forked(work, pages) for pages in (few, many)]  # next to each other: what came before counts in both
    least, most = map(_counted, processes)
    return (most - least) / (many - few)


def _forked(work: Callable[[int], object], pages: int) -> int:
    """Do a piece of work in a forked process, and name that."""
    sys.stdout.flush()
    process = os.fork()
    if not process:
        status = 1
        try:
            work(pages)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(process, 0)
    if status:
        raise RuntimeError(f"a piece of work over {pages} pages ended with status {os.waitstatus_to_exitcode(status)}")
    return process


def _counted(process: int) -> int:
    """Instructions from the start of this process until the work of a forked one was done."""
    with Path(os.environ[_FOLDER], str(process)).open(encoding="utf-8", errors="replace") as rows:
        return next(int(row.split()[1]) for row in rows if row.startswith("summary:"))
