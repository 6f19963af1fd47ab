"""Exact duplicates: the digest of the normalized main text, or of the whole body if there is very little text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dedupcrawl.content.checks.base import Equality, Keys
from dedupcrawl.core.digests import digest_of
from dedupcrawl.core.postings import Postings, one_key
from dedupcrawl.core.symbols import SYMBOLS_VERSION, SymbolText
from dedupcrawl.page import Page
from dedupcrawl.setting import parameter, whole

OF_TEXT, OF_BODY = b"T", b"B"  # 0.2 wrote "t" and "b", before MurmurHash3: a crawl log may hold rows of both


@dataclass(frozen=True, slots=True)
class ExactCheck(Equality):
    """Two pages are equal when their main texts are the same sequence of symbols.

    Case, width, white space and punctuation do not count; every letter and every digit does.

    A text of fewer than `min_symbols` symbols ("Photo 3 of 9") says too little about its page for another to be dropped
    because of it. Such a page is compared by the digest of its body instead: identical bytes are duplicates, but two
    photo pages with the same caption are not. If the body says nothing either (a JavaScript shell,
    ``{"in_stock": true}``), the check abstains. A signature is one byte for the kind and 16 for the digest, so the two
    kinds are never equal. (With 20 for `min_symbols` listings of one file are too short: 28 of 486 copies in an archive
    of listings were not found.)
    """

    min_symbols: int = parameter(
        "EXACT_MIN_SYMBOLS",
        18,
        whole(1, 1000),
        "A shorter main text is compared by the bytes of its page, not by its text.",
    )

    name: ClassVar[str] = "exact"

    def header(self) -> Mapping[str, str | int | float]:
        return {"symbols": SYMBOLS_VERSION, "hash": "polynomial of symbols", "min_symbols": self.min_symbols}

    def signature(self, page: Page, text: SymbolText) -> bytes | None:
        """17 bytes: the kind and the digest, keyed by the secret of the text's index."""
        if len(text) >= self.min_symbols:
            return OF_TEXT + text.digest
        return OF_BODY + digest_of(page.body_digest, text.secret) if page.body_tells and page.body_digest else None

    def keys(self, signature: bytes) -> Keys:
        """One key: the first half of the digest, after its kind."""
        return one_key(int.from_bytes(signature[1:9], "little") ^ signature[0])

    def candidates(self, signature: bytes, postings: Postings) -> list[int]:
        return postings.pages_of(int.from_bytes(signature[1:9], "little") ^ signature[0])
