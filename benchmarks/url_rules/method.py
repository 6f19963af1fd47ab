"""What the benchmark needs of a way to learn URL rules, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

Row = tuple[str, str]
"""A URL and the label of its page: two URLs of one label lead to the same main text."""


class Rule(Protocol):
    """One rule of one site."""

    @property
    def kind(self) -> Literal["rewrite", "equivalence"]:
        """Whether the image of a URL is another URL, or only a name that its variants share."""


class Matcher(Protocol):
    """A list of rules compiled, so that a URL need not be tried against each in turn."""

    def form(self, url: str) -> str:
        """The URL as this method writes it: what an image has to be compared with."""

    def images(self, url: str) -> Iterator[tuple[int, str]]:
        """The position in the list and the image, for every rule that applies."""

    def canonical(self, url: str) -> str:
        """The URL after all rules, earlier ones first, applied until nothing changes."""


RuleT = TypeVar("RuleT", bound=Rule)


@dataclass(frozen=True, slots=True)
class Learned(Generic[RuleT]):
    """Every rule that a method found, whatever its precision.

    Attributes:
        rules: The rules.
        compile: Makes a matcher of some of them.
        valid: The positions of those that the method itself keeps for a precision from 0 to 1; None for a method that
            leaves this to the measured precision of each rule.
    """

    rules: Sequence[RuleT]
    compile: Callable[[Iterable[RuleT]], Matcher]
    valid: Callable[[float], Iterable[int]] | None = None

    def matcher(self, which: Iterable[int] | None = None) -> Matcher:
        """All rules, or those at the given positions, in that order."""
        return self.compile(self.rules if which is None else [self.rules[i] for i in which])


def clusters(rows: Iterable[Row]) -> list[list[str]]:
    """The URLs of each label that has at least two, in the order of the rows."""
    by_label: dict[str, list[str]] = {}
    for url, label in rows:
        by_label.setdefault(label, []).append(url)
    return [urls for urls in by_label.values() if len(urls) > 1]
