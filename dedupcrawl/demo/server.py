"""The demo site on a loopback port: ``python -m dedupcrawl.demo.server [PORT]``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import click

from dedupcrawl.demo.site import Site


class _Handler(BaseHTTPRequestHandler):
    """GET and HEAD, over connections that stay open."""

    protocol_version = "HTTP/1.1"
    server: DemoServer
    timeout = 30  # seconds: a client that stays away must not keep a thread

    def do_GET(self) -> None:
        """Called by the standard library, for HEAD as well."""
        answer = self.server.site.answer(self.headers.get("Host", ""), self.path)
        body = answer.body.encode()
        self.send_response(answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        self.send_header("Content-Type", answer.mime)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the crawl has a log of its own."""


class DemoServer(ThreadingHTTPServer):
    """Serves one `Site` on 127.0.0.1; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.site = Site(self.server_port)

    @property
    def url(self) -> str:
        """The front page."""
        return f"http://127.0.0.1:{self.server_port}/"


@contextmanager
def serving() -> Iterator[DemoServer]:
    """The demo site on a free port, for the time of a with statement."""
    with DemoServer() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@click.command()
@click.argument("port", type=click.IntRange(0, 65535), default=8000)
def main(port: int) -> None:
    """Serve the demo site on 127.0.0.1:PORT until it is interrupted; 0 takes a free port."""
    try:
        server = DemoServer(port)
    except OSError as error:
        raise click.ClickException(
            f"Port {port} cannot be had ({error.strerror}): name another one, as in "
            f"'python -m dedupcrawl.demo.server {port + 1 if port < 65_535 else 0}'."
        ) from error
    with server, suppress(KeyboardInterrupt):
        click.echo(f"The demo site is at {server.url} until Ctrl-C.")
        server.serve_forever()


if __name__ == "__main__":
    main()
