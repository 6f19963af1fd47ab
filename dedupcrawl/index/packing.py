"""Packing: rows made smaller by Zstandard, with a dictionary of what rows of an index have in common.

Of a replayed crawl of nankai a verdict takes 194 bytes for 696 and what pages say of URLs 177 for 1,042 (461 and 203
without the dictionary), a page without its signatures 833 for 1,115: 8, 8 and 18 µs, and 5 to 7 to unpack it. No
command of this project prints these figures.
"""

from __future__ import annotations

import sys

import msgspec

from dedupcrawl.index.errors import IndexDamagedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Raw = bytes | memoryview

_LEVEL = 3  # 1 takes 13 µs for the 18 of a page, which is 5 % larger then
_LEAST = 128  # bytes; what is shorter stays as it is
_AS_IT_IS, _PACKED = b"\0", b"\1"
_MAGIC = b"\x28\xb5\x2f\xfd"  # how every frame of Zstandard begins, and none is stored

# Names as of format 4. Others are packed all the same, only not as small: a change here is another format.
_FEATURES = (
    "novel_share novel_middle new_words_middle scattered density differences values values_only reversed_only slots "
    "furniture moved_templated beside beside_links_templated untold_title titles_told titles_templated titles_short "
    "listed lists kept_links short one_host"
)
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
_EVIDENCE = {
    "in_doubt": {"url": "http://www.", "check": "shingles", "similarity": 0.5},
    "lists": [],
    "covered": 1.0,
    "listed_by": [],
    "supersedes": [],
    "furniture_blocks": 1,
    "probability": 1.0,
    "symbols": 378,
    "kept_symbols": 378,
    **dict.fromkeys(_FEATURES.split(), 1.0),
}
_VERDICT = {
    "url": "http://www.",
    "verdict": "duplicate",
    "duplicate_of": "https://www.",
    "check": "exact",
    "similarity": 1.0,
    "evidence": _EVIDENCE,
}
_DICTIONARY = zstd.ZstdDict(
    msgspec.msgpack.encode([_VERDICT, 1.0, msgspec.msgpack.encode(_REQUEST)]), is_raw=True
).as_digested_dict


def shrunk(raw: bytes) -> bytes:
    """`raw`, as small as it comes."""
    if len(raw) >= _LEAST:
        packed = zstd.compress(raw, _LEVEL, zstd_dict=_DICTIONARY)
        if len(packed) < len(raw):
            return _PACKED + packed.removeprefix(_MAGIC)
    return _AS_IT_IS + raw


def expanded(raw: Raw, what: str) -> bytes:
    """What `shrunk` was given.

    Raises:
        IndexDamagedError: These are other bytes; it names `what`.
    """
    kind, rest = bytes(raw[:1]), raw[1:]
    try:
        if kind == _PACKED:
            return zstd.decompress(_MAGIC + rest, zstd_dict=_DICTIONARY)
    except zstd.ZstdError as error:
        raise IndexDamagedError(f"{what} cannot be read: {error}") from None
    if kind != _AS_IT_IS:
        raise IndexDamagedError(f"{what} cannot be read: it begins with {kind!r}")
    return bytes(rest)
