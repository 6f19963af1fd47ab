# The Python interface of candidates.py.

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from dedupcrawl.core.symbols import SymbolText

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

class Candidates:
    # It is made of what the index knows, which the core does not import.
    def __new__(cls, *given: Any) -> Candidates: ...
    catalog: Any
    entry: Any
    end: int
    lock: Any
    signed: list[Any]
    superseded: dict[int, str]
    def similar(self) -> Iterator[tuple[str, Iterator[tuple[int, Any, float]]]]: ...
    def inside(self) -> Iterator[tuple[str, Iterator[tuple[int, Any, float]]]]: ...
    def record(self, page: int) -> Any: ...
