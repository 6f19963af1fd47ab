"""The loopback server: a plain HTTP proxy that answers every URL of a stored crawl from memory, and 404 for others.

Run as ``python -m benchmarks.replay.server PATH [PAGES]`` it prints its port and serves until its input is closed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.replay.store import load, sample

_HEAD_LIMIT = 64 * 1024  # bytes
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nNot found"


class ReplayProtocol(asyncio.Protocol):
    """One keep-alive connection. Requests carry the absolute URL, as to a proxy, and their scheme in a header."""

    def __init__(self, answers: Mapping[bytes, bytes]) -> None:
        self._answers = answers
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            target = head.split(b" ", 2)[1]
            secure = b"\r\nx-forwarded-proto: https" in head.lower()
            url = b"https" + target.removeprefix(b"http") if secure else target
            self._transport.write(self._answers.get(url, _NOT_FOUND))
        if len(self._buffer) > _HEAD_LIMIT:
            self._transport.close()


async def _serve(answers: Mapping[bytes, bytes]) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: ReplayProtocol(answers), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main(path: str, most: str | None = None) -> None:
    pages = load(Path(path))
    answers = {
        page.url.encode(): (
            f"HTTP/1.1 200 OK\r\nContent-Type: {page.mime}\r\nContent-Length: {len(page.body)}\r\n\r\n".encode()
            + page.body
        )
        for page in (sample(pages, int(most)) if most else pages)
    }
    del pages
    asyncio.run(_serve(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
