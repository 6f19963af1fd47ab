"""What an index holds, and as which bytes: kept pages, recorded verdicts and rewrites, and skips.

A record is the CRC-32 of the page's number and the rest (4 bytes, little-endian), then one msgpack array that starts
with the signatures, so that comparing a candidate decodes nothing else, and ends with the page. It does not
change while its page is kept: a later record says that it contains the page. When the page is replaced or forgotten, a
tombstone takes the record's place.

Rows with requests are packed by Zstandard, with a dictionary of what requests have in common. Of a page there is little
else than its outline, which is packed by itself (`core.packing`).
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from dedupcrawl.core.packing import renamed
from dedupcrawl.index.errors import UNREADABLE, IndexDamagedError
from dedupcrawl.verdict import Outcome, Verdict
from dedupcrawl.zstandard import zstd


class Entry(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """What an index keeps of one accepted page."""

    url: str  # canonical, under which it is kept; where one run has fetched several variants, the first of them
    site: str  # registrable domain, or the host where there is none
    spider: str  # that kept it; empty outside a crawl
    run: str  # identifies the crawl; runs that resume one JOBDIR share it
    kept_at: float  # seconds since the epoch
    title: str
    outline: bytes  # the main text as symbols and their kinds (see core.main_outline), for comparing side by side
    headline: str = ""
    fetched_url: str = ""  # where it was fetched, when that is not `url`: a canonical URL need not exist
    asides: bytes = b""  # what it says around its main text, and where it links to (see core.page_context)
    # Check name → signature; a check that abstained is absent. The last field: a record holds them elsewhere.
    signatures: dict[str, bytes] = {}

    @property
    def source(self) -> str:
        """The URL that the page was fetched from."""
        return self.fetched_url or self.url

    def updates(self, kept: Entry) -> bool:
        """Whether this page is that which is `kept`, fetched again, so that it is no duplicate of it.

        Two pages that one run has fetched from two URLs are two, whatever rules take their URLs for.
        """
        return self.url == kept.url and (self.run != kept.run or self.source == kept.source)


class Premise(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """That a page is stored, as it was kept at one moment."""

    url: str  # under which it is kept
    kept_at: float  # seconds since the epoch


class Skip(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that is not stored because another stands for it; or is not stored yet, and stands for itself."""

    spider: str
    url: str
    request: bytes  # what to ask for to fetch it again, packed; the index does not look into it
    premise: Premise | None = None  # what must hold; None: it fell, and the page is due


class Rewrite(msgspec.Struct, frozen=True, array_like=True):
    """A request that was sent to another URL than it named, because rules said so."""

    url: str  # as it was asked for
    canonical: str  # what was asked for instead
    rules: tuple[str, ...]  # their ids, in the order in which they were applied
    spider: str
    run: str
    at: float  # seconds since the epoch
    request: bytes = b""  # what to ask for to fetch `url` after all, packed; the index does not look into it


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """A verdict as an index holds it."""

    verdict: Verdict
    run: str
    site: str
    spider: str = ""
    at: float = 0.0  # seconds since the epoch
    # What to ask for to fetch the page again, packed; the index does not look into it. Empty when it was not dropped.
    request: bytes = b""

    @property
    def was_dropped(self) -> bool:
        """False for a page that went on to be stored.

        Nothing was in doubt, duplicates were only observed or marked, or it `was_judged_again` once it was stored.

        What is dropped is recorded with its request, for it may have to be fetched again; what is not, without.
        """
        return self.verdict.is_duplicate and bool(self.request)


Raw = bytes | memoryview

# Requests have most in common with the dictionary, so tables of codes save little; texts have little in common with it.
# (Verdicts without a request, 771 on planted pages, take 442 bytes each as they are. No command prints it.)
_OF_ROWS, _OF_TEXTS = -1, 2
_LEAST = 128  # bytes; what is shorter stays as it is
_MOST = 1 << 26  # bytes that are unpacked; what is more was not packed here
_PACKED, _AS_IT_IS = b"\1", b"\2"
_CHECKSUM_BYTES = 4  # of a CRC-32
_MAGIC = b"\x28\xb5\x2f\xfd"  # how every frame of Zstandard begins, and none is stored

# What evidence names: its numbers stand for these. A change here, but at the end, is another format.
_NAMES = (
    "probability needed symbols kept_symbols titles headlines differs at says kept_says kind place own in_doubt url "
    "check similarity lists covered listed_by supersedes template_blocks judged_again novel_share novel_middle "
    "new_words_middle scattered density differences decisive_only decisive_share dates dates_text "
    "longer_fact dateline opposed units replaced_text reworded_few contradicted added_alone left_out left_out_line "
    "slots unshared moved beside_links_templated secondary_only resources_only untold_title untold_new_title "
    "titles_told beside_both listed lists kept_links headline_alone framed_headline untold_headline only_version bare"
)
_BY_NUMBER = dict(enumerate(_NAMES.split()))
_NUMBERS = {name: number for number, name in _BY_NUMBER.items()}
_REQUEST = {
    "url": "https://www.",
    "headers": {
        b"Referer": [b"https://www."],
        b"Accept": [b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
        b"Accept-Language": [b"en"],
        b"User-Agent": [b"Scrapy/2.19.0 (+https://scrapy.org)"],
        b"Accept-Encoding": [b"gzip, deflate, br, zstd"],
    },
    "meta": {"depth": 1, "download_timeout": 180.0, "download_slot": "www.", "download_latency": 0.1},
}
_DICTIONARY = zstd.ZstdDict(
    msgspec.msgpack.encode(["http://www.", "duplicate", msgspec.msgpack.encode(_REQUEST)]), is_raw=True
).as_digested_dict
_LEVEL, _CHECKSUM = int(zstd.CompressionParameter.compression_level), int(zstd.CompressionParameter.checksum_flag)
_compressors = {  # to make one takes as long as to use it
    level: zstd.ZstdCompressor(options={_LEVEL: level, _CHECKSUM: 1}, zstd_dict=_DICTIONARY)
    for level in (_OF_ROWS, _OF_TEXTS)
}


def compressed(raw: bytes, level: int = _OF_TEXTS) -> bytes:
    """`raw`, as small as it comes."""
    if len(raw) >= _LEAST:
        packed: bytes = _compressors[level].compress(raw, zstd.ZstdCompressor.FLUSH_FRAME)
        if len(packed) < len(raw):
            return _PACKED + packed.removeprefix(_MAGIC)
    return _as_it_is(raw)


def _as_it_is(raw: bytes) -> bytes:
    return _AS_IT_IS + _checksum(raw) + raw


def _checksum(raw: Raw, start: int = 0) -> bytes:
    return zlib.crc32(raw, start).to_bytes(_CHECKSUM_BYTES, "little")


def decompressed(raw: Raw, what: str) -> bytes:
    """What `compressed` was given.

    Raises:
        IndexDamagedError: These are other bytes; it names `what`.
    """
    kind, rest = bytes(raw[:1]), raw[1:]
    if kind == _PACKED:
        reader = zstd.ZstdDecompressor(zstd_dict=_DICTIONARY)
        try:
            data: bytes = reader.decompress(_MAGIC + rest, max_length=_MOST)
        except zstd.ZstdError as error:
            raise IndexDamagedError(f"{what} cannot be read: {error}") from None
        if not reader.eof or reader.unused_data:
            raise IndexDamagedError(f"{what} cannot be read: it is cut off, too large, or something follows")
        return data
    if kind != _AS_IT_IS or _checksum(rest[_CHECKSUM_BYTES:]) != rest[:_CHECKSUM_BYTES]:
        raise IndexDamagedError(f"{what} cannot be read: it fails its checksum")
    return bytes(rest[_CHECKSUM_BYTES:])


DIGEST_BYTES = 16  # of what stands for a URL or a name

Row = TypeVar("Row")
Remembered = TypeVar("Remembered", Recorded, Rewrite)


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of the journal."""

    signatures: tuple[bytes | None, ...]  # in the order of the checks in the header; None where a check abstained
    ended: tuple[int, ...]  # ids of earlier pages that this row ends: the page it replaces, or those it forgets
    inside: tuple[int, ...]  # ids of earlier pages that lie inside this one
    page: Entry | None  # without its signatures; None in a tombstone, and in a row that only forgets


class _Signatures(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The start of a Record; the decoder steps over the rest."""

    signatures: tuple[bytes | None, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode
_decode_signatures = msgspec.msgpack.Decoder(_Signatures).decode


def pack(record: Record, page: int) -> bytes:
    """The bytes of the record that is to be number `page`."""
    body = _encode(record)
    return _checksum(body, page) + body


def checked(raw: Raw, page: int) -> Raw:
    """A packed record without its checksum, which is right: IndexDamagedError is raised else."""
    body = raw[_CHECKSUM_BYTES:]
    if _checksum(body, page) != raw[:_CHECKSUM_BYTES]:
        raise IndexDamagedError(f"kept page {page} fails its checksum")
    return body


def unpack(raw: Raw, page: int) -> Record:
    """The record of these bytes.

    Raises:
        IndexDamagedError: They are not what `pack` returned for this page.
    """
    return _unpacked(_decode, checked(raw, page), f"kept page {page}")


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


def _unpacked(decode: Callable[[Raw], Row], raw: Raw, what: str) -> Row:
    try:
        return decode(raw)
    except UNREADABLE as error:
        raise IndexDamagedError(f"{what} cannot be read: {error}") from None


def record_of(entry: Entry, names: tuple[str, ...], ended: tuple[int, ...], inside: tuple[int, ...]) -> Record:
    """The record of a kept page; `names` are the checks in header order."""
    page = msgspec.structs.replace(entry, signatures={})
    return Record(tuple(map(entry.signatures.get, names)), ended, inside, page)


def tombstone(raw: Raw, page: int) -> bytes:
    """What stays of a packed record when its page is replaced or forgotten: which pages it had ended itself."""
    record = unpack(raw, page)
    return pack(Record((None,) * len(record.signatures), record.ended, (), None), page)


def forgetting(page: int, number: int, signatures: int) -> Record:
    """Row `number`, which ends `page`, and itself too, so that it is never taken for a page."""
    return Record((None,) * signatures, (page, number), (), None)


def entry_of(record: Record, names: tuple[str, ...]) -> Entry:
    """The Entry that `record_of` was given; the record must hold a page."""
    assert record.page is not None
    made = {name: one for name, one in zip(names, record.signatures, strict=True) if one is not None}
    return msgspec.structs.replace(record.page, signatures=made)


_texts_of = attrgetter(*(field.name for field in msgspec.structs.fields(Entry) if field.type is str))


def storable(entry: Entry) -> Entry:
    """The entry itself, or with "?" for every lone surrogate, which has no UTF-8 form."""
    try:
        "".join(_texts_of(entry)).encode()
    except UnicodeEncodeError:
        return _in_utf8(entry)
    return entry


def _in_utf8(row: Row) -> Row:
    text = json.dumps(msgspec.to_builtins(row), ensure_ascii=False)
    return msgspec.convert(json.loads(text.encode("utf-8", "replace")), type(row))


def plain(text: str) -> str:
    """`text` with "?" for every lone surrogate."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_NAME = re.compile(r"[!-~]{1,64}", re.ASCII)

_Recorded = tuple[str, Outcome, str | None, str | None, float | None, dict[str | int, Any], str, str, str, float, bytes]
"""The fields of a verdict, then those of its Recorded, as they are stored."""

_decode_skip = msgspec.msgpack.Decoder(Skip).decode
_decode_recorded = msgspec.msgpack.Decoder(_Recorded).decode


def _read_recorded(raw: Raw) -> Recorded:
    url, outcome, of, check, similarity, evidence, run, site, spider, at, request = _decode_recorded(raw)
    verdict = Verdict(url, outcome, of, check, similarity, renamed(evidence, _BY_NUMBER))
    return Recorded(verdict, run, site, spider, at, request)


_REMEMBERED: dict[Any, tuple[str, Callable[[Raw], Any]]] = {
    Recorded: ("a recorded verdict", _read_recorded),
    Rewrite: ("a recorded rewrite", msgspec.msgpack.Decoder(Rewrite).decode),
}


def pack_row(row: Recorded | Rewrite) -> bytes:
    """The bytes of a row; a lone surrogate, which has no UTF-8 form, becomes "?".

    Numbers are most of a verdict, so only what has a request is compressed.
    """
    fields: Any = row
    if isinstance(row, Recorded):
        of, evidence = row.verdict, renamed(row.verdict.evidence, _NUMBERS)
        fields = of.url, of.verdict, of.duplicate_of, of.check, of.similarity, evidence
        fields += row.run, row.site, row.spider, row.at, row.request
    try:
        raw = _encode(fields)
    except UnicodeEncodeError:
        return pack_row(_in_utf8(row))
    return compressed(raw, _OF_ROWS) if row.request else _as_it_is(raw)


def unpack_row(kind: type[Remembered], raw: bytes) -> Remembered:
    """What `pack_row` was given, a row of this kind.

    Raises:
        IndexDamagedError: The bytes are no such row.
    """
    what, decode = _REMEMBERED[kind]
    row: Remembered = _unpacked(decode, decompressed(raw, what), what)
    return row


def pack_skip(skip: Skip) -> tuple[bytes, bytes]:
    """Key and bytes of a row."""
    return digest(skip.spider) + digest(skip.url), _encode(skip)


def unpack_skip(raw: Raw, key: bytes | None = None) -> Skip:
    """What `pack_skip` was given.

    Raises:
        IndexDamagedError: The bytes are no row, or not that of `key`, where that is given: to take one page for another
            would lose both.
    """
    skip = _unpacked(_decode_skip, raw, "a skip")
    if key is not None and key != pack_skip(skip)[0]:
        raise IndexDamagedError(f"the skip of {skip.url!r} is that of another page")
    return skip


def check_name(name: str) -> str:
    """`name`, when something may be attached under it.

    Raises:
        ValueError: It is not 1 to 64 characters of ASCII that can be seen.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} names no attachment: take 1 to 64 characters of ASCII, no space")
    return name


@lru_cache(maxsize=16)  # of the page at hand, and of its spider
def digest(text: str) -> bytes:
    """DIGEST_BYTES bytes that stand for a string of any length; nobody can make two of one digest."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).digest()
