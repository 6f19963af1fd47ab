"""Pages that are judged side by side, so that an index is asked once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.record import Dependent
from dedupcrawl.index.search import Search

Result = TypeVar("Result")


class Offer(NamedTuple):
    """A page that is to be added; answered with Kept, or None where it has to be searched for again."""

    found: Search
    request: bytes


class Drop(NamedTuple):
    """A page that is to be dropped because of another; answered with whether that is still kept."""

    keeper: str
    dependent: Dependent


Steps = Generator[Offer | Drop, Any, Result]
"""A page that is being judged: what the index is asked for it, and the verdict in the end.

Where the index cannot tell, its error is raised in the page that asked.
"""


def together(index: Index, pages: Iterable[Steps[Result]]) -> list[Result]:
    """The verdicts on pages, each begun by `Detector.steps`, in their order; as if one had been judged after the other.

    All are searched for before the first is added, so it may take one question to the index to add them, and one to
    drop them. Those that others among them may concern are then judged one by one.

    Raises:
        IndexDamagedError, OSError: when the index cannot be used and a page does not catch it; some may have been kept
            then.
    """
    verdicts: dict[int, Result] = {}
    waiting: list[tuple[int, Steps[Result], Any]] = [(number, steps, None) for number, steps in enumerate(pages)]
    is_first = True
    while waiting:
        asked: dict[type[Offer | Drop], list[tuple[int, Steps[Result], Offer | Drop]]] = {Offer: [], Drop: []}
        for number, steps, answer in waiting:
            try:
                step = _next(steps, answer)
                while isinstance(step, Offer) and not is_first:
                    step = _next(steps, *_answers(index.add_all, [step]))
            except StopIteration as end:
                verdicts[number] = end.value
            else:
                asked[type(step)].append((number, steps, step))
        is_first = False
        waiting = []
        for ask, some in ((index.add_all, asked[Offer]), (index.depend_all, asked[Drop])):
            answers = _answers(ask, [step for _, _, step in some])
            waiting += [(number, steps, one) for (number, steps, _), one in zip(some, answers, strict=True)]
        waiting.sort(key=itemgetter(0))
    return [verdicts[number] for number in sorted(verdicts)]


def _next(steps: Steps[Result], answer: Any) -> Offer | Drop:
    return steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)


def _answers(ask: Callable[[Any], list[Any]], questions: Sequence[Offer | Drop]) -> list[Any]:
    """An answer or an error to each: one that cannot be answered is none of the others' business."""
    try:
        return ask(questions) if questions else []
    except Exception as error:
        if len(questions) == 1 or isinstance(error, IndexAwayError):
            return [error] * len(questions)
        return [answer for one in questions for answer in _answers(ask, [one])]
