"""Judge several pages together, with one request to the index for all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, TypeVar

from dedupcrawl.index.contract import Index
from dedupcrawl.index.errors import IndexAwayError
from dedupcrawl.index.steps import Step

Result = TypeVar("Result")


Steps = Generator[Step, Any, Result]
"""A page that is being judged: yields what the index is to do for it, and returns the verdict.

If the index fails, `judge_batch` raises the error inside the generator of the page concerned.
"""


def judge_batch(index: Index, pages: Iterable[Steps[Result]]) -> list[Result]:
    """The verdicts on pages, which `Detector.steps` began, in their order, as if judged one after the other.

    The function searches the index for all pages before it adds the first, so one request may add some pages and drop
    others. It then judges one by one the pages that others of the batch may affect.

    Raises:
        IndexDamagedError, OSError: The index cannot be used, and the page's generator did not catch the error; the
            index may have kept some of the pages.
    """
    running = list(pages)
    verdicts: list[Any] = [None] * len(running)
    waiting: Iterable[tuple[int, Any]] = [(number, None) for number in range(len(running))]
    is_first = True
    while True:
        numbers, decided = [], []
        for number, answer in waiting:
            steps = running[number]
            try:
                step = _next(steps, answer)
                while step.found is not None and not is_first:
                    step = _next(steps, *_answers(index, [step]))
            except StopIteration as end:
                verdicts[number] = end.value
            else:
                numbers.append(number)
                decided.append(step)
        if not decided:
            return verdicts
        is_first = False
        waiting = zip(numbers, _answers(index, decided), strict=True)


def judge_alone(index: Index, steps: Steps[Result]) -> Result:
    """The verdict on a page that is judged by itself; raises what `judge_batch` does."""
    try:
        step = steps.send(None)
        while True:
            try:
                (answer,) = index.carry_out((step,))
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        verdict: Result = end.value
        return verdict


def _next(steps: Steps[Result], answer: Any) -> Step:
    return steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)


def _answers(index: Index, decided: Sequence[Step]) -> list[Any]:
    """The answer to each step, or the error; after an error each step is tried alone, so that it affects no other."""
    try:
        return index.carry_out(decided)
    except Exception as error:
        if len(decided) == 1 or isinstance(error, IndexAwayError):
            return [error] * len(decided)
        return [answer for one in decided for answer in _answers(index, [one])]
