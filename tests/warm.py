"""Processes that start warm: forked from one that has imported Scrapy and the package.

A command takes about a second of CPU to start, nearly all of it imports, and the tests run some hundred. What is run is
the same module with the same arguments, folder and environment, in a process of its own that may be killed. Tests of
what is imported, or of starting itself, start Python.

One server forks them for all workers of a test run: the first that needs it starts it, and it ends with the last one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import json
import logging
import os
import pkgutil
import runpy
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any, cast

_ROOT = Path(__file__).resolve().parents[1]
_IMPORTED = (
    "scrapy.cmdline", "scrapy.commands.crawl", "scrapy.core.downloader.handlers.http11", "scrapy.core.engine",
    "scrapy.core.downloader.handlers.datauri", "scrapy.core.downloader.handlers.file",
    "scrapy.core.downloader.handlers.ftp", "scrapy.core.downloader.handlers.s3", "scrapy.core.scheduler",
    "scrapy.crawler", "scrapy.exporters", "scrapy.logformatter", "scrapy.pqueues", "scrapy.squeues", "dedupcrawl.addon",
    "dedupcrawl.crawl.downloader", "dedupcrawl.crawl.pipeline", "dedupcrawl.crawl.spider_output", "dedupcrawl.cli",
    "dedupcrawl.commands.check", "dedupcrawl.commands.explain",
    "dedupcrawl.commands.index", "dedupcrawl.commands.report", "dedupcrawl.commands.train", "dedupcrawl.report.page",
    "dedupcrawl.shared_queue.scheduler",
)  # fmt: skip
_PACKAGES = (
    "scrapy.commands", "scrapy.downloadermiddlewares", "scrapy.extensions", "scrapy.spidermiddlewares",
)  # fmt: skip
_MESSAGE = 1 << 20  # bytes, at most
_FILES = (1, 2, 0)  # in the order of `start`
_PYTHON = """#!{python} -ISE
import json, os, socket, sys, time

assert sys.argv[1] == "-m", sys.argv
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
    asked.connect({socket!r})
    job = {{"start": sys.argv[2:], "cwd": os.getcwd(), "env": dict(os.environ)}}
    socket.send_fds(asked, [json.dumps(job).encode()], [1, 2, 0])
    job = {{"poll": json.loads(asked.recv({most}))["pid"]}}
    status = None
    while status is None:
        time.sleep(0.02)
        asked.send(json.dumps(job).encode())
        status = json.loads(asked.recv({most}))["status"]
sys.exit(status)
"""


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


def python() -> str:
    """An executable that does what Python does with `-m MODULE ARGUMENTS…`, and starts warm; for WARM_PYTHON."""
    _server()
    path = Path(f"{_socket()}.python")
    if not path.exists():
        own = path.with_suffix(f".{os.getpid()}")
        own.write_text(_PYTHON.format(python=sys.executable, socket=str(_socket()), most=_MESSAGE), encoding="utf-8")
        own.chmod(0o755)
        own.replace(path)
    return str(path)


def start(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, output: Sequence[IO[Any]] = ()
) -> Process:
    """Start `python -m MODULE ARGUMENTS…` in a session of its own.

    Args:
        command: Module and arguments.
        cwd: Its folder.
        env: Its variables; None for ours. WARM_PYTHON is its `sys.executable`.
        output: Its stdout and stderr, and its stdin if it is to have one; none for our stdout and stderr.
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


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Nobody else connects, or ends for want of connections."""
    with open(__file__, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _socket() -> Path:
    """Where the server of this test run listens."""
    return Path(tempfile.gettempdir(), f"warm-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}")


@cache
def _server() -> socket.socket:
    """The connection of this process."""
    path = _socket()
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with _alone():
        try:
            ours.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as its:
                its.bind(str(path))
                its.listen()
                command = [sys.executable, "-m", "tests.warm", str(its.fileno()), str(path)]
                subprocess.Popen(command, cwd=_ROOT, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
            ours.connect(str(path))
    return ours


def _import_all() -> None:
    for name in _IMPORTED:
        import_module(name)
    with warnings.catch_warnings():  # of modules that Scrapy gives up
        warnings.simplefilter("ignore")
        for package in _PACKAGES:
            for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
                import_module(module.name)
    for command in entry_points(group="scrapy.commands"):  # of all packages; each `scrapy` loads them
        command.load()
    import_module("scrapy.core.engine").ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1  # as in tests/crawls/site.py
    _judge_a_page_and_its_copy()
    assert "twisted.internet.reactor" not in sys.modules, "each process has one of its own"
    gc.freeze()


def _judge_a_page_and_its_copy() -> None:
    """So that the tables are there that are made at the first use: of public suffixes, of words, of software."""
    from dedupcrawl.content.checks.registry import DEFAULT_CHECKS, make_checks
    from dedupcrawl.detection.analysis import Analysis
    from dedupcrawl.detection.detector import Detector
    from dedupcrawl.index.open import TemporaryIndex
    from dedupcrawl.page import Page
    from dedupcrawl.sites import owner_of
    from dedupcrawl.software.program import packaged
    from dedupcrawl.software.sightings import Sightings

    Sightings(packaged())
    owner_of("www.example.com")
    checks = make_checks(DEFAULT_CHECKS, {})
    detector = Detector(TemporaryIndex(checks), run="warm")
    for name in ("page", "copy"):
        page = Page(f"http://www.example.com/{name}", paragraphs=("One of its many words. " * 30, name))
        verdict = detector.judge(Analysis(page, detector.index.secret), checks)
    assert verdict.verdict == "duplicate", "so they were compared"


def _serve(listening: socket.socket, path: Path) -> dict[str, Any]:
    """Answer until nobody is connected any more; in a process that was started: what it is to do."""
    asking = selectors.DefaultSelector()
    asking.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in asking.select():
            if key.fileobj is listening:
                asking.register(listening.accept()[0], selectors.EVENT_READ)
                continue
            asked = cast("socket.socket", key.fileobj)
            data, files = b"", [0][:0]
            with contextlib.suppress(ConnectionError):  # who asked was killed
                data, files, _, _ = socket.recv_fds(asked, _MESSAGE, len(_FILES))
            if data and (job := _answered(asked, json.loads(data), files)):
                for one in [*asking.get_map().values()]:  # by themselves they close once more, and others' files then
                    cast("socket.socket", one.fileobj).close()
                asking.close()
                return job
            if not data:
                asking.unregister(asked)
                asked.close()
        if len(asking.get_map()) == 1:
            with _alone():
                if not asking.select(0):
                    path.unlink(missing_ok=True)
                    path.with_suffix(".python").unlink(missing_ok=True)
                    os._exit(0)


def _answered(asked: socket.socket, message: dict[str, Any], files: Sequence[int]) -> dict[str, Any] | None:
    """Tell how a process is, or start one; in that one: what it is to do."""
    if "poll" in message:
        pid, status = os.waitpid(message["poll"], os.WNOHANG)
        _tell(asked, {"status": os.waitstatus_to_exitcode(status) if pid else None})
        return None
    pid = os.fork()
    if pid == 0:
        os.setsid()
        for number, file in zip(_FILES, files, strict=False):
            os.dup2(file, number)
    for file in files:
        os.close(file)
    if pid == 0:
        return message
    _tell(asked, {"pid": pid})
    return None


def _tell(asked: socket.socket, answer: Mapping[str, Any]) -> None:
    with contextlib.suppress(ConnectionError):  # who asked was killed meanwhile, and others go on asking
        asked.send(json.dumps(answer).encode())


if __name__ == "__main__":
    _import_all()
    job = _serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
    atexit._clear()  # Polars 2.0 waits at exit for threads that did not come along
    for at_exit in (logging.shutdown, cast("Any", weakref.finalize)._exitfunc):
        atexit.register(at_exit)
    os.chdir(job["cwd"])
    sys.executable = job["env"].get("WARM_PYTHON", sys.executable)
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
