"""Mutations: from a few good examples to anything that an enemy might send."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

LARGEST = 1 << 20  # bytes of a mutated input

PIECES: tuple[bytes, ...] = (
    *(b"<div>", b"</div>", b"<p>", b"<b>", b"<table><tr><td>", b"<template>", b"<svg ", b"<!--", b"-->", b"<![CDATA["),
    *(b"<script>", b"</script>", b"<style>", b"<title>", b"<meta charset=", b"<meta name=keywords content=", b"<br>"),
    *(b"<a href=", b'="', b"='", b"<", b">", b'"', b"'", b"=", b"&amp;", b"&#1114112;", b"&#x0;", b"&nosuch;", b"&"),
    *(
        b"<!ENTITY a '&b;&b;'>",
        b"&a;",
        b"<?xml version='1.0'?>",
        b"<main>",
        b"<h1>",
        b" hidden",
        b" style=display:none",
    ),
    *(b"http://", b"https:", b"//", b"/", b"?", b"#", b";", b":", b"@", b"[", b"]", b"%", b"%00", b"%ff", b"..", b"."),
    *(b"sid=", b"PHPSESSID=0123456789abcdef", b"{", b"}", b"{*}", b"{x:a|b}", b"(", b")*", b"\\", b"+", b"|", b"xn--"),
    *(
        b"\n",
        b"\r\n",
        b"\t",
        b"\0",
        b"\x1b[2J",
        b"\x1b]0;x\x07",
        b"\x7f",
        b"\xc2\x85",
        b"\xe2\x80\xae",
        b"\xe2\x80\xa8",
    ),
    *(b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf", b"\xe4\xb8\xad", b"\xe3\x80\x82", b"\xcc\x81"),
    *(b"[[rules]]\n", b'id = "x"\n', b'match = "', b"null", b"NaN", b"1e999", b"-1", b"9" * 30, b"[" * 40, b'{"url":'),
    *(b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"WARC/1.0\r\n", b"Content-Length: 99999999999\r\n", b" CDX N b a\n"),
)


def mutated(seed: bytes, others: Sequence[bytes], chance: Random, largest: int = LARGEST) -> bytes:
    """Some random changes of `seed`, or of a part of it; the same for the same state of `chance`.

    Args:
        seed: A good example.
        others: More of them, to take pieces from.
        chance: Decides.
        largest: Bytes of the result, at most.
    """
    begin = chance.randrange(max(1, len(seed) - largest + 1))
    data = seed[begin : begin + largest]
    for _ in range(1 + min(int(chance.expovariate(0.5)), 12)):
        data = chance.choice(_CHANGES)(data, others, chance)[:largest]
    return data


def _place(data: bytes, chance: Random) -> int:
    return chance.randrange(len(data) + 1)


def _cut(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    begin = _place(data, chance)
    return data[:begin] + data[begin + int(chance.expovariate(1 / 40)) :]


def _ended(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return data[: _place(data, chance)]


def _flipped(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 9)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _inserted(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = _place(data, chance)
    return data[:at] + chance.choice(PIECES) + data[at:]


def _repeated(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """A piece many times: what makes deep nests, long runs and quadratic loops."""
    at = _place(data, chance)
    piece = chance.choice(PIECES) if chance.random() < 0.7 else data[at : at + chance.randrange(1, 60)]
    return data[:at] + piece * int(10 ** chance.uniform(0.3, 4.5)) + data[at:]


def _alternated(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    at = _place(data, chance)
    pieces = b"".join(chance.choice(PIECES) for _ in range(chance.randrange(2, 5)))
    return data[:at] + pieces * int(10 ** chance.uniform(0.3, 3.5)) + data[at:]


def _doubled(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    begin = _place(data, chance)
    return data[:begin] + data[begin : begin + int(chance.expovariate(1 / 500))] + data[begin:]


def _spliced(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(others)
    return data[: _place(data, chance)] + other[_place(other, chance) :]


def _of_nothing(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    return b"".join(chance.choice(PIECES) for _ in range(chance.randrange(200)))


_CHANGES: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (
    *(_cut, _ended, _flipped, _flipped, _inserted, _inserted, _inserted),
    *(_repeated, _repeated, _alternated, _doubled, _spliced, _of_nothing),
)
