"""A redis-server of a benchmark's own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def redis_process() -> Iterator[int]:
    """Its port; it keeps nothing on disk and ends with the block. Without Redis the benchmark ends with a sentence."""
    if shutil.which("redis-server") is None:
        sys.exit("there is no redis-server here (Debian: apt install redis-server)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            next(line for line in process.stdout if "Ready to accept" in line)
            yield port
        finally:
            process.kill()
            process.communicate()
