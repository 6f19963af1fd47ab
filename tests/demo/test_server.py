from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from dedupcrawl.demo.server import DemoServer, serving


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving() as running:
        yield running


@pytest.fixture
def connection(server: DemoServer) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as one:
        yield one


def test_a_connection_stays_open(connection: HTTPConnection) -> None:
    connection.request("GET", "/en/puncture")
    first = connection.getresponse()
    assert "inside of the tyre" in first.read().decode()
    used = connection.sock
    connection.request("GET", "/zh/teahouse")
    second = connection.getresponse()
    assert "老茶馆" in second.read().decode()
    assert connection.sock is used
    assert used is not None
    assert second.getheader("Content-Type") == "text/html; charset=utf-8"


def test_head_is_get_without_a_body(connection: HTTPConnection) -> None:
    answers = []
    for method in ("GET", "HEAD", "GET"):  # what followed a HEAD would be taken for the beginning of the next answer
        connection.request(method, "/print/en/puncture")
        response = connection.getresponse()
        answers.append((response.status, response.getheader("Content-Length"), len(response.read())))
    assert answers[0] == answers[2] != answers[1]
    assert answers[1] == (200, str(answers[0][2]), 0)


def test_a_redirect_has_its_status_and_address(connection: HTTPConnection) -> None:
    connection.request("GET", "/shop/lamp")
    response = connection.getresponse()
    assert (response.status, response.getheader("Location")) == (302, "/shop/lamp?ref=front")


def test_the_command_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "dedupcrawl.demo.server"]
    with subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        said = re.fullmatch(r"The demo site is at http://127\.0\.0\.1:(\d+)/ until Ctrl-C\.\n", line)
        assert said is not None
        port = int(said[1])
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/en/puncture")
        assert connection.getresponse().status == 200
        connection.close()
        taken = subprocess.run([*command, str(port)], capture_output=True, text=True, check=False)
        assert taken.returncode == 1
        assert taken.stderr.startswith(f"Error: Port {port} cannot be had (Address already in use): name another one, ")
        assert re.search(r"as in 'python -m dedupcrawl\.demo\.server \d+'\.\n$", taken.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
