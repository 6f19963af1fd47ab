"""Bodies: make pages of the bodies of responses, by their kind; all kinds but HTML and text are compared as a whole.

Data (JSON, XML, CSV …) is compared by all of its text except white space, because each figure in it matters: two
records of one form are different, however similar they look. Bytes that are no text are compared as bytes.
"""

from __future__ import annotations

import re
from typing import Literal

from dedupcrawl.content.encoding import decode
from dedupcrawl.core.digests import digest_of
from dedupcrawl.page import Page, paragraphs_of
from dedupcrawl.text.ignored import Ignored

Kind = Literal["html", "text", "data", "binary"]

HTML = frozenset(("text/html", "application/xhtml+xml"))
# Characters. Responses that many URLs share have fewer ({"in_stock": true}, an error of a storage service, a problem of
# RFC 9457: up to 273 in tests/content/test_bodies.py), so shorter documents are kept even if they are equal.
_TELLING = 400
_DATA = re.compile(
    r"(?:application|text)/(?:[\w.-]*[+.-])?(?:json|jsonl?|ndjson|json-seq|xml|xml-dtd|rdf|csv|tab-separated-values"
    r"|yaml|toml|javascript|ecmascript|css)|[\w.-]+/[\w.-]+\+(?:json|xml|yaml)"
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body|title)\b", re.I | re.S)
_DATA_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:[\[{]|<\?xml\b)")
# The control characters by which browsers tell bytes from text; Escape is none, because ISO-2022-JP uses it.
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SNIFFED = 1_445  # bytes that are searched, as in https://mimesniff.spec.whatwg.org


def kind_of(mime: str, body: bytes) -> Kind:
    """The kind of a body: by its media type, or by its bytes if it has none or cannot be the text that the type says.

    >>> kind_of("application/ld+json", b"{}"), kind_of("", b"plain words"), kind_of("text/plain", b"\\0\\1")
    ('data', 'text', 'binary')
    """
    if mime in HTML:
        return "html"
    is_data = _DATA.fullmatch(mime) is not None
    if mime and not is_data and not mime.startswith("text/"):
        return "binary"
    start = body[:_SNIFFED]
    if _CONTROLS.search(start) and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "binary"
    if mime:
        return "data" if is_data else "text"
    if _MARKUP.match(start):
        return "html"
    return "data" if _DATA_BEGINS.match(start) else "text"


def in_words(kind: str, mime: str, size: int) -> str:
    """The reason why nothing of a body of `size` bytes was compared, to follow after "it was fetched"."""
    if not size:
        return "its body was empty"
    why = {"html": "show very little text", "binary": "are no text, and no chosen check compares bytes"}
    return f"its {size:,} bytes of {mime or 'no media type'} {why.get(kind, 'say too little')}"


def page_of_body(  # noqa: PLR0913 - what is known of a response
    kind: Kind, body: bytes, url: str, *, encoding: str | None, ignored: Ignored, also_at: tuple[str, ...] = ()
) -> Page:
    """The page of a body that is no HTML.

    An empty body cannot be compared, and neither can a short text or short data, which different pages may share.
    """
    if kind == "binary":
        return Page(url, body_digest=digest_of(body) if body else b"", body_tells=bool(body), also_at=also_at)
    text = decode(body, encoding)
    lines = ignored.lines(paragraphs_of(text))
    whole = " ".join(" ".join(lines).split())
    digest, tells = digest_of(whole.encode()) if whole else b"", len(whole) >= _TELLING
    shown = lines if kind == "text" else ()
    return Page(url, paragraphs=shown, body_digest=digest, body_tells=tells, also_at=also_at)
