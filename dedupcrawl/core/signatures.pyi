# The Python interface of signatures.py.

from array import array
from collections.abc import Iterable
from typing import Any, final

from dedupcrawl.core.postings import Postings
from dedupcrawl.core.symbols import SymbolText

FINGERPRINT_PAYLOAD: int
LONG_WORD: int
TERM_FREQUENCY_CAP: int

def simhash(text: SymbolText, pairs: bool) -> tuple[int, int]: ...
def simhash_keys(fingerprint: bytes) -> array[int]: ...
def near(postings: Postings, fingerprint: bytes, distance: int) -> list[int]: ...
def sampled_shingles(text: SymbolText, most: int, levels: int, fewest: int) -> tuple[int, bytes]: ...
def shingle_keys(signature: bytes) -> array[int]: ...
def shared_shingles(new: bytes, kept: bytes) -> tuple[int, int]: ...

@final
class ShingleSearch:
    def __new__(cls, postings: Postings, signature: bytes, levels: int, share: float) -> ShingleSearch: ...
    def candidates(self, cheap: int, most_postings: int, most_pages: int) -> list[int]: ...
    def contained(self, most_postings: int, most_pages: int) -> list[int]: ...

def signed(
    checks: Iterable[Any], slots: dict[str, int], signatures: dict[str, bytes]
) -> list[tuple[int, Any, bytes]]: ...
def put_keys(
    checks: tuple[tuple[int, Any], ...], signatures: tuple[bytes | None, ...], keys: list[array[int]]
) -> None: ...
def signatures_of(
    checks: Iterable[Any],
    page: Any,
    whole: SymbolText,
    own: SymbolText | None,
    made: dict[str, bytes | None],
    names: frozenset[str] | None,
) -> dict[str, bytes]: ...
