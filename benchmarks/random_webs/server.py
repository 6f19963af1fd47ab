"""Serves a random web as the proxy of a crawl, and kills the crawl after as many answers as it was told."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import parse_qs, urlsplit

from benchmarks.random_webs.web import Web

CONTROL = "http://control.invalid/"


class _Server(ThreadingTCPServer):
    daemon_threads = True  # a crawl that was killed leaves connections open
    web: Web
    run = 0
    pid = 0
    left = 0  # answers until it is killed; 0: it is not

    def answered(self, method: str, url: str, body: str) -> tuple[int, dict[str, str], str]:
        if url.startswith(CONTROL):
            told = {name: int(values[0]) for name, values in parse_qs(urlsplit(url).query).items()}
            if "seed" in told:
                self.web = Web(told["seed"])
            self.run, self.pid, self.left = told.get("run", 0), told.get("pid", 0), told.get("kill", 0)
            return 200, {}, ""
        answer = self.web.answer(method, url, body, self.run)
        if self.left:
            self.left -= 1
            if not self.left:
                os.kill(self.pid, signal.SIGKILL)
        return answer.status, dict(answer.headers), answer.body


class _Handler(StreamRequestHandler):
    disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its headers
    server: _Server

    def handle(self) -> None:
        with suppress(ConnectionError):  # of a crawl that was killed
            self._answer_all()

    def _answer_all(self) -> None:
        while request := self.rfile.readline():
            method, url, _ = request.decode("latin-1").split()
            length = 0
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            status, headers, text = self.server.answered(method, url, self.rfile.read(length).decode("latin-1"))
            body = text.encode()
            headers = {"Content-Type": "text/html; charset=utf-8", **headers, "Content-Length": str(len(body))}
            lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in headers.items())]
            self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def start() -> tuple[int, int]:
    """Serve in a process of its own, that ends with this one; its port and its id."""
    server = _Server(("127.0.0.1", 0), _Handler)
    parent, pid = os.getpid(), os.fork()
    if pid:
        server.server_close()
        return server.server_address[1], pid
    try:
        server.service_actions = lambda: None if os.getppid() == parent else os._exit(0)  # type: ignore[method-assign]
        server.serve_forever(0.1)
    finally:
        os._exit(1)
