"""Tokens: by what the server of a shared index tells that two pages cannot concern each other, without our code.

A worker searches its own copy of the index and then offers the page. This is optimistic concurrency control (Kung and
Robinson 1981): the *write set* of a row is where it is posted, the *read set* of an offer what its search depends on;
when no row that the worker does not know yet meets the read set, its search is as good as one on all rows. A place is
a token of four bytes: a hash of the table and the prefix. Two places of one token cost a look at a row for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedupcrawl.content.checks.base import Keys
from dedupcrawl.content.symbols import fmix64
from dedupcrawl.index.rows import Entry
from dedupcrawl.index.schema import Schema, url_key

_TABLE_FACTOR = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1

WireProbe = tuple[int, bytes, bytes]
"""Least sum of weights, tokens, and a weight of four bytes for each; no weights when each counts 1."""


def tokens(table: int, prefixes: Keys) -> bytes:
    """Four bytes for each prefix of a table."""
    mixed = fmix64(prefixes + np.uint64((table + 1) * _TABLE_FACTOR & _WORD))
    made: bytes = (mixed >> np.uint64(32)).astype("<u4").tobytes()
    return made


def token(table: int, key: int) -> bytes:
    """The token of one key of a table of the index's own."""
    return tokens(table, np.array([key], dtype=np.uint64))


def written(schema: Schema, keys: Sequence[Keys]) -> bytes:
    """The write set of a row: tokens of everything that it is posted under, by table."""
    sets = [
        tokens(table, found >> np.uint64(bits))
        for table, (found, bits) in enumerate(zip(keys, schema.payload_bits, strict=True))
        if found.size
    ]
    return b"".join(sets)


def read(schema: Schema, entry: Entry, replaces: int | None) -> list[WireProbe]:
    """The read set of an offer: what would make its search find something else.

    That is another page's keys where a check looks for them, another page of its URL, and the end of the page that it
    replaces.
    """
    any_of = [token(schema.urls, url_key(entry.url))]
    if replaces is not None:
        any_of.append(token(schema.ended, replaces))
    weighted: list[WireProbe] = []
    for slot, check, signature in schema.signatures(entry):
        probe = check.probe(signature)
        made = tokens(slot, probe.prefixes)
        if probe.least <= 1:
            any_of.append(made)
        else:
            weighted.append((probe.least, made, probe.weights.astype("<u4").tobytes()))
    return [(1, b"".join(any_of), b""), *weighted]
