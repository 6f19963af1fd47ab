"""Fuzz targets of the core: postings, pairs of pages, and records of MWO."""

from __future__ import annotations

from array import array
from collections import Counter
from math import isfinite

from dedupcrawl.content.differences import KINDS_IN_WORDS, PLACES_IN_WORDS
from dedupcrawl.core.features import FEATURES, Weights, features, shown
from dedupcrawl.core.main_outline import OUTLINE_SYMBOLS, MainOutline, read
from dedupcrawl.core.overlap import TOTAL, cheapest_prefix, keys_of, overlap, possible
from dedupcrawl.core.overlap import Weights as TermWeights
from dedupcrawl.core.packing import pack
from dedupcrawl.core.page_context import PageContext
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.postings import Postings, Tail
from dedupcrawl.core.signatures import ShingleSearch, near, simhash_keys
from dedupcrawl.core.symbols import SymbolText
from dedupcrawl.core.template import Template
from dedupcrawl.core.view import View, is_worth_comparing
from dedupcrawl.core.words import IDEOGRAPH, KIND, LETTER

_WORD = (1 << 64) - 1
_KINDS = KIND | LETTER | IDEOGRAPH


def postings(data: bytes) -> None:
    """The numbers that the bytes hold, looked up by half of these and their neighbours."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    bits = flags & 63
    keys = array("Q", sorted(array("Q", rest[: len(rest) // 8 * 8])))
    neighbours = [key + 1 & _WORD for key in keys[1::4]]
    wanted = array("Q", sorted({key >> bits for key in (*keys[::2], *neighbours)}))
    pages = array("I", range(len(keys)))
    tail = Tail(bits)
    for page, key in enumerate(keys):
        tail.add(array("Q", [key]), page)
    counts = Counter(key >> bits for key in keys)
    expected = [(key, page) for page, key in enumerate(keys) if key >> bits in set(wanted)]
    for view in (Postings([(keys, pages)], [], bits), Postings([], [tail], bits)):
        assert view.count(wanted) == [counts[prefix] for prefix in wanted]
        assert sorted(zip(*view.find(wanted), strict=True)) == expected


def searched(data: bytes) -> None:
    """Samples of shingles and fingerprints that the bytes hold, each looked for among the others and itself."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    parts = [part for part in (rest[: len(rest) // 2], rest[len(rest) // 2 :], rest, rest[1:]) if part]
    shingles, fingerprints = Tail(32), Tail(46)
    for page, part in enumerate(parts):
        sample = sorted(set(array("I", part[1 : 1 + (len(part) - 1) // 4 * 4])))
        payload = (len(sample) << 3 | part[0] & 7) & 0xFFFFFFFF
        shingles.add(array("Q", [shingle << 32 | payload for shingle in sample]), page)
        fingerprints.add(simhash_keys(part[:8].ljust(8, b"\0")), page)
    for page, part in enumerate(parts):
        search = ShingleSearch(Postings([], [shingles], 32), part, flags & 7, (1 + flags) / 256)
        assert len(search.candidates(500, 2_000, 3)) <= 3
        assert len(search.contained(2_000, 3)) <= 3
        assert page in near(Postings([], [fingerprints], 46), part[:8].ljust(8, b"\0"), flags & 7)


def pairs(data: bytes) -> None:
    """Pages of which a text, an outline, what stands around them and their names are made of the bytes."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    half = len(rest) // 2
    texts = [part.decode("utf-8", "replace") for part in (rest[:half], rest[half:])]
    site = Template()
    for number in range(flags & 7):
        site.add(read(_outline(rest[half:])).hashes, f"{number}")
    lines, links = array("I", rest[: len(rest) // 4 * 4]).tolist(), list(rest)
    sizes = [(line << 32) + size for line, size in sorted(dict(zip(lines, links, strict=False)).items())]
    asides, link_lines, resources = (array("Q", some).tobytes() for some in (sizes, sizes[::2], sizes[::-3]))
    page_context = PageContext(asides, link_lines, asides, secondary=link_lines, resources=resources)
    views = [
        View(
            f"http://a.example/2.{number}/x",
            "a.example" if flags & 8 else text[:9],
            text[-300:],
            MainOutline.of(SymbolText.of(tuple(text.split("\n")))) if flags & 16 << number else _outline(rest[number:]),
            page_context if flags & 64 else page_context.to_bytes(),
            site,
            headline=text[:300],
        )
        for number, text in enumerate(texts)
    ]
    for new, kept in ((0, 1), (1, 0), (0, 0)):
        is_worth_comparing(views[new], views[kept])
        pair = Pair(views[new], views[kept])
        values = features(pair)
        assert all(map(isfinite, values))
        assert set(shown(pair)) <= {feature.name for feature in FEATURES}
        if flags & 16 << new:
            text = SymbolText.of(tuple(texts[new].split("\n")))
            assert (
                len(pair.shown(8, 80, text, None, tuple(KINDS_IN_WORDS), tuple(PLACES_IN_WORDS), KINDS_IN_WORDS)) <= 8
            )
        assert 0 <= Weights(0.0, [(at, -1.0, 0.0, 9.0) for at in range(len(FEATURES))]).probability_of(pair) <= 1
        assert new != kept or pair.is_equal


def _outline(raw: bytes) -> bytes:
    """The bytes, where they are an outline; else one of which they are the symbols and their kinds."""
    try:
        read(raw)
    except ValueError:
        count = min(len(raw) // 3, OUTLINE_SYMBOLS)
        kinds = bytes(byte & _KINDS for byte in raw[2 * count : 3 * count])
        return pack(raw[: 2 * count], kinds, b"")
    return raw


def overlaps(data: bytes) -> None:
    """Two records of the terms that the bytes hold, and bytes that are no records."""
    flags, rest = (data[-1], data[:-1]) if data else (0, b"")
    records = []
    for part in (rest[::2], rest[1::2]):
        weights = TermWeights()
        weights.add(part, flags + 1)
        records.append(weights.record(flags % 10 / 10, 40))
    for new, kept in (records, (rest, data), (data, rest)):
        shared = overlap(new, kept)
        keys = keys_of(kept)
        costs = [key & 7 for key in keys_of(new)]
        places = cheapest_prefix(new, costs, 0, flags)
        pages = possible(new, places, keys, array("I", [0]) * len(keys), 1, 0, 8)
        assert not shared or [new, kept] != records or pages == [0]
    assert overlap(*records) == overlap(*records[::-1])
    assert overlap(records[0], records[0]) in (0, TOTAL)
