# The Python interface of comparison.py.

from collections.abc import Callable
from typing import Any, final

from dedupcrawl.core.features import Weights
from dedupcrawl.core.pair import Pair
from dedupcrawl.core.search import Search
from dedupcrawl.core.view import View

COMPARED: int
HALF: float
OWN_SYMBOLS: int

def is_list(pair: Pair) -> bool: ...

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
        is_better: Callable[[Pair], bool],
        may_replace: Callable[[str, str], bool],
        tell: Callable[[Pair, float, float | None, Any], dict[str, Any]],
        before: float,
        besides: str,
    ) -> Comparison: ...
    @property
    def kept(self) -> Any: ...
    @property
    def doubt(self) -> dict[str, Any]: ...
    @property
    def lists(self) -> list[str]: ...
    @property
    def listed_by(self) -> list[str]: ...
    @property
    def covered(self) -> float: ...
    @property
    def is_unlike(self) -> bool: ...
    def duplicate(self, search: Search) -> tuple[str, float, dict[str, Any]] | None: ...
    def supersede(self, search: Search) -> tuple[str, float, dict[str, Any]] | None: ...
