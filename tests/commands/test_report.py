"""`dedupcrawl report`: what it writes, says and refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.commands.invoked import run, told


def test_an_index_that_is_being_written_to(tmp_path: Path) -> None:
    """The writer is another process, as in a crawl."""
    writer = (
        "import sys\n"
        "from pathlib import Path\n"
        "from dedupcrawl.content.checks.registry import make_checks\n"
        "from dedupcrawl.index.lmdb import LmdbIndex\n"
        "from dedupcrawl.verdict import Verdict\n"
        "index = LmdbIndex(Path(sys.argv[1]), make_checks(['exact'], {}))\n"
        "for number in range(10**9):\n"
        "    verdict = Verdict(f'http://a.com/{number}', 'duplicate', 'http://a.com/', 'exact', 1.0)\n"
        "    index.record(verdict, run='r', site='s')\n"
        "    if number == 100:\n"
        "        print('go', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", writer, str(tmp_path / "index")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"go\n"
            figures = told(run("report", "--index", tmp_path / "index", "--json"))
        finally:
            process.kill()
    assert figures["duplicates"] > 100
