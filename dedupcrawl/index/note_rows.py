"""What an index remembers besides pages, as bytes: verdicts and rewrites."""

from __future__ import annotations

import json
import re

import msgspec

from dedupcrawl.index.contract import UNREADABLE, IndexDamagedError, Recorded, Rewrite
from dedupcrawl.index.record import plain

_NAME = re.compile(r"[!-~]{1,64}", re.ASCII)

_encode = msgspec.msgpack.Encoder().encode
_decode_recorded = msgspec.msgpack.Decoder(Recorded).decode
_decode_rewrite = msgspec.msgpack.Decoder(Rewrite).decode


def pack_recorded(row: Recorded) -> bytes:
    """The bytes of a row; a lone surrogate, which has no UTF-8 form, becomes "?"."""
    try:
        return _encode(row)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(row), ensure_ascii=False)
        return _encode(msgspec.convert(json.loads(text.encode("utf-8", "replace")), Recorded))


def unpack_recorded(raw: bytes) -> Recorded:
    """What `pack_recorded` was given.

    Raises:
        IndexDamagedError: The bytes are no row.
    """
    try:
        return _decode_recorded(raw)
    except UNREADABLE as error:
        raise IndexDamagedError(f"a recorded verdict cannot be read: {error}") from None


def pack_rewrite(rewrite: Rewrite) -> bytes:
    """The bytes of a row; a lone surrogate becomes "?"."""
    url, canonical, rules, spider, run, at, request = msgspec.structs.astuple(rewrite)
    names = tuple(map(plain, rules))
    return _encode(Rewrite(plain(url), plain(canonical), names, plain(spider), plain(run), at, request))


def unpack_rewrite(raw: bytes) -> Rewrite:
    """What `pack_rewrite` was given.

    Raises:
        IndexDamagedError: The bytes are no row.
    """
    try:
        return _decode_rewrite(raw)
    except UNREADABLE as error:
        raise IndexDamagedError(f"a recorded rewrite cannot be read: {error}") from None


def check_name(name: str) -> str:
    """`name`, when something may be attached under it.

    Raises:
        ValueError: It is not 1 to 64 characters of ASCII that can be seen.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} names no attachment: take 1 to 64 characters of ASCII, no space")
    return name
