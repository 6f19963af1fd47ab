"""The demo site and the tutorial's project, once for all pages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.running import run_page
from tests.docs.terminal import ADDRESS, ROOT, SERVER, Terminal

TUTORIAL = ROOT / "docs" / "tutorial.md"
_PORTS = range(8000, 8100)  # as long as the one on the page, so that tables are as wide


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Host and port of a demo site that runs."""
    for port in _PORTS:
        command = [sys.executable, *SERVER.split()[1:], str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            host = ADDRESS.partition(":")[0]
            if process.stdout.readline() == f"The demo site is at http://{host}:{port}/ until Ctrl-C.\n":
                yield f"{host}:{port}"
                process.terminate()
                return
    pytest.fail(f"no free port in {_PORTS}")


@pytest.fixture(scope="session")
def project(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that the tutorial makes, as it is at its end."""
    terminal = Terminal(tmp_path_factory.mktemp("tutorial"), address)
    run_page(TUTORIAL, terminal)
    return terminal.folder
