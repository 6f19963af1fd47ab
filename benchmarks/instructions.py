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
_INPUT = "input.json"


def is_counting() -> bool:
    """Whether this process runs under callgrind."""
    return _FOLDER in os.environ


def start_again(pages: Any, environment: dict[str, str] | None = None) -> int:
    """Run the command of this process under callgrind; there `handed_over` gives `pages`. Returns its exit status.

    Args:
        pages: What takes many instructions to make and is not to be measured, of JSON's types.
        environment: Variables to set.
    """
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: it counts the instructions")
    with tempfile.TemporaryDirectory(prefix="callgrind-") as folder:
        Path(folder, _INPUT).write_bytes(msgspec.json.encode(pages))
        command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/%p", sys.executable]
        # One order of sets, and no threads that wait for work.
        fixed = {_FOLDER: folder, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        variables = {**os.environ, **(environment or {}), **fixed}
        return subprocess.run([*command, *sys.orig_argv[1:]], env=variables, check=False).returncode


def handed_over() -> Any:
    """What `start_again` was given."""
    return msgspec.json.decode(Path(os.environ[_FOLDER], _INPUT).read_bytes())


def per_page(work: Callable[[int], object], few: int, many: int) -> float:
    """Instructions a page: of `work(many)` less those of `work(few)`; each argument is a number of pages.

    Raises:
        RuntimeError: The work failed; its traceback is on stderr.
    """
    return (_counted(work, many) - _counted(work, few)) / (many - few)


def _counted(work: Callable[[int], object], pages: int) -> int:
    """Instructions from the start of this process until the work of a forked one is done."""
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
    with Path(os.environ[_FOLDER], str(process)).open(encoding="utf-8", errors="replace") as rows:
        return next(int(row.split()[1]) for row in rows if row.startswith("summary:"))
