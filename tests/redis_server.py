"""A real redis-server for tests, on a free port, that keeps nothing on disk unless it is told to."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MISSING = "there is no redis-server here (Debian: apt install redis-server)"


@dataclass
class RedisServer:
    """A server that can be killed and started again.

    Attributes:
        folder: Where it keeps its files.
        options: As on its command line.
        port: The same all along.
    """

    folder: Path
    options: Sequence[str] = ("--save", "")
    port: int = 0
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def url(self, prefix: str = "test") -> str:
        return f"redis://127.0.0.1:{self.port}/0?prefix={prefix}"

    def start(self) -> None:
        """Start it, and return once it answers."""
        while not self._try_start():
            self.port = 0  # somebody else took it

    def _try_start(self) -> bool:
        self.port = self.port or _free_port()
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        self.process = subprocess.Popen([*command, *self.options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "Ready to accept connections" in line:
                return True
        self.process.wait()
        return False

    def kill(self) -> None:
        """End it without a warning."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.communicate()

    def pause(self) -> None:
        """It stays there, and answers nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def is_installed() -> bool:
    """True when there is a redis-server."""
    return shutil.which("redis-server") is not None


@contextmanager
def running(folder: Path, *options: str) -> Iterator[RedisServer]:
    """A server that runs until the end; skips the test where there is none."""
    if not is_installed():
        pytest.skip(MISSING)
    server = RedisServer(folder, options or ("--save", ""))
    server.start()
    try:
        yield server
    finally:
        server.kill()
