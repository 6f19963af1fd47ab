"""Bytes of a web page to text: byte order mark, labels that may lie, and a guess from the commonest characters.

A crawl meets pages whose charset is missing, wrong (gb2312 that is gb18030, latin-1 that is UTF-8) or hostile (a codec
that runs code points through an algorithm of quadratic time). What decodes cleanly is believed first.
"""

from __future__ import annotations

import codecs
import re

from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from dedupcrawl.core.characters import has_long_sequence

_SAMPLE = 8_192  # bytes from the first non-ASCII one on: what a guess is made from
_DAMAGE = 0.05  # of the non-ASCII characters; a label that leaves more undecodable is taken for wrong
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_ESCAPE = b"\x1b"
_HIGH_RUN = re.compile(rb"[\x80-\xff]{6}")
# Python's codecs also hold compressors, ciphers, EBCDIC, punycode and utf-7: only character sets of the web are let in.
_WEB_CHARSET = re.compile(
    r"(?:ascii|utf-8|gb|hz|big5|cp12|cp437|cp8[56]|cp874|cp9|euc|shift|iso|koi8|mac|tis|johab|ptcp|kz)[\w-]*"
)
_SINGLE_BYTE = re.compile(r"(?:ascii|cp12|cp874|iso8859|koi8|mac|tis|ptcp|kz)[\w-]*")
_WESTERN = frozenset(("ascii", "cp1252", "iso8859-1", "iso8859-15", "mac-roman"))
# The commonest characters of running text. They are 10 % of it and more; read in a wrong encoding, below 2 %.
_COMMON = (
    ("gb18030", "的一是了在有不人这中大国上我来们为和地到"),
    ("big5hkscs", "的一是了在有不人這中大國上我來們為和地到"),
    ("cp932", "のにはをたがでとしれさいる"),
    ("euc_jp", "のにはをたがでとしれさいる"),
    ("cp949", "이다는의에고을가하지은도"),
)
_COMMON_SHARE = 0.03
_CYRILLIC = "оеаинтсрв"  # more than half of Russian; a seventh of Chinese bytes read as windows-1251
_CYRILLIC_SHARE = 0.4


def decode(body: bytes, label: str | None = None) -> str:
    """Text of `body`; never raises. A character that is cut off at the end is left out.

    In order: byte order mark, UTF-8, `label` (of the HTTP header) and the page's own meta element, each where the bytes
    agree, then a guess. Time and memory are linear in the length of the body.

    >>> decode("<p>é</p>".encode(), "latin-1")
    '<p>é</p>'
    """
    return _read(body, label)[1]


def to_utf8(body: bytes, label: str | None = None) -> bytes:
    """As `decode`, encoded again; for free where `body` is UTF-8 already. It may still end within a character."""
    charset, text = _read(body, label)
    return body if charset == "utf-8" else text.encode()


def _read(body: bytes, label: str | None) -> tuple[str, str]:  # noqa: PLR0911 - the standard's order
    """Charset, empty where it does not describe all bytes, and text."""
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        return "", _decode(body[len(bom) :], bom_encoding, "replace") or ""
    utf16 = _utf16_without_bom(body)
    if utf16:
        return "", _decode(body, utf16, "replace") or ""
    if body.isascii() and _ESCAPE not in body:
        return "utf-8", body.decode("ascii")  # whatever its labels say, but for ISO-2022-JP
    utf8 = _decode(body, "utf-8")
    if utf8 is not None and has_long_sequence(body):
        return "utf-8", utf8  # whatever its labels say
    labels = _web_charsets(label, body)
    if utf8 is not None and not _is_double_byte(labels):
        return "utf-8", utf8
    for charset in labels:
        if charset in _WESTERN and _HIGH_RUN.search(body):
            continue  # no text in a Latin alphabet, though any bytes can be read as some
        text = _decode(body, charset)
        if text is not None:
            return charset, text
    return ("utf-8", utf8) if utf8 is not None else ("", _decode_damaged(body, labels))


def _web_charsets(label: str | None, body: bytes) -> list[str]:
    charsets = (resolve_encoding(label) if label else None, html_body_declared_encoding(body))
    # UTF-16 has been recognized by its zero bytes before; as a label of anything else it is wrong.
    return [charset for charset in charsets if charset and _WEB_CHARSET.fullmatch(charset)]


def _is_double_byte(labels: list[str]) -> bool:
    """Text in GB 2312 or Big5 can pass for UTF-8 if it is short, text in ISO-2022-JP even for ASCII."""
    return bool(labels) and labels[0] != "utf-8" and not _SINGLE_BYTE.fullmatch(labels[0])


def _utf16_without_bom(body: bytes) -> str | None:
    start = body[:64].lstrip(b"\0 \r\n\t")
    if b"\0" not in start or not start.startswith(b"<"):
        return None
    even, odd = body[0:64:2].count(0), body[1:64:2].count(0)
    if even == odd:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decode(body: bytes, charset: str, errors: str = "strict") -> str | None:
    try:
        return codecs.getincrementaldecoder(charset)(errors).decode(body)
    except UnicodeError:
        return None


def _decode_damaged(body: bytes, labels: list[str]) -> str:
    for charset in (*labels, "utf-8"):
        text = None if charset in _WESTERN else _decode(body, charset, "replace")
        if text is not None and text.count("\ufffd") <= _DAMAGE * _count_non_ascii(text):
            return text
    return _decode(body, _guess(body), "replace") or ""


def _count_non_ascii(text: str) -> int:
    return len(text) - sum(map(text.count, map(chr, range(128))))


def _guess(body: bytes) -> str:
    """The encoding that turns the most of a sample into common characters; windows-1252 where none does."""
    first = _NON_ASCII.search(body)
    if first is None or not _HIGH_RUN.search(body):
        return "cp1252"
    sample = body[first.start() :][:_SAMPLE]
    share, charset = max((_share(sample, charset, common), charset) for charset, common in _COMMON)
    if share >= _COMMON_SHARE:
        return charset
    return "cp1251" if _share(sample, "cp1251", _CYRILLIC) >= _CYRILLIC_SHARE else "cp1252"


def _share(sample: bytes, charset: str, common: str) -> float:
    text = _decode(sample, charset, "replace") or ""
    return sum(map(text.count, common)) / max(1, _count_non_ascii(text))
