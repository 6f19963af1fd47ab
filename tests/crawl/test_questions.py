"""What hosts and canonical URLs are asked, and what waits for their answers; real ones: tests/crawls/test_trials.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.questions import ErrorPages, Questions, ask_for_error
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import DedupSettings
from tests.crawls.site import page, prose

HOST = "a.example"


class Asked:
    """In the place of what fetches: keeps the questions."""

    def __init__(self) -> None:
        self.questions: list[tuple[Request, Callable[[Response | None], None]]] = []

    def fetch(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        self.questions.append((request, answered))


def made(index: TemporaryIndex | None = None) -> tuple[Questions, Asked, ErrorPages, Batch]:
    index = index or TemporaryIndex([])
    asked, errors, batch = Asked(), ErrorPages(), Batch(index)
    sending: Any = asked
    return Questions(Pages(DedupSettings.read({}), index), batch, sending), asked, errors, batch


def test_what_waits_is_done_in_its_order_once_the_host_has_answered_and_costs_nothing_else() -> None:
    questions, asked, errors, batch = made()
    done: list[str] = []

    def fails() -> None:
        raise RuntimeError("an enemy's page")

    questions.then(HOST, "before", lambda: done.append("before"))
    ask_for_error(questions, errors, HOST, f"http://{HOST}/1")
    ask_for_error(questions, errors, HOST, f"http://{HOST}/2")
    questions.then(HOST, "one", lambda: done.append("one"))
    questions.then(HOST, "fails", fails)
    questions.then(HOST, "two", lambda: done.append("two"))
    assert (done, questions.are_open) == (["before"], True)
    [(request, answered)] = asked.questions
    text = page(prose(1, 200)).encode()
    answered(HtmlResponse(request.url, body=text, encoding="utf-8"))
    batch.flush()
    assert (done, questions.are_open) == (["before", "one", "two"], False)
    assert errors.is_new("b.example")
    assert not errors.is_new(HOST)


def test_a_host_that_does_not_answer_holds_nothing_back() -> None:
    questions, asked, errors, batch = made()
    done: list[str] = []
    ask_for_error(questions, errors, HOST, f"http://{HOST}/1")
    questions.then(HOST, "one", lambda: done.append("one"))
    asked.questions[0][1](None)
    batch.flush()
    assert (done, questions.are_open) == (["one"], False)
