# The Python interface of search.py.

from collections.abc import Iterator
from typing import Any, final

COMPARED_LIMIT: int

@final
class Search:
    # It is made of what the index knows, which the core does not import.
    def __new__(cls, *given: Any) -> Search: ...
    catalog: Any
    entry: Any
    end: int
    superseded: dict[int, str]
    @property
    def superseded_urls(self) -> tuple[str, ...]: ...
    def similar(self) -> Iterator[tuple[str, Iterator[tuple[int, Any, float]]]]: ...
    def inside(self) -> Iterator[tuple[str, Iterator[tuple[int, Any, float]]]]: ...
    def kept(self) -> Any: ...
    def is_outdated(self, by: Any) -> bool: ...
