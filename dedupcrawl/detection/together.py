"""Pages that are judged side by side, so that an index is asked once for all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from operator import itemgetter
from typing import Any, NamedTuple

from dedupcrawl.index.contract import Index
from dedupcrawl.index.rows import Dependent
from dedupcrawl.index.search import Search
from dedupcrawl.verdict import Verdict


class Offer(NamedTuple):
    """A page that is to be added; answered with Kept, or None where it has to be searched for again."""

    found: Search
    request: bytes


class Drop(NamedTuple):
    """A page that is to be dropped because of another; answered with whether that is still kept."""

    keeper: str
    dependent: Dependent


Steps = Generator[Offer | Drop, Any, Verdict]
"""A page that is being judged: what the index is asked for it, and the verdict in the end."""


def together(index: Index, pages: Iterable[Steps]) -> list[Verdict]:
    """The verdicts on pages, each begun by `Detector.steps`, in their order; as if one had been judged after the other.

    All are searched for before the first is added, so it may take one question to the index to add them, and one to
    drop them. Those that others among them may concern are then judged one by one.

    Raises:
        IndexDamagedError, OSError: when the index cannot be used; some may have been kept then.
    """
    verdicts: dict[int, Verdict] = {}
    waiting: list[tuple[int, Steps, Any]] = [(number, steps, None) for number, steps in enumerate(pages)]
    is_first = True
    while waiting:
        offers: list[tuple[int, Steps, Offer]] = []
        drops: list[tuple[int, Steps, Drop]] = []
        for number, steps, answer in waiting:
            try:
                step = steps.send(answer)
                while isinstance(step, Offer) and not is_first:
                    step = steps.send(index.add(step.found, request=step.request))
            except StopIteration as end:
                verdicts[number] = end.value
            else:
                if isinstance(step, Offer):
                    offers.append((number, steps, step))
                else:
                    drops.append((number, steps, step))
        is_first = False
        waiting = []
        if offers:
            kept = index.add_all([(step.found, step.request) for _, _, step in offers])
            waiting += [(number, steps, one) for (number, steps, _), one in zip(offers, kept, strict=True)]
        if drops:
            held = index.depend_all([(step.keeper, step.dependent) for _, _, step in drops])
            waiting += [(number, steps, one) for (number, steps, _), one in zip(drops, held, strict=True)]
        waiting.sort(key=itemgetter(0))
    return [verdicts[number] for number in sorted(verdicts)]
