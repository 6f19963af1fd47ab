"""What hosts and canonical URLs are asked, and what waits for their answers; real ones: tests/crawls/test_trials.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.questions import ErrorPages, Questions, ask_for_canonical, ask_for_error
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import DedupSettings
from tests.crawl.test_trials import ASKED, CANONICAL, STORY, Setting, look
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


def canonical(folder: Path) -> tuple[Setting, Questions, Asked]:
    setting, (questions, asked, *_) = Setting(folder), made()
    return setting, questions, asked


def answer(request: Request, status: int = 200) -> Response:
    return HtmlResponse(request.url, status=status, body=page(prose(1)).encode(), encoding="utf-8")


def test_each_trial_that_lacks_the_page_of_its_canonical_url_gets_it(tmp_path: Path) -> None:
    index = TemporaryIndex([])
    setting, (questions, asked, *_) = Setting(tmp_path), made(index)
    story = look(prose(1), secret=index.secret)
    urls = [ASKED, f"{ASKED}2", f"{ASKED}3"]
    for number, url in enumerate(urls):
        setting.begin(url)
        setting.trials.asked_for(url, story)
        ask_for_canonical(questions, setting.trials, CANONICAL, led_nowhere=False)
        if number == 0:  # the second comes while the first waits
            continue
        assert questions.are_open
        request, answered = asked.questions.pop()
        assert not asked.questions
        answered(answer(request))
        assert not questions.are_open
        assert setting.passed == urls[: number + 1]


@pytest.mark.parametrize(
    "fails", [lambda request: None, lambda request: answer(request, 503), lambda request: object()]
)
def test_a_trial_whose_canonical_url_does_not_answer_ends_and_tells_nothing(tmp_path: Path, fails: Any) -> None:
    setting, questions, asked = canonical(tmp_path)
    setting.begin()
    setting.trials.asked_for(ASKED, STORY)
    ask_for_canonical(questions, setting.trials, CANONICAL, led_nowhere=False)
    request, answered = asked.questions.pop()
    answered(fails(request))
    assert (questions.are_open, setting.trials.unmatched(), setting.passed, setting.failed) == (False, set(), [], [])


def test_what_led_nowhere_and_does_so_again_speaks_against_the_rule(tmp_path: Path) -> None:
    setting, questions, asked = canonical(tmp_path)
    setting.begin()
    setting.trials.asked_for(ASKED, STORY)
    ask_for_canonical(questions, setting.trials, CANONICAL, led_nowhere=True)
    asked.questions.pop()[1](None)
    assert [len(one.gone) for one in setting.book.watched("a.example", setting.rule.source)] == [1]
    assert not questions.are_open
