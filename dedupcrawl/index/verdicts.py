"""Verdicts as rows: what an index stores of one."""

from __future__ import annotations

import json

import msgspec

from dedupcrawl.index.contract import IndexDamagedError
from dedupcrawl.verdict import Verdict


class VerdictRow(msgspec.Struct, frozen=True, array_like=True):
    """A recorded verdict.

    Attributes:
        verdict: The verdict.
        run: The crawl in which it fell.
        site: The site of its page.
    """

    verdict: Verdict
    run: str
    site: str


def pack_verdict(verdict: Verdict, run: str, site: str) -> bytes:
    """The bytes of a row; a lone surrogate, which has no UTF-8 form, becomes "?"."""
    row = VerdictRow(verdict, run, site)
    try:
        return msgspec.msgpack.encode(row)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(row), ensure_ascii=False)
        return msgspec.msgpack.encode(json.loads(text.encode("utf-8", "replace")))


def unpack_verdict(raw: bytes) -> Verdict:
    """The verdict of a row.

    Raises:
        IndexDamagedError: The bytes are no row.
    """
    try:
        return msgspec.msgpack.decode(raw, type=VerdictRow).verdict
    except msgspec.MsgspecError as error:
        raise IndexDamagedError(f"a recorded verdict cannot be read: {error}") from None
