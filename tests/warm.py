"""Processes that start warm: forked from one that has imported Scrapy and the package.

A command takes about a second of CPU to start, nearly all of it imports, and the tests run some hundred. What is run is
the same module with the same arguments, folder and environment, in a process of its own that may be killed. Tests of
what is imported, or of starting itself, start Python.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any

_ROOT = Path(__file__).resolve().parents[1]
_IMPORTED = (
    "scrapy.cmdline", "scrapy.commands.crawl", "scrapy.core.downloader.handlers.http11", "scrapy.core.engine",
    "scrapy.core.scheduler", "scrapy.crawler", "scrapy.pqueues", "scrapy.squeues", "dedupcrawl.addon",
    "dedupcrawl.crawl.extension", "dedupcrawl.cli", "dedupcrawl.commands.check", "dedupcrawl.commands.explain",
    "dedupcrawl.commands.index", "dedupcrawl.commands.report", "dedupcrawl.commands.train", "dedupcrawl.report.page",
    "dedupcrawl.shared_queue.scheduler", "matplotlib.backends.backend_svg",
)  # fmt: skip
_PACKAGES = (
    "scrapy.commands", "scrapy.downloadermiddlewares", "scrapy.extensions", "scrapy.spidermiddlewares",
)  # fmt: skip
_MESSAGE = 1 << 20  # bytes, at most


class Process:
    """One that was started warm, as subprocess.Popen has it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self.returncode is None:
            self.returncode = _ask({"poll": self.pid})["status"]
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        deadline = time.monotonic() + (timeout or float("inf"))
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, to it alone."""
        if self.poll() is None:
            os.kill(self.pid, number)


def start(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, output: Sequence[IO[Any]] = ()
) -> Process:
    """Start `python -m MODULE ARGUMENTS…` in a session of its own.

    Args:
        command: Module and arguments.
        cwd: Its folder.
        env: Its variables; None for ours.
        output: Its stdout and stderr; none for ours.
    """
    job = {"start": [*command], "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    return Process(_ask(job, [stream.fileno() for stream in output] or [1, 2])["pid"])


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
    together: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run to its end, as subprocess.run with captured text; together: stderr stands where stdout does."""
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        process = start(command, cwd=cwd, env=env, output=(out, out if together else err))
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode("utf-8", "replace"))
    return subprocess.CompletedProcess(list(command), status, *said)


def _ask(message: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
    server = _server()
    socket.send_fds(server, [json.dumps(message).encode()], files)
    answer: dict[str, Any] = json.loads(server.recv(_MESSAGE))
    return answer


@cache
def _server() -> socket.socket:
    """The one of this process; it ends when this process does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.warm", str(its.fileno())]
    subprocess.Popen(command, cwd=_ROOT, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    its.close()
    return ours


def _serve(asked: socket.socket) -> dict[str, Any]:
    """Answer until nobody asks any more; in a process that was started: what it is to do."""
    for name in _IMPORTED:
        import_module(name)
    with warnings.catch_warnings():  # of modules that Scrapy gives up
        warnings.simplefilter("ignore")
        for package in _PACKAGES:
            for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
                import_module(module.name)
    for command in entry_points(group="scrapy.commands"):  # of all packages; each `scrapy` loads them
        command.load()
    assert "twisted.internet.reactor" not in sys.modules, "each process has one of its own"
    gc.freeze()
    while True:
        data, files, _, _ = socket.recv_fds(asked, _MESSAGE, 2)
        if not data:
            os._exit(0)
        message = json.loads(data)
        if "poll" in message:
            pid, status = os.waitpid(message["poll"], os.WNOHANG)
            asked.send(json.dumps({"status": os.waitstatus_to_exitcode(status) if pid else None}).encode())
            continue
        pid = os.fork()
        if pid == 0:
            os.setsid()
            for number, file in enumerate(files, 1):
                os.dup2(file, number)
            asked.close()
            os.closerange(3, 256)
            return dict(message)
        for file in files:
            os.close(file)
        asked.send(json.dumps({"pid": pid}).encode())


if __name__ == "__main__":
    with contextlib.closing(socket.socket(fileno=int(sys.argv[1]))) as asked:
        job = _serve(asked)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    module, *sys.argv[1:] = job["start"]
    sys.path[:1] = [job["cwd"], *filter(None, job["env"].get("PYTHONPATH", "").split(os.pathsep))]
    status: object = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:
        status = 1
        sys.excepthook(*sys.exc_info())
    if isinstance(status, str):
        sys.stderr.write(f"{status}\n")
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))  # to unload all modules takes .3 s
