"""Encoding: decode a web page by its byte order mark, by labels that may be wrong, or else by a detector.

A crawl meets pages whose charset is missing, wrong (gb2312 that is gb18030, latin-1 that is UTF-8), damaged (a byte of
another charset in a page of UTF-8) or hostile (a codec that runs code points through an algorithm of quadratic time). A
charset that decodes the bytes without errors is preferred. docs/measured/content-checks.md has the measurement by which
the detector and the numbers were chosen.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator

from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from dedupcrawl.core.characters import ASCII, LONG, UTF8, has_escapes, utf8_of

_WINDOW = 65_536  # bytes from the first non-ASCII one on, from which the detector's sample is taken
_SAMPLE = 8_192  # bytes of lines that are not ASCII, which the detector reads at once
_PIECE = 48  # bytes of a piece of the sample; even, because most non-ASCII characters have two
_PIECES = 9  # the detector guesses the charset of at most this many pieces,
_AGREED = 3  # or of only this many, if they agree with the whole sample
_DAMAGE = 0.05  # of the non-ASCII characters; a label that leaves more undecodable is taken for wrong
# A page with one foreign word says little about its charset, and most such pages are Western: another charset of Latin
# letters must be more likely by a tenth. (£5m in English news was read as Ł5m.)
_USUAL, _DOUBT = "cp1252", 1.1
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{6}")
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Neither these nor spaces are ever part of a two-byte character, so text can be cut there.
_TO_LINES = bytes(0x0A if byte in b"<>\r\n" else byte for byte in range(256))
_TO_SEVEN_BITS = bytes(byte & 0x7F for byte in range(256))
_UTF_16 = re.compile(rb"(?:[ \t\r\n]\0)*(?P<le><\0[!-~]\0)|(?:\0[ \t\r\n])*\0<\0[!-~]")
# Two-byte characters between two escapes, which only text in these charsets has.
_ISO_2022_JP = re.compile(rb"\x1b\$[@B](?:[!-~]{2})+\x1b\([BJ]")
_HZ = re.compile(rb"~\{(?:[!-w][!-~]){4,}~\}")  # regular expressions and Lisp formats have shorter ones
# Python's codecs include compressors, ciphers, EBCDIC, punycode and utf-7: only character sets of the web are allowed.
_WEB_CHARSET = re.compile(
    r"(?:ascii|utf-8|gb|hz|big5|cp12|cp437|cp8[56]|cp874|cp9|euc|shift|iso|koi8|mac|tis|johab|ptcp|kz)[\w-]*"
)
_SINGLE_BYTE = re.compile(r"(?:ascii|cp12|cp874|iso8859|koi8|mac|tis|ptcp|kz)[\w-]*")
_WESTERN = frozenset(("ascii", "cp1252", "iso8859-1", "iso8859-15", "mac-roman"))
# The detector's answers, each with the codec that reads what browsers read under that name: the charsets of
# https://encoding.spec.whatwg.org, except those that hardly occur (ISO-8859-4 and -6, windows-1258).
_LATIN = {name: name for name in (_USUAL, "cp1250", "cp1254", "cp1257", "iso8859-2", "iso8859-13")}
_OTHERS = {
    _USUAL: _USUAL,  # if the detector finds no other
    **{name: name for name in ("gb18030", "big5hkscs", "cp932", "cp949", "cp874", "cp1253", "cp1255", "cp1256")},
    **{name: name for name in ("cp1251", "koi8-r", "koi8-u", "cp866", "iso8859-5", "iso8859-7")},
    "euc_jis_2004": "euc_jp",
}


def decode(body: bytes, label: str | None = None) -> str:
    """The text of `body`; never raises. A character that is cut off at the end is left out.

    It tries in this order: the byte order mark, UTF-8, `label` (from the HTTP header) and the page's own meta element,
    each if the bytes agree with it, then a detector. Time and memory are linear in the length of the body; the detector
    reads a bounded sample.

    >>> decode("<p>é</p>".encode(), "latin-1")
    '<p>é</p>'
    """
    text = _read(body, label)
    return _decode(body, "utf-8") or "" if text is None else text


def to_utf8(body: bytes, label: str | None = None) -> bytes:
    """As `decode`, but encoded in UTF-8; the same bytes if `body` is UTF-8, even if it ends within a character."""
    text = _read(body, label)
    return body if text is None else text.encode()


def _read(body: bytes, label: str | None) -> str | None:  # noqa: PLR0911 - the standard's order
    """The text; None if the body is UTF-8."""
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        return _decode(body[len(bom) :], bom_encoding, "replace") or ""
    utf16 = _utf16_without_bom(body)
    if utf16:
        return _decode(body, utf16, "replace") or ""
    flags = utf8_of(body)
    if flags & (UTF8 | LONG) == UTF8 | LONG:
        return None  # whatever its labels say
    if flags & ASCII and not has_escapes(body):
        return None  # likewise: it is in no 7-bit charset
    labels = _web_charsets(label, body)
    seven_bits = None if flags & UTF8 and "utf-8" in labels else _seven_bit_charset(body)
    if seven_bits:
        return _decode_seven_bits(body, seven_bits)
    if flags & UTF8 and not _is_double_byte(labels):
        return None
    for charset in labels:
        if charset in _WESTERN and not _may_be_latin(body):
            continue  # although some Western charsets can decode any bytes
        text = None if charset == "utf-8" else _decode(body, charset)
        if text is not None:
            return text
    return None if flags & UTF8 else _decode_damaged(body, labels)


def _web_charsets(label: str | None, body: bytes) -> list[str]:
    charsets = (resolve_encoding(label) if label else None, html_body_declared_encoding(body))
    # UTF-16 was recognized by its zero bytes before this; as the label of anything else it is wrong.
    return [charset for charset in charsets if charset and _WEB_CHARSET.fullmatch(charset)]


def _may_be_latin(body: bytes) -> bool:
    """False if six different non-ASCII letters or more follow each other; six spaces or dashes may."""
    return all(len(set(run)) <= 2 for run in _HIGH_RUN.findall(body))


def _is_double_byte(labels: list[str]) -> bool:
    """Whether the first label is of a multi-byte charset: short text in GB 2312 or Big5 can pass for UTF-8."""
    return bool(labels) and labels[0] != "utf-8" and not _SINGLE_BYTE.fullmatch(labels[0])


def _utf16_without_bom(body: bytes) -> str | None:
    """The charset if the first two characters of the markup are UTF-16; a single zero byte is only damage."""
    start = _UTF_16.match(body)
    return None if start is None else "utf-16-le" if start["le"] else "utf-16-be"


def _decode(body: bytes, charset: str, errors: str = "strict") -> str | None:
    try:
        return codecs.getincrementaldecoder(charset)(errors).decode(body)
    except UnicodeError:
        return None


def _seven_bit_charset(body: bytes) -> str | None:
    """ISO-2022-JP or HZ, by their escapes: neither needs a label."""
    if not has_escapes(body):
        return None
    if _ISO_2022_JP.search(body):
        return "iso2022_jp_ext"  # which has the half-width katakana that browsers read
    return "hz" if _HZ.search(body) else None


def _decode_seven_bits(body: bytes, charset: str) -> str:
    """Decode text in a 7-bit charset; an eighth bit is an error that would shift all characters after it by a half."""
    return _decode(body.translate(_TO_SEVEN_BITS), charset, "replace") or ""


def _decode_damaged(body: bytes, labels: list[str]) -> str:
    """Decode a body that is not UTF-8 and that no label fits completely."""
    for charset in labels:
        text = None if charset in _WESTERN else _decode(body, charset, "replace")
        if text is not None and text.count("\ufffd") <= _DAMAGE * _count_non_ascii(text):
            return text
    return _decode(body, _detect(body), "replace") or ""


def _count_non_ascii(text: str) -> int:
    return len(text) - sum(map(text.count, map(chr, range(128))))


def _detect(body: bytes) -> str:
    """The codec of a body that is not valid UTF-8.

    One wrong byte rules a charset out for every detector, and another charset takes its place. So the detector is also
    asked about small pieces of the page. If the charset of most pieces could hold all bytes, the answer for the whole
    sample counts, because only the sample contains the one letter in which ISO-8859-7 differs from windows-1253.
    Otherwise the answer for the pieces counts.
    """
    start = _NON_ASCII.search(body)
    window = body[start.start() :][:_WINDOW] if start else b""
    wrong = len(_NON_ASCII.findall(_UTF8_SEQUENCE.sub(b"", window)))
    if len(_UTF8_SEQUENCE.findall(window)) > wrong:
        return "utf-8"  # text in another charset contains hardly any valid sequences by chance
    lines = [line for line in window.translate(_TO_LINES).split(b"\n") if not line.isascii()]
    sample = b"\n".join(lines)[:_SAMPLE]
    charsets = _LATIN if _may_be_latin(sample) else _OTHERS
    whole = _ask(sample, charsets)
    votes: Counter[str] = Counter()
    for number, piece in enumerate(_pieces(sample), start=1):
        votes[_ask(piece, charsets)] += 1
        if number == votes[whole] == _AGREED:
            return whole
    usual = votes.most_common(1)[0][0] if votes else whole
    return whole if usual == whole or _decode(sample, usual) is not None else usual


def _pieces(sample: bytes) -> Iterator[bytes]:
    """Pieces from all over the sample, none of them ASCII; words stay whole unless they are too long."""
    pieces, piece = [], b""
    for word in sample.split():
        for start in range(0, len(word), 2 * _PIECE):
            piece = b" ".join((piece, word[start : start + 2 * _PIECE]))
            if len(piece) >= _PIECE and not piece.isascii():
                pieces.append(piece)
                piece = b""
    pieces.extend([piece] if piece and not pieces else [])
    return iter(pieces[:: max(1, len(pieces) // _PIECES)][:_PIECES])


def _ask(sample: bytes, charsets: dict[str, str]) -> str:
    if not sample:
        return _USUAL
    import chardet  # loading it takes longer than using it, and most crawls meet no page that needs it

    ranking = chardet.detect_all(
        sample, max_bytes=_SAMPLE, compat_names=False, include_encodings=charsets, ignore_threshold=True
    )
    confidence = {one["encoding"]: one["confidence"] for one in ranking}
    likely = max(confidence, key=confidence.__getitem__)
    in_doubt = confidence.get(_USUAL, 0) * _DOUBT >= confidence[likely]
    return _USUAL if in_doubt else charsets.get(likely or "", _USUAL)
