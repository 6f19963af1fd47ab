"""A queue on a Redis server that workers share: a request that a worker takes is leased to it until it is finished.

scrapy-redis removes a request from its queue before it is fetched, and marks a link as seen before it is in the queue.
Here each of these is one atomic step, a script on the server:

- A request, or a start URL, moves from the queue into the worker's leases. It is deleted when it is finished, or put
  back: by the worker, if the server's answer was lost, or by another worker, if the first shows no more signs of life.
- A link is marked as seen and put into the queue. If a worker sends it twice, the queue has it once.

Commands that cannot reach the server are sent again, in the same order, once it is back. So a page's lease ends only
after the links of that page are in the queue, and if a worker dies in between, its page is fetched again. A server that
comes back with an older state has lost links that were put into the queue since. It counts the commands of each worker,
so a worker notices this, and puts back all requests that it had leased at the time: their pages contain these links.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import redis
from scrapy.statscollectors import StatsCollector

from dedupcrawl.index.redis_link import is_for_now, lua

logger = logging.getLogger(__name__)

LIFE_SECONDS = 30.0
"""Time since its last sign of life after which a worker is taken for dead."""

MOST_RETURNS = 5
"""Number of times a request is put back after a worker died with it: a page that kills workers must not kill all."""

LONGEST_OUTAGE = 600.0
"""Seconds for which a worker that has nothing else to do waits for its server."""

_FIRST_PAUSE = 0.2  # seconds until the next attempt to reach the server; doubled each time
_LONGEST_PAUSE = 5.0  # most seconds between two attempts
_RECLAIMED_AT_ONCE = 500  # requests per script, as Redis does nothing else while it runs
_RELEASED_AT_ONCE = 1000  # requests per script

_lua = partial(lua, Path(__file__).parent / "lua")
_PUSH, _TAKE, _RELEASE = _lua("count", "push"), _lua("count", "marked", "mark", "take"), _lua("count", "release")
_MARK, _PUT_BACK = _lua("marked", "mark", "mark_all"), _lua("marked", "put_back")
_RECLAIM = _lua("marked", "reclaim")
_COUNTED = frozenset({_PUSH, _TAKE, _RELEASE})


class Source(NamedTuple):
    """The key that requests or start URLs are taken from."""

    key: str  # of a list, a set or a sorted set
    take: str  # the command that takes one
    put_back: str  # the command that undoes this


class LeaseReport(NamedTuple):
    """Leases that have changed."""

    ended: Sequence[int] = ()  # those of finished requests
    # those of requests that the worker has survived, but whose items are not stored yet
    handled: Sequence[int] = ()


NO_REPORT = LeaseReport()


class SharedQueue:
    """One worker's access to the shared queue. An outage is no error, but calls to the server must then fail at once.

    The names of all keys begin with `key`. `lessee` is the name under which this worker leases pages in an index; empty
    if it does not.
    """

    def __init__(self, server: redis.Redis, key: str, stats: StatsCollector, lessee: str = "") -> None:
        self._server = server
        self._stats = stats
        self._worker = f"{lessee}:{uuid.uuid4().hex}"
        self._leases_of, self._alive = f"{key}:leases:", f"{key}:alive:"
        self._leases = self._leases_of + self._worker
        self._workers, self._returns = f"{key}:workers", f"{key}:returns"
        self._scripts: dict[str, Any] = {}
        self._unsent: deque[tuple[str, Sequence[str], Sequence[Any]]] = deque()
        self._next_lease = 0
        self._said = 0  # number of this worker's counted commands, which the server counts too
        self._away_since: float | None = None
        self._in_touch_since = float("-inf")
        self._retry_at = 0.0
        self._pause = _FIRST_PAUSE
        self._ended = threading.Event()
        self._beat = threading.Thread(target=self._beats, name="dedupcrawl-leases", daemon=True)

    def start(self) -> None:
        self._live()
        if self._server.hlen(self._workers):  # other workers' signs of life may have been lost in an outage
            up: Any = self._server.info("server")
            self._in_touch_since = time.monotonic() - up["uptime_in_seconds"]
        self._beat.start()

    def push(self, seen_key: str, fingerprint: str, key: str, command: str, *arguments: Any) -> bool:
        """Put a request into the queue at `key`, unless its fingerprint was seen; an empty one counts as unseen.

        Returns:
            False if it was seen. True during an outage.
        """
        row = (fingerprint, command, *arguments)
        return bool(self._tell(_PUSH, (seen_key, key, self._workers), row) != 0)

    def take(self, source: Source, count: int, report: LeaseReport = NO_REPORT) -> list[tuple[int, bytes]]:
        """Take up to `count` requests, each with its lease; none during an outage.

        The report on earlier ones is sent in the same round trip.
        """
        if not self.catch_up() or len(report.ended) + len(report.handled) > _RELEASED_AT_ONCE:
            self.report(report)
            report = NO_REPORT
            if not self.catch_up():
                return []
        first, self._next_lease = self._next_lease, self._next_lease + count
        arguments = (source.take, source.put_back, first, count, len(report.ended), *report.ended, *report.handled)
        try:
            taken = self._run(_TAKE, (source.key, self._leases, self._workers), arguments)
        except redis.RedisError as error:
            self._lost(error)
            self.report(report)
            self._unsent.append((_PUT_BACK, (self._leases,), range(first, first + count)))  # they may have been taken
            return []
        return list(enumerate(taken, first))

    def report(self, report: LeaseReport) -> None:
        """Release the ended leases and mark the handled ones: if this worker dies, those requests are not the cause."""
        self._tell_of(report.handled, _MARK, self._leases)
        self.release(report.ended)

    def release(self, leases: Iterable[int]) -> None:
        self._tell_of(leases, _RELEASE, self._leases, self._workers)

    def put_back(self, leases: Iterable[int]) -> None:
        self._tell_of(leases, _PUT_BACK, self._leases)

    def _tell_of(self, leases: Iterable[int], script: str, *keys: str) -> None:
        numbers = list(leases)
        for first in range(0, len(numbers), _RELEASED_AT_ONCE):
            self._tell(script, keys, numbers[first : first + _RELEASED_AT_ONCE])

    def is_empty(self, key: str) -> bool:
        """True if there are no requests in the queue and none to reclaim from dead workers.

        It is also True once an outage has lasted longer than `LONGEST_OUTAGE`.
        """
        try:
            if not self.catch_up():
                return time.monotonic() - (self._away_since or 0.0) > LONGEST_OUTAGE
            if self._server.exists(key):
                return False
            if time.monotonic() - self._in_touch_since < LIFE_SECONDS:
                return False  # other workers that were cut off as well may not have shown signs of life again
            names = (self._alive, self._leases_of)
            back, given_up = self._run(
                _RECLAIM, (self._workers, self._returns), (*names, _RECLAIMED_AT_ONCE, MOST_RETURNS, self._worker)
            )
        except redis.RedisError as error:
            self._lost(error)
            return False
        if back:
            self._stats.inc_value("dedup/queue/returned", back)
            logger.info("%d requests of a worker that died are back in the queue.", back)
        if given_up:
            self._stats.inc_value("dedup/queue/given_up", given_up)
            logger.error(
                "%d requests are given up: %d workers died while they had them, so a page may be what kills a worker.",
                given_up,
                MOST_RETURNS + 1,
            )
        return not back and not given_up

    def lessees(self) -> set[str] | None:
        """The lessee names of all workers that may have leases, alive or not; None during an outage."""
        try:
            return {name.partition(":")[0] for name in self._names()} if self.catch_up() else None
        except redis.RedisError as error:
            self._lost(error)
            return None

    def clear(self) -> None:
        self._server.delete(self._workers, self._returns, *(self._leases_of + name for name in self._names()))

    def _names(self) -> list[str]:
        workers: Any = self._server.hkeys(self._workers)
        return [worker.decode() if isinstance(worker, bytes) else worker for worker in workers]

    def close(self, wait: float) -> None:
        """Send unsent commands, for up to `wait` seconds, and end the signs of life: others may then reclaim leases."""
        end = time.monotonic() + wait
        try:
            while not self.catch_up() and time.monotonic() < end:
                time.sleep(_FIRST_PAUSE)
            if self._unsent:
                logger.error(
                    "The queue was not told of %d requests that were found or done; pages that they are from are "
                    "fetched again by a worker that has nothing else to do.",
                    len(self._unsent),
                )
        finally:
            self._ended.set()
            if self._beat.is_alive():
                self._beat.join()

    def catch_up(self) -> bool:
        """Send the commands that could not be sent before; False during an outage."""
        if time.monotonic() < self._retry_at:
            return False
        try:
            if self._away_since is not None:  # it may be back with an older state
                counted: Any = self._server.hget(self._workers, self._worker)
                self._compare(int(counted or 0), self._said)
            while self._unsent:
                self._say_again(*self._unsent[0])
                self._unsent.popleft()
        except redis.RedisError as error:
            self._lost(error)
            return False
        if self._away_since is not None:
            logger.info("The queue is back after %.1f s.", time.monotonic() - self._away_since)
            self._away_since, self._in_touch_since = None, time.monotonic()
        self._pause = _FIRST_PAUSE
        return True

    def _say_again(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> None:
        """Run a waiting command; one that the server refuses for good is dropped, or it would block all others."""
        try:
            self._run(script, keys, arguments)
        except redis.RedisError as error:
            if is_for_now(error):
                raise
            self._stats.inc_value("dedup/queue/refused")
            logger.error("The queue refuses a request that was found or done, and that waited for it: %s", error)

    def _compare(self, counted: int, expected: int) -> None:
        """If the server has counted fewer commands than this worker, put back all requests that it has leased."""
        if counted < expected:
            if not counted:
                logger.error(
                    "The queue is gone: its server was restarted without what it held, or somebody emptied it; or this "
                    "worker was cut off and taken for dead. Where it is empty, switch `appendonly yes` or snapshots on "
                    "and push the start URLs again."
                )
            else:
                logger.warning("The queue is as it was some time ago: what was taken from it since is fetched again.")
            leases: Any = self._server.hkeys(self._leases)
            for first in range(0, len(leases), _RELEASED_AT_ONCE):
                self._run(_PUT_BACK, (self._leases,), leases[first : first + _RELEASED_AT_ONCE])
        self._said = counted

    def _tell(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run a script that may safely run twice; during an outage store it for later and return None."""
        if self.catch_up():
            try:
                return self._run(script, keys, arguments)
            except redis.RedisError as error:
                self._lost(error)
        self._unsent.append((script, keys, arguments))
        return None

    def _run(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        if script not in self._scripts:
            self._scripts[script] = self._server.register_script(script)
        if script not in _COUNTED:
            return self._scripts[script](keys=keys, args=arguments)
        counted, answer = self._scripts[script](keys=keys, args=(self._worker, self._said + 1, *arguments))
        self._compare(counted - 1, self._said)  # the server may have restarted between two calls, so that none failed
        self._said = counted
        return answer

    def _lost(self, error: redis.RedisError) -> None:
        """Begin or continue an outage; raises `error` if the server is there and refuses a command for good."""
        if not is_for_now(error):
            raise error
        now = time.monotonic()
        self._retry_at = now + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        if self._away_since is None:
            self._away_since = now
            self._stats.inc_value("dedup/queue/outages")
            logger.warning(
                "The queue cannot be used (%s): links wait in memory, and nothing is taken from it meanwhile.", error
            )

    def _live(self) -> None:
        self._server.set(self._alive + self._worker, b"", px=int(LIFE_SECONDS * 1000))

    def _beats(self) -> None:
        while not self._ended.wait(LIFE_SECONDS / 3):
            with suppress(redis.RedisError):  # the next beat tries again
                self._live()
        with suppress(redis.RedisError):
            self._server.delete(self._alive + self._worker)
            if not self._server.exists(self._leases):
                self._server.hdel(self._workers, self._worker)
