# The Python interface of candidates.py.

from collections.abc import Iterator
from typing import Any

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
