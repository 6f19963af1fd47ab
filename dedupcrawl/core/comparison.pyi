# The Python interface of comparison.py.

from collections.abc import Callable
from typing import Any, final

from dedupcrawl.core.features import Weights
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.search import Search
from dedupcrawl.core.view import View

COMPARED: int
HALF: float

def is_list(pair: Pair) -> bool: ...

@final
class Match:
    @property
    def kept(self) -> Any: ...
    @property
    def check(self) -> str: ...
    @property
    def similarity(self) -> float: ...
    @property
    def pair(self) -> Pair | None: ...
    @property
    def probability(self) -> float: ...
    @property
    def needed(self) -> float: ...

@final
class Comparison:
    # Pages are entries of an index, which the core does not import.
    def __new__(
        cls,
        entry: Any,
        view: View,
        asked: Any,
        weights: Weights,
        thresholds: tuple[float, float, float],
        view_of: Callable[[Any], View],
        may_replace: Callable[[str, str], bool],
        before: float,
        besides: str,
    ) -> Comparison: ...
    @property
    def doubt(self) -> Match | None: ...
    @property
    def lists(self) -> list[str]: ...
    @property
    def listed_by(self) -> list[str]: ...
    @property
    def covered(self) -> float: ...
    @property
    def is_unlike(self) -> bool: ...
    def duplicate(self, search: Search) -> Match | None: ...
    def supersede(self, search: Search) -> Match | None: ...
