"""What an index remembers besides pages, as bytes: verdicts and rewrites."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import msgspec

from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.journal import digest
from dedupcrawl.index.record import plain
from dedupcrawl.index.rows import Recorded, Rewrite

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


def rewrite_keys(rewrite: Rewrite) -> list[bytes]:
    """What a rewrite is found by: whose it is, of which URL (unique), then where it was sent and each of its rules."""
    whose = rewrite.spider, rewrite.run
    return [
        rewrite_key(rewrite.url, *whose),
        sent_to_key(*whose, rewrite.canonical),
        *(made_by_key(*whose, rule) for rule in dict.fromkeys(rewrite.rules)),
    ]


def rewrite_key(url: str, *whose: str) -> bytes:
    """A key, or the beginning of all keys, of rewrites of a URL: by a spider, in a run, where these are given."""
    return b"".join(digest(plain(part)) for part in (url, *whose))


def sent_to_key(spider: str, run: str, canonical: str) -> bytes:
    """The key of what a spider sent to a canonical URL in a run."""
    return digest(plain("\0".join(("to", spider, run, canonical))))


def made_by_key(spider: str, run: str, rule: str) -> bytes:
    """The key of what a rule had a part in rewriting for a spider in a run."""
    return digest(plain("\0".join(("by", spider, run, rule))))


def looked_for(spider: str, run: str, canonicals: Iterable[str], rules: Iterable[str]) -> list[bytes]:
    """The keys of what `Index.rewrites_of` is asked for."""
    to = [sent_to_key(spider, run, canonical) for canonical in canonicals]
    return to + [made_by_key(spider, run, rule) for rule in rules]


def check_name(name: str) -> str:
    """`name`, when something may be attached under it.

    Raises:
        ValueError: It is not 1 to 64 characters of ASCII that can be seen.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} names no attachment: take 1 to 64 characters of ASCII, no space")
    return name
