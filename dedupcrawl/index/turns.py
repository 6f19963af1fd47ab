"""One call at a time on an open index, whatever store it lies in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class OneByOne(Protocol):
    """An index whose methods `in_turn` makes wait for each other."""

    @property
    def lock(self) -> RLock:
        """Held during every call."""

    def check_open(self) -> None:
        """Raise an error when the index cannot be used, or no more."""

    def converse(self, work: Callable[[], Answer]) -> Answer:
        """What `work` returns; what the store raises meanwhile becomes an error of the contract."""


Owner = TypeVar("Owner", bound=OneByOne)
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_turn(
    method: Callable[Concatenate[Owner, Arguments], Answer],
) -> Callable[Concatenate[Owner, Arguments], Answer]:
    """One call at a time, on an open index; the store's errors become those of the contract."""

    @wraps(method)
    def call(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with self.lock:
            self.check_open()
            return self.converse(lambda: method(self, *args, **kwargs))

    return call
