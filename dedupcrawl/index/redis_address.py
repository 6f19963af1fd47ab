"""Address: where an index lies on a Redis server, from its URL."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

DEFAULT_PREFIX = "dedupcrawl"
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_OURS = ("prefix", "protocol")  # of a URL's query; not the client's
_OF_URLS = {"db", "host", "port", "path", "username", "password"}
_FILES = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
_HUNG_UP = ("Connection closed by server", "reset by peer")
_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 10.0


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
            self._check([name for name, _ in query if name not in _OURS])
            self._class(**self._kwargs)
        except (ValueError, TypeError, redis.RedisError) as error:
            raise ValueError(f"{self.where} names no Redis: {error}") from None

    def _check(self, names: Sequence[str]) -> None:
        known = {name for one in self._class.__mro__ for name in inspect.signature(one.__init__).parameters}
        for name in names:
            if name.startswith("ssl_") and not issubclass(self._class, redis.SSLConnection):
                raise ValueError(f"{name} is of no use without TLS: write rediss:// for redis://")
            if name not in known | _OF_URLS:
                near = difflib.get_close_matches(name, sorted(known | {"prefix"}), 1)
                raise ValueError(f"there is no option {name!r}" + (f", did you mean {near[0]!r}?" if near else ""))
            if name in _FILES and not Path(self._kwargs[name]).is_file():
                raise ValueError(f"{name} is {self._kwargs[name]!r}, and there is no such file")

    def hint(self, error: Exception) -> str:
        """What may be wrong with the URL when the server was never reached."""
        if issubclass(self._class, redis.SSLConnection):
            speaks = isinstance(error, redis.TimeoutError) or "WRONG_VERSION_NUMBER" in str(error)
            return "; if it speaks no TLS at that port, write redis:// for rediss://" if speaks else ""
        return (
            "; if it speaks TLS at that port, write rediss:// for redis://"
            if any(words in str(error) for words in _HUNG_UP)
            else ""
        )

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
