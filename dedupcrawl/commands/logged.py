"""What a crawl log says of a URL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec


class LoggedAnswer(msgspec.Struct, frozen=True):
    """A row of the crawl log.

    Attributes:
        url: That was asked for.
        status: HTTP status.
        redirect_to: Where a redirect led in the end.
    """

    url: str
    status: int = 0
    redirect_to: str = ""


def logged_answer(log: Path, urls: Sequence[str]) -> LoggedAnswer | None:
    """The newest row of any of `urls`; None when there is none, or no such log.

    Raises:
        OSError: The log cannot be read.
    """
    if not log.is_file():
        return None
    needles = [b'"url":' + msgspec.json.encode(url) for url in urls if url.isprintable()]
    found = None
    with log.open("rb") as file:
        for line in file:
            if any(needle in line for needle in needles):
                try:
                    row = msgspec.json.decode(line, type=LoggedAnswer)
                except msgspec.DecodeError:  # torn by a kill
                    continue
                found = row if row.url in urls else found
    return found
