"""Schema: which tables of postings an index has, what is posted in them, and the header that says so."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from dedupcrawl.content.checks.base import Check, Keys
from dedupcrawl.core.digests import SECRET_BYTES, Secret
from dedupcrawl.core.postings import one_key
from dedupcrawl.core.signatures import put_keys, signed
from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError, IndexMismatchError
from dedupcrawl.index.record import Entry, Record

FORMAT = 20  # raise it when records, keys of the own tables, tables of notes, segments or the manifest change
BATCH_PAGES = 4096  # pages that wait in memory before they are folded into a segment

_OWN_TABLES = 3  # after the checks' tables
_NO_KEYS: Keys = array("Q")


class CheckHeader(msgspec.Struct, frozen=True):
    """What signatures and keys of one check depend on; no settings as long as no crawl had it on."""

    name: str
    payload_bits: int
    settings: dict[str, str | int | float]


class Header(msgspec.Struct, frozen=True):
    """What a stored index depends on; written when it is made, and when a check is on for the first time."""

    format: int
    batch_pages: int
    checks: tuple[CheckHeader, ...]
    secret: Annotated[bytes, msgspec.Meta(min_length=SECRET_BYTES, max_length=SECRET_BYTES)]

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Header(format={self.format}, batch_pages={self.batch_pages}, checks={self.checks})"


def header_of(checks: Sequence[Check], batch_pages: int, secret: Secret | None = None) -> Header:
    """The header of a new index, which has a secret of its own unless one is given."""
    return Header(FORMAT, batch_pages, _headers(checks), bytes(secret or Secret.random()))


def _headers(checks: Sequence[Check]) -> tuple[CheckHeader, ...]:
    made = ((check.name, check.payload_bits, dict(check.header()) if check.is_on else {}) for check in checks)
    return tuple(CheckHeader(*one) for one in made)


@lru_cache(maxsize=16)  # of the page at hand: it is looked for and posted
def url_key(url: str) -> int:
    """64 bits under which a URL is posted. BLAKE2b, so that nobody can write a thousand URLs of one key."""
    return int.from_bytes(hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=8).digest(), "little")


class Schema:
    """The tables of one index: those of the checks, in the order of its header, and three of its own.

    Attributes:
        header: As it is stored.
        batch_pages: Pages that wait in memory before they are folded into a segment.
        secret: What keys the digests and hashes of its signatures.
        checks: (slot, check), in the order in which the checks are asked; empty when the index was opened to be read.
        urls: Slot of the table url_key → page; the newest counts.
        ended: Slot of the table page id → id of the record that replaced or forgot it: what merges leave out.
        inside: Slot of the table page id → id of a later page that it lies inside.
    """

    def __init__(self, header: Header, checks: Sequence[Check]) -> None:
        self.header, self.batch_pages, self.secret = header, header.batch_pages, Secret(header.secret)
        self.names = tuple(check.name for check in header.checks)
        self._slots = {name: slot for slot, name in enumerate(self.names)}
        self.payload_bits = (*(check.payload_bits for check in header.checks), *([0] * _OWN_TABLES))
        self.checks = tuple((self.names.index(check.name), check) for check in checks)
        self.urls, self.ended, self.inside = range(len(self.names), len(self.payload_bits))

    def keys(self, record: Record) -> list[Keys]:
        """The keys under which a record is posted, by table."""
        keys = [_NO_KEYS] * len(self.payload_bits)
        put_keys(self.checks, record.signatures, keys)
        if record.page is not None:
            keys[self.urls] = one_key(url_key(record.page.url))
        if record.ended:
            keys[self.ended] = array("Q", record.ended)
        if record.inside:
            keys[self.inside] = array("Q", record.inside)
        return keys

    def signatures(self, entry: Entry, checks: Sequence[Check] = ()) -> list[tuple[int, Check, bytes]]:
        """(slot, check, signature) of each of these checks, or of all, that did not abstain on this entry.

        Raises:
            ValueError: The index was opened without checks, or the entry has a signature of an unknown check.
        """
        if not self.checks:
            raise ValueError("this index was opened without checks, to be read only: open it with the checks it holds")
        made = signed(checks or [check for _, check in self.checks], self._slots, entry.signatures)
        if len(made) < len(entry.signatures):
            unknown = ", ".join(sorted(set(entry.signatures) - set(self.names)))
            raise ValueError(f"{entry.url} has a signature of {unknown}, but this index holds {', '.join(self.names)}")
        return made


def check_header(stored: Header, checks: Sequence[Check], where: str) -> None:
    """Refuse an index that was made by other checks or with other settings.

    The set of checks must be the same: a page kept without one of the signatures could never be found by it later.
    Only an index opened without any check, to be read, is let through. The settings of a check count once it was on; of
    one that is off now, those that its keys depend on.

    Raises:
        IndexMismatchError: Says what differs and what to do.
    """
    if not checks:
        return
    names, wanted = names_of(stored.checks), names_of(_headers(checks))
    differences = []
    if names != wanted:
        differences.append(f"it holds the checks {names}, but {wanted} are switched on")
    made = {check.name: check for check in stored.checks}
    differing: dict[tuple[str, str, str], list[str]] = {}  # what several checks were made with is said once
    for check in checks:
        for difference in _differences(made[check.name], check) if check.name in made else ():
            differing.setdefault(difference, []).append(check.name)
    for (name, before, after), checks_of in differing.items():
        was, has = ("was", "has") if len(checks_of) == 1 else ("were", "have")
        of = " and ".join(checks_of)
        differences.append(f"{of} {was} made with {name} = {before} and now {has} {name} = {after}")
    if differences:
        raise IndexMismatchError(
            f"the index at {where} cannot be used: {'; '.join(differences)}. "
            "Take the same checks and settings again, another path or prefix, or delete it to start anew"
        )


def names_of(checks: Sequence[CheckHeader]) -> str:
    return ", ".join(sorted(check.name for check in checks)) or "none"


def _differences(stored: CheckHeader, wanted: Check) -> list[tuple[str, str, str]]:
    """(name, stored value, wanted value) of every setting that counts and in which two checks of one name differ."""
    before: dict[str, Any] = {"payload_bits": stored.payload_bits, **stored.settings}
    after: dict[str, Any] = {"payload_bits": wanted.payload_bits, **(wanted.header() if stored.settings else {})}
    counting = before.keys() | after.keys() if wanted.is_on else {"payload_bits", *wanted.keys_depend_on}
    return [
        (name, repr(before.get(name)), repr(after.get(name)))
        for name in sorted(counting)
        if before.get(name) != after.get(name)
    ]


def read_schema(raw: bytes, checks: Sequence[Check], where: str) -> Schema:
    """The schema that a stored header makes with these checks; its header has the settings of those that are on.

    Raises:
        IndexMismatchError: It is of another format, or does not agree with the checks.
        IndexDamagedError: It cannot be read.
    """
    try:
        version = msgspec.msgpack.decode(raw, type=dict[str, Any]).get("format")
        if version == FORMAT:
            header = msgspec.msgpack.decode(raw, type=Header)
            check_header(header, checks, where)
            new = {check.name: check for check in _headers(checks)}
            recorded = tuple(check if check.settings else new.get(check.name, check) for check in header.checks)
            return Schema(msgspec.structs.replace(header, checks=recorded), checks)
    except UNREADABLE as error:
        raise IndexDamagedError(
            f"the header of the index at {where} cannot be read ({error}): delete it, or bring back a copy"
        ) from None
    raise IndexMismatchError(
        f"the index at {where} has format {version}, this version reads {FORMAT}: take another path or prefix, or "
        "delete it"
    )
