"""Pages that are judged side by side, so that an index is asked once for all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, TypeVar

from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.steps import Step

Result = TypeVar("Result")


Steps = Generator[Step, Any, Result]
"""A page that is being judged: what the index is asked for it, and the verdict in the end.

Where the index cannot tell, its error is raised in the page that asked.
"""


def judge_batch(index: Index, pages: Iterable[Steps[Result]]) -> list[Result]:
    """The verdicts on pages, each begun by `Detector.steps`, in their order, as if judged one after the other.

    All pages are searched for before the first is added, so one question to the index may add some and drop the others.
    Pages that others of the batch may concern are then judged one by one.

    Raises:
        IndexDamagedError, OSError: when the index cannot be used and a page does not catch it; some may have been kept
            then.
    """
    running = list(pages)
    verdicts: list[Any] = [None] * len(running)
    waiting: Iterable[tuple[int, Any]] = [(number, None) for number in range(len(running))]
    is_first = True
    while True:
        asked, decided = [], []
        for number, answer in waiting:
            steps = running[number]
            try:
                step = _next(steps, answer)
                while step.found is not None and not is_first:
                    step = _next(steps, *_answers(index, [step]))
            except StopIteration as end:
                verdicts[number] = end.value
            else:
                asked.append(number)
                decided.append(step)
        if not decided:
            return verdicts
        is_first = False
        waiting = zip(asked, _answers(index, decided), strict=True)


def _next(steps: Steps[Result], answer: Any) -> Step:
    return steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)


def _answers(index: Index, decided: Sequence[Step]) -> list[Any]:
    """An answer or an error to each: one that cannot be answered is none of the others' business."""
    try:
        return index.carry_out(decided)
    except Exception as error:
        if len(decided) == 1 or isinstance(error, IndexAwayError):
            return [error] * len(decided)
        return [answer for one in decided for answer in _answers(index, [one])]
