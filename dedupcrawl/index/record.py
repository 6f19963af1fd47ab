"""Record: what the journal holds of one accepted page, as bytes that can be searched without decoding all of them.

Layout: CRC-32 of the page's number and the rest (4 bytes, little-endian), then one msgpack array that starts with the
signatures, so that comparing a candidate decodes nothing else. A record does not change while its page is kept: that
the page lies inside a later one is told by the later record. When the page is replaced or forgotten, a tombstone takes
the record's place.
"""

from __future__ import annotations

import zlib

import msgspec

from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.index.rows import Entry

_CHECKSUM_BYTES = 4

Raw = bytes | memoryview


class KeptPage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An Entry without its signatures."""

    url: str
    site: str
    spider: str
    run: str
    kept_at: float
    title: str
    outline: bytes
    fetched_url: str = ""
    asides: bytes = b""


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of the journal.

    Attributes:
        signatures: In the order of the checks in the index's header; None where a check abstained.
        ended: Ids of earlier pages that this row ends: the page it replaces, or those it forgets.
        inside: Ids of earlier pages that lie inside this one.
        page: The page; None in a tombstone, and in a row that only forgets.
    """

    signatures: tuple[bytes | None, ...]
    ended: tuple[int, ...]
    inside: tuple[int, ...]
    page: KeptPage | None


class _Signatures(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The start of a Record; the decoder steps over the rest."""

    signatures: tuple[bytes | None, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode
_decode_signatures = msgspec.msgpack.Decoder(_Signatures).decode


def pack(record: Record, page: int) -> bytes:
    """The bytes of the record that is to be number `page`."""
    body = _encode(record)
    return zlib.crc32(body, page).to_bytes(_CHECKSUM_BYTES, "little") + body


def renumbered(raw: bytes, page: int) -> bytes:
    """A packed record of another number, whose checksum was good, as that of `page`."""
    body = raw[_CHECKSUM_BYTES:]
    return zlib.crc32(body, page).to_bytes(_CHECKSUM_BYTES, "little") + body


def unpack(raw: Raw, page: int) -> Record:
    """The record of these bytes.

    Raises:
        IndexDamagedError: They are not what `pack` returned for this page.
    """
    try:
        return _decode(_body(raw, page))
    except UNREADABLE as error:
        raise IndexDamagedError(f"kept page {page} cannot be read: {error}") from None


def signatures(raw: Raw, page: int) -> tuple[bytes | None, ...]:
    """The signatures of a packed record, in the order of the checks in the index's header.

    Without its checksum, which would be most of the cost of comparing a candidate: who is accepted is unpacked and
    checked before anything follows from it, and a damaged record that is not costs a duplicate at most.

    Raises:
        IndexDamagedError: The bytes cannot be what `pack` returned for this page.
    """
    try:
        return _decode_signatures(raw[_CHECKSUM_BYTES:]).signatures
    except UNREADABLE as error:
        raise IndexDamagedError(f"kept page {page} cannot be read: {error}") from None


def _body(raw: Raw, page: int) -> Raw:
    body = raw[_CHECKSUM_BYTES:]
    if zlib.crc32(body, page) != int.from_bytes(raw[:_CHECKSUM_BYTES], "little"):
        raise IndexDamagedError(f"kept page {page} fails its checksum")
    return body


def record_of(entry: Entry, names: tuple[str, ...], ended: tuple[int, ...], inside: tuple[int, ...]) -> Record:
    """The record of a kept page; `names` are the checks in header order."""
    get = entry.signatures.get
    page = KeptPage(
        url=entry.url,
        site=entry.site,
        spider=entry.spider,
        run=entry.run,
        kept_at=entry.kept_at,
        title=entry.title,
        outline=entry.outline,
        fetched_url=entry.fetched_url,
        asides=entry.asides,
    )
    return Record(tuple([get(name) for name in names]), ended, inside, page)


def tombstone(raw: Raw, page: int) -> bytes:
    """What stays of a packed record when its page is replaced or forgotten: which pages it had ended itself."""
    record = unpack(raw, page)
    return pack(Record((None,) * len(record.signatures), record.ended, (), None), page)


def forgetting(page: int, number: int, signatures: int) -> Record:
    """Row `number`, which ends `page`, and itself too, so that it is never taken for a page."""
    return Record((None,) * signatures, (page, number), (), None)


def entry_of(record: Record, names: tuple[str, ...]) -> Entry:
    """The Entry that `record_of` was given; the record must hold a page."""
    page = record.page
    assert page is not None
    return Entry(
        url=page.url,
        site=page.site,
        spider=page.spider,
        run=page.run,
        kept_at=page.kept_at,
        title=page.title,
        signatures={name: made for name, made in zip(names, record.signatures, strict=True) if made is not None},
        outline=page.outline,
        fetched_url=page.fetched_url,
        asides=page.asides,
    )


def storable(entry: Entry) -> Entry:
    """The entry itself, or with "?" for every lone surrogate, which has no UTF-8 form."""
    try:
        for text in (entry.url, entry.title, entry.site, entry.spider, entry.run, entry.fetched_url):
            if not text.isascii():
                text.encode()
    except UnicodeEncodeError:
        return msgspec.structs.replace(
            entry,
            url=plain(entry.url),
            title=plain(entry.title),
            site=plain(entry.site),
            spider=plain(entry.spider),
            run=plain(entry.run),
            fetched_url=plain(entry.fetched_url),
        )
    return entry


def plain(text: str) -> str:
    """`text` with "?" for every lone surrogate."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
