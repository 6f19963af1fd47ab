"""Inputs: pieces of hostile markup and characters for the core, and mutations of good examples for all else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

LARGEST = 1 << 20  # bytes of an input
_ROUND = 1_000  # inputs made of one blob
_LARGE = 0.05  # share of the mutations that may be as large as they become; the others are …
_SMALL = 200, 4_096  # … of so many bytes at most: they find nearly as much and cost a tenth

_NAMES = (
    b"p div table tr td th ul li dl dt dd h1 h3 pre a br hr title head body base meta link script style svg select"
    b" noscript textarea iframe video template button article nav span b footer xn-a:b"
).split()
_ATTRIBUTES = (
    b"class id href style hidden role itemprop name content rel src data-a",
    b"article-body navBarFoo sidebar post_text X1 display:none display:::none keywords description /a/../b?c=d&c=e#f"
    b" //www.a.example:80./x?b&a http://a.example/%41+%2 ?q=%26 ../../z javascript:x //a.example\xc3\xa9/ &amp; &nGt;",
)
_TEXTS = """
\ufdfa \ufdfb \u321d \u0344 \u0f73 \u0f81 \u1f82 \u0345 \ufb2c \uff9e \u200b \u00ad e\u0301\u0327
A\u0301 \u1100\u1161\u11a8 가각
ｶﾞ 𝅘𝅥𝅮 ß İ ΐ ﬃ ㎯ Ⅷ １２ 數據 数据 中文。 見http://a.cn/。 かな ไทย हिन्दी 😀 👩\u200d👩 −5 $5 C# A- ✓ ½ … ٣ é a,b.c;d 1,2.3
&amp; &nGt; &nLt; &lt &notit; &#0 &#1 &#x80; &#xD800; &#xfdfa; &#65; &#999999999999 &#x110000; & &# &#x &a &zwj;
&CounterClockwiseContourIntegral; < > = " ' / </ <!-- --> --!> <!--> <! <? <![CDATA[ ]]> <br> <br/> x<br> <p </a>
<script </script <svg <table><td> http:// https://www. www. :// // ? # % %41 %2 + @ :80 . .. a=b& && == ../ ./ a.example
www.a.example monday 2026 the word
"""
_BYTES = (
    *(b"\0", b"\n", b"\r\n", b"\n \n", b" ", b"\t", b"\x0c", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe3\x80\x80"),
    *(b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xff", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98"),
    *(
        b"\xf4\x90\x80\x80",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xef\xbf\xbd",
        b"\xef\xbb\xbf",
        b"\x80",
        b"\xf4\x8f\xbf\xbf",
    ),
    *(b"<a href", b"<a ", b"a" * 70, b"\x01", b"\x02", b"\x7f", b"x\x9c", b"one two three four five six ", b"1 2 3 "),
)
_ATOMS = (*_TEXTS.encode().split(), *_BYTES)


def _element(chance: Random, depth: int) -> bytes:
    """Markup, seldom well-formed."""
    if depth > 6 or chance.random() < 0.3:
        return b"".join(chance.choice(_ATOMS) + chance.choice((b" ", b"", b"")) for _ in range(chance.randrange(1, 5)))
    name = chance.choice(_NAMES)
    if chance.random() < 0.1:
        name = name.swapcase()
    attributes = b""
    for _ in range(int(chance.expovariate(0.9))):
        attributes += b" " + chance.choice(_ATTRIBUTES[0].split())
        if chance.random() < 0.9:
            quote = chance.choice((b'"', b"'", b"", b'"'))
            attributes += b"=" + quote + chance.choice((*_ATTRIBUTES[1].split(), *_ATOMS)) + quote
            attributes = attributes[: len(attributes) - (chance.random() < 0.05)]
    inner = b"".join(_element(chance, depth + 1) for _ in range(int(chance.expovariate(0.5))))
    end = b"</" + name + b">" if chance.random() < 0.8 else b""
    return b"<" + name + attributes + b">" + inner + end


def _blob(chance: Random, corpus: Sequence[bytes]) -> bytes:
    """Much hostile material, of which inputs are pieces."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < 20_000:
        kind = chance.random()
        if kind < 0.45:
            parts.append(_element(chance, 0)[:4_000])
        elif kind < 0.75:
            parts.append(b"".join(chance.choices(_ATOMS, k=20)))
        elif kind < 0.9:
            parts.append(chance.choice(_ATOMS) * int(10 ** chance.uniform(0, 2.3)))
        elif corpus:
            begin = chance.randrange(max(1, len(entry := chance.choice(corpus)) - 1_000))
            parts.append(entry[begin : begin + 1_000])
    return b"".join(parts)


def pieces(seed: int, corpus: Sequence[bytes]) -> Iterator[bytes]:
    """Inputs without end, the same for the same seed and corpus: most have some hundred bytes, few many."""
    chance = Random(seed)
    random, bits = chance.random, chance.getrandbits
    while True:
        blob = _blob(chance, corpus)
        size = len(blob)
        for _ in range(_ROUND):
            pieces = []
            for _ in range(1 + bits(2)):
                begin = int(random() * size)
                pieces.append(blob[begin : begin + int(300 * random() ** 4) + 1])
            kind = bits(11)
            if kind < 200:
                pieces.append(pieces[0][:40] * bits(5))
            elif kind < 202:  # seldom, for it takes long
                pieces.append(blob[int(random() * size) :][: 1 + bits(5)] * int(10 ** chance.uniform(1, 3.5)))
            data = b"".join(pieces)
            if kind & 7 == 7:
                changed = bytearray(data)
                for _ in range(1 + bits(3)):
                    changed[int(random() * len(changed))] = bits(8)
                data = bytes(changed)
            yield data


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


def mutations(seed: int, examples: Sequence[bytes]) -> Iterator[bytes]:
    """Mutations of examples without end, the same for the same seed."""
    chance = Random(seed)
    while True:
        largest = LARGEST if chance.random() < _LARGE else int(chance.uniform(*_SMALL))
        yield mutated(chance.choice(examples), examples, chance, largest)
