"""Link: one connection to a Redis server, made again when it breaks; and the Lua scripts that it runs there.

Each script is one atomic step on the keys of one index. The journal is a hash of rows numbered from 0, which are never
removed, so its length is the next number. A client that says how many rows it *knows* gets the others with the answer,
and how many verdicts were withdrawn; what it wants to append is appended only if it knows them all.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import inspect
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis
from redis import exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from dedupcrawl.index.errors import IndexAwayError, IndexDamagedError
from dedupcrawl.index.tables import BESIDE, RESTORED

_BYTES_AT_ONCE = 4_000_000  # of rows in one answer, about

# What is due and was taken has before it a mark, the name of its taker in hexadecimal, and that of the take.
TAKEN = b"+"
TAKE_BYTES = 8  # random ones
TAKEN_BYTES = len(TAKEN) + 32 + TAKE_BYTES

_CONSTANTS = f"""\
local BYTES_AT_ONCE = {_BYTES_AT_ONCE}
local TAKEN, TAKEN_BYTES = '{TAKEN.decode()}', {TAKEN_BYTES}
local RESTORED, BESIDE = '{RESTORED.decode()}', '{BESIDE.decode()}'
"""


class Script(NamedTuple):
    """A Lua script: the server compiles its source once, and it is called by its SHA-1 from then on."""

    source: str
    sha: str


def lua(folder: Path, *names: str) -> str:
    """The text of Lua files of a folder, one behind the other."""
    return "".join((folder / f"{name}.lua").read_text(encoding="utf-8") for name in names)


def _script(*names: str) -> Script:
    source = _CONSTANTS + lua(Path(__file__).parent / "lua", *names)
    return Script(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


GREET, RESTORE, TAKE, GROUPS = map(_script, ("greet", "restore", "take", "groups"))
CHANGE, CLEAR = _script("cells", "change"), _script("cells", "clear")
READ, COMMIT = _script("journal", "read"), _script("cells", "journal", "commit")

DEFAULT_PREFIX = "dedupcrawl"
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_OURS = ("prefix", "protocol")  # of a URL's query; not the client's
_OF_URLS = {"db", "host", "port", "path", "username", "password"}
_FILES = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
_HUNG_UP = ("Connection closed by server", "reset by peer")
_CONNECT_SECONDS = 2.0  # for a connection; set by hand
_ANSWER_SECONDS = 10.0  # for an answer, after which the server counts as away; set by hand


class Address:
    """A server and the keys of one index on it.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``, with what the redis client takes in its query, and ``prefix``.

    Attributes:
        where: The URL without a password, for people.

    Raises:
        ValueError: The URL names no server, or says of it what the client does not know.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
        except ValueError as error:  # what is quoted might be a password
            raise ValueError(
                f"the URL of the Redis index cannot be read ({error}): write redis://localhost/0"
            ) from None
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
            raise ValueError(f"{self.where} names no Redis: {parts.path[1:]!r} is not the number of a database")
        try:
            pool = redis.ConnectionPool.from_url(
                _joined(parts.scheme, parts.netloc, parts.path, rest),
                **{"socket_connect_timeout": _CONNECT_SECONDS, "socket_timeout": _ANSWER_SECONDS, "protocol": 2},
            )
            pool.connection_kwargs["retry"] = Retry(NoBackoff(), 0)
            self._kwargs, self._class = dict(pool.connection_kwargs), pool.connection_class
            self._check([name for name, _ in query if name not in _OURS])
            self._class(**self._kwargs)
        except (ValueError, TypeError, redis.RedisError) as error:
            raise ValueError(f"{self.where} names no Redis: {error}") from None

    def _check(self, names: Sequence[str]) -> None:
        parameters = {name for one in self._class.__mro__ for name in inspect.signature(one.__init__).parameters}
        for name in names:
            if name.startswith("ssl_") and not issubclass(self._class, redis.SSLConnection):
                raise ValueError(f"{name} is of no use without TLS: write rediss:// for redis://")
            if name not in parameters | _OF_URLS:
                near = difflib.get_close_matches(name, sorted(parameters | {"prefix"}), 1)
                raise ValueError(f"there is no option {name!r}" + (f", did you mean {near[0]!r}?" if near else ""))
            if name in _FILES and not Path(self._kwargs[name]).is_file():
                raise ValueError(f"{name} is {self._kwargs[name]!r}, and there is no such file")

    def hint(self, error: Exception) -> str:
        """What may be wrong with the URL when the server was never reached."""
        if not issubclass(self._class, redis.SSLConnection):
            hung_up = any(words in str(error) for words in _HUNG_UP)
            return "; if it speaks TLS at that port, write rediss:// for redis://" if hung_up else ""
        speaks = isinstance(error, redis.TimeoutError) or "WRONG_VERSION_NUMBER" in str(error)
        return "; if it speaks no TLS at that port, write redis:// for rediss://" if speaks else ""

    def key(self, *names: str) -> str:
        """The full name of a key. All have one hash tag, so on a cluster all lie in one slot."""
        return self._tag + ":".join(names)

    def connect(self) -> Any:
        connection: Any = self._class(**self._kwargs)
        connection.connect()
        return connection

    def move(self, host: str, port: int) -> None:
        """The node of a cluster that has the keys."""
        self._kwargs |= {"host": host, "port": port}


def _joined(scheme: str, netloc: str, path: str, query: str) -> str:
    """A URL with its two slashes, also where no host follows them."""
    return f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "")


_FIRST_PAUSE = 0.05  # seconds until the next attempt to connect; doubled each time
_LONGEST_PAUSE = 2.0  # seconds between two of these
_POSTED_LIMIT = 256  # commands whose answers are outstanding

_UNREACHABLE = (redis.ConnectionError, redis.TimeoutError)
_REFUSED = (exceptions.AuthenticationError, exceptions.AuthorizationError, exceptions.NoPermissionError)
_LATER = (
    exceptions.AskError,
    exceptions.ClusterDownError,
    exceptions.MasterDownError,
    exceptions.NoScriptError,  # somebody has emptied its memory of scripts
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.TryAgainError,
)
# How an answer begins, or, before Redis 7, ends, of a server that may take the same command later. The client has
# exceptions for some of these, and then leaves the word out of the message.
_FOR_NOW = re.compile(
    r"(?:^|[\s-])(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|TRYAGAIN|WRONGPASS)\b"
)

Argument = bytes | str | int
Answer = TypeVar("Answer")


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
        self._was_there = False  # a server that was never reached is not waited for: its address may be wrong
        self._has_answered = False
        self._posted: deque[tuple[Script, Sequence[str], Sequence[Argument]]] = deque()
        self._sent = 0  # so many of these are on their way
        self._sources_sent: set[str] = set()  # of scripts, by their names
        self.round_trips = 0

    def talk(self, greet: Callable[[], None], conversation: Callable[[], Answer]) -> Answer:
        """What `conversation` returns, which may `call` and `post`; begun anew each time the connection breaks.

        Args:
            greet: Called first on every new connection.
            conversation: Must do no harm when it is begun again.

        Raises:
            IndexAwayError: The server cannot be reached, for as long as `wait`.
            IndexDamagedError: The server says that its keys are of another kind.
            PermissionError: The server refuses, and has never answered. Later that is an outage like any other.
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
                self._has_answered = True
                return answer
            except exceptions.MovedError as error:
                self.drop()
                self._address.move(error.host, error.port)
            except (*_UNREACHABLE, redis.ResponseError) as error:
                self.drop()
                if isinstance(error, _REFUSED) and not self._has_answered:
                    raise PermissionError(errno.EACCES, f"{self._address.where} refuses: {error}") from error
                if not is_for_now(error):
                    raise IndexDamagedError(f"the index at {self._address.where} cannot be used: {error}") from error
                if broken_before or retried:
                    self._pause_after(error, begin + self._wait if self._was_there else begin)
                retried = True  # a server that was restarted is noticed only now
            except (KeyboardInterrupt, SystemExit):
                self.drop()  # an answer may be on its way
                raise

    def call(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Any:
        self._send_posted()
        return self.ask(*self._naming(script), len(keys), *keys, *arguments)

    def ask(self, *command: Argument) -> Any:
        self._send_posted()
        self._connection.send_command(*command, check_health=False)
        self._read_posted()
        self.round_trips += 1
        return self._connection.read_response()

    def post(self, script: Script, keys: Sequence[str], *arguments: Argument) -> None:
        """Run a script without waiting; it is sent again when the connection breaks before its answer has come."""
        self._posted.append((script, keys, arguments))
        self._send_posted()
        if len(self._posted) >= _POSTED_LIMIT:
            self._read_posted()

    def settle(self) -> None:
        self._send_posted()
        self._read_posted()

    def drop(self) -> None:
        connection, self._connection = self._connection, None
        self._sent = 0
        self._sources_sent.clear()
        if connection is not None:
            connection.disconnect()

    def _send_posted(self) -> None:
        while self._sent < len(self._posted):
            script, keys, arguments = self._posted[self._sent]
            self._sent += 1
            command = *self._naming(script), len(keys), *keys, *arguments
            self._connection.send_command(*command, check_health=False)

    def _naming(self, script: Script) -> tuple[str, str]:
        """How a script is called that is sent next: the first time on a connection by its source."""
        if script.sha in self._sources_sent:
            return "EVALSHA", script.sha
        self._sources_sent.add(script.sha)
        return "EVAL", script.source

    def _read_posted(self) -> None:
        while self._sent:
            try:
                self._connection.read_response()
            except redis.ResponseError as error:
                if not is_for_now(error):
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
        refused = isinstance(error, (redis.ResponseError, exceptions.AuthenticationError, exceptions.BusyLoadingError))
        what = "refuses" if refused else "cannot be reached"
        advice = "" if refused else "; start a server there, or name another index"
        hint = "" if self._has_answered else self._address.hint(error) or advice
        raise IndexAwayError(
            errno.ECONNREFUSED, f"the index at {self._address.where} {what} ({_said(error)}){hint}"
        ) from error


def is_for_now(error: redis.RedisError) -> bool:
    if isinstance(error, exceptions.MovedError):  # to the client a kind of ASK, which says that a slot is being moved
        return False
    return isinstance(error, (*_UNREACHABLE, *_REFUSED, *_LATER)) or bool(_FOR_NOW.search(str(error)))


def _said(error: Exception) -> str:
    """What the server said; the client leaves the word out that tells it is full."""
    return f"its memory is full: {error}" if isinstance(error, exceptions.OutOfMemoryError) else str(error)
