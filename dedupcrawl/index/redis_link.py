"""Link: one connection to a Redis server, made again when it breaks, and where an index lies on that server."""

from __future__ import annotations

import errno
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)
from redis.retry import Retry

from dedupcrawl.index.contract import IndexAwayError, IndexDamagedError
from dedupcrawl.index.redis_scripts import Script

DEFAULT_PREFIX = "dedupcrawl"
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_OURS = ("prefix", "protocol")  # of a URL's query; not the client's
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 10.0
_FIRST_PAUSE = 0.05  # seconds until the next attempt to connect; doubled each time
_LONGEST_PAUSE = 2.0
_POSTED_LIMIT = 256  # commands whose answers are outstanding

_REFUSED = (AuthenticationError, AuthorizationError)
_AWAY = (
    redis.ConnectionError,
    redis.TimeoutError,
    BusyLoadingError,
    ReadOnlyError,
    ClusterDownError,
    MasterDownError,
    TryAgainError,
)

Argument = bytes | str | int
Answer = TypeVar("Answer")


class Address:
    """A server and the keys of one index on it.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``, with what the redis client takes in its query, and ``prefix``.

    Attributes:
        where: The URL without a password, for people.

    Raises:
        ValueError: The URL names no server.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        prefix = dict(query).get("prefix", DEFAULT_PREFIX)
        if not _PREFIX.fullmatch(prefix):
            raise ValueError(
                f"the prefix {prefix!r} of a Redis index must be 1 to 64 letters, digits or any of _ . : -"
            )
        self._tag = f"{{{prefix}}}:"
        rest = urlencode([(name, value) for name, value in query if name not in _OURS])
        host = parts.netloc.rpartition("@")[2]
        user = parts.username or ""
        shown = f"{user}:***@{host}" if parts.password else f"{user}@{host}" if user else host
        public = urlencode([(name, value) for name, value in query if "password" not in name])
        self.where = _joined(parts.scheme, shown, parts.path, public)
        if parts.scheme != "unix" and not re.fullmatch(r"/?|/\d{1,9}", parts.path, re.ASCII):
            raise ValueError(f"{self.where} names no Redis: {parts.path[1:]!r} is no number of a database")
        try:
            pool = redis.ConnectionPool.from_url(
                _joined(parts.scheme, parts.netloc, parts.path, rest),
                **{"socket_connect_timeout": _CONNECT_SECONDS, "socket_timeout": _ANSWER_SECONDS, "protocol": 2},
            )
            pool.connection_kwargs["retry"] = Retry(NoBackoff(), 0)
            self._kwargs, self._class = dict(pool.connection_kwargs), pool.connection_class
            self._class(**self._kwargs)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.where} names no Redis: {error}") from None

    def key(self, *names: str) -> str:
        """The full name of a key. All have one hash tag, so on a cluster all lie in one slot."""
        return self._tag + ":".join(names)

    def connect(self) -> Any:
        """A new connection (redis.Connection), connected."""
        connection: Any = self._class(**self._kwargs)
        connection.connect()
        return connection

    def move(self, host: str, port: int) -> None:
        """The node of a cluster that has the keys."""
        self._kwargs |= {"host": host, "port": port}


def _joined(scheme: str, netloc: str, path: str, query: str) -> str:
    """A URL with its two slashes, also where no host follows them."""
    return f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "")


class Link:
    """A connection on which one command follows the other. One thread at a time may use it.

    Args:
        address: The server.
        wait: Seconds for which `talk` waits for a server that is away.

    Attributes:
        round_trips: Answers that were waited for.
    """

    def __init__(self, address: Address, wait: float) -> None:
        self._address = address
        self._wait = wait
        self._connection: Any = None
        self._pause = _FIRST_PAUSE
        self._retry_at = 0.0
        self._was_there = False  # a server that never answered is not waited for: its address may be wrong
        self._posted: deque[tuple[Script, Sequence[str], Sequence[Argument]]] = deque()
        self._sent = 0  # so many of these are on their way
        self._loaded: set[str] = set()  # scripts that are surely on the server
        self.round_trips = 0

    def talk(self, greet: Callable[[], None], conversation: Callable[[], Answer]) -> Answer:
        """What `conversation` returns, which may `call` and `post`; begun anew each time the connection breaks.

        Args:
            greet: Called first on every new connection.
            conversation: Must do no harm when it is begun again.

        Raises:
            IndexAwayError: The server cannot be reached, for as long as `wait`.
            IndexDamagedError: The server says that its keys are of another kind.
            OSError: The server refuses, or its memory is full.
        """
        begin = time.monotonic()
        retried = False
        while True:
            broken_before = self._connection is None
            try:
                if self._connection is None:
                    self._connect()
                    greet()
                answer = conversation()
                self._pause = _FIRST_PAUSE
                return answer
            except MovedError as error:
                self.drop()
                self._address.move(error.host, error.port)
            except _REFUSED as error:
                self.drop()
                raise PermissionError(errno.EACCES, f"{self._address.where} refuses: {error}") from error
            except OutOfMemoryError as error:
                raise OSError(errno.ENOSPC, f"the memory of {self._address.where} is full: {error}") from error
            except _AWAY as error:
                self.drop()
                if broken_before or retried:
                    self._pause_after(error, begin + self._wait if self._was_there else begin)
                retried = True  # a server that was restarted is noticed only now
            except redis.ResponseError as error:
                raise IndexDamagedError(f"the index at {self._address.where} cannot be used: {error}") from error
            except (KeyboardInterrupt, SystemExit):
                self.drop()  # an answer may be on its way
                raise

    def call(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Any:
        """Run a script and wait for its answer."""
        self._send_posted()
        self.send("EVALSHA", script.sha, len(keys), *keys, *arguments)
        self._read_posted()
        try:
            return self.answer()
        except NoScriptError:
            return self.ask("EVAL", script.source, len(keys), *keys, *arguments)

    def ask(self, *command: Argument) -> Any:
        """Send a command and wait for its answer."""
        self._send_posted()
        self.send(*command)
        self._read_posted()
        return self.answer()

    def post(self, script: Script, keys: Sequence[str], *arguments: Argument) -> None:
        """Run a script without waiting; it is sent again when the connection breaks before its answer has come."""
        self._posted.append((script, keys, arguments))
        self._send_posted()
        if len(self._posted) >= _POSTED_LIMIT:
            self._read_posted()

    def settle(self) -> None:
        """Wait for the answers to all that was posted."""
        self._send_posted()
        self._read_posted()

    def send(self, *command: Argument) -> None:
        """Send a command."""
        self._connection.send_command(*command, check_health=False)

    def answer(self) -> Any:
        """The next answer."""
        self.round_trips += 1
        return self._connection.read_response()

    def drop(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        self._sent = 0
        self._loaded.clear()
        if connection is not None:
            connection.disconnect()

    def _send_posted(self) -> None:
        while self._sent < len(self._posted):
            script, keys, arguments = self._posted[self._sent]
            if script.sha not in self._loaded:
                self._read_posted()
                self.send("SCRIPT", "LOAD", script.source)
                self.answer()
                self._loaded.add(script.sha)
            self._sent += 1
            self.send("EVALSHA", script.sha, len(keys), *keys, *arguments)

    def _read_posted(self) -> None:
        while self._sent:
            try:
                self._connection.read_response()
            except NoScriptError as error:  # somebody has emptied its memory of scripts
                raise redis.ConnectionError(str(error)) from error
            except redis.ResponseError:
                self._posted.popleft()
                self._sent -= 1
                raise
            self._posted.popleft()
            self._sent -= 1

    def _connect(self) -> None:
        if time.monotonic() < self._retry_at and not self._wait:
            raise redis.ConnectionError("it did not answer a moment ago")
        self._connection = self._address.connect()
        self._was_there = True

    def _pause_after(self, error: Exception, end: float) -> None:
        """Wait a little before the next attempt, or give up."""
        now = time.monotonic()
        if now >= self._retry_at:
            self._retry_at = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        if self._retry_at > end:
            self._give_up(error)
        time.sleep(max(0.0, self._retry_at - now))

    def _give_up(self, error: Exception) -> NoReturn:
        raise IndexAwayError(
            errno.ECONNREFUSED, f"the index at {self._address.where} cannot be reached ({error})"
        ) from error
