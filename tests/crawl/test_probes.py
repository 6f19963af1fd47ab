"""What hosts and canonical URLs are asked, and what waits for their answers; real ones: tests/crawls/test_trials.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from dedupcrawl.crawl.batch import Batch
from dedupcrawl.crawl.pages import Pages
from dedupcrawl.crawl.probes import ErrorPages, Probes, ask_for_error
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import DedupSettings
from tests.crawls.site import page, prose

HOST = "a.example"


class Asked:
    """In the place of what fetches: keeps the questions."""

    def __init__(self) -> None:
        self.probes: list[tuple[Request, Callable[[Response | None], None]]] = []

    def fetch(self, request: Request, answered: Callable[[Response | None], None]) -> None:
        self.probes.append((request, answered))


def made(index: TemporaryIndex | None = None) -> tuple[Probes, Asked, ErrorPages, Batch]:
    index = index or TemporaryIndex([])
    asked, errors, batch = Asked(), ErrorPages(), Batch(index)
    sending: Any = asked
    return Probes(Pages(DedupSettings.read({}), index), batch, sending), asked, errors, batch


def test_what_waits_is_done_in_its_order_once_the_host_has_answered_and_costs_nothing_else() -> None:
    probes, asked, errors, batch = made()
    done: list[str] = []

    def fails() -> None:
        raise RuntimeError("an enemy's page")

    probes.then(HOST, "before", lambda: done.append("before"))
    ask_for_error(probes, errors, HOST, f"http://{HOST}/1")
    ask_for_error(probes, errors, HOST, f"http://{HOST}/2")
    probes.then(HOST, "one", lambda: done.append("one"))
    probes.then(HOST, "fails", fails)
    probes.then(HOST, "two", lambda: done.append("two"))
    assert (done, probes.are_open) == (["before"], True)
    [(request, answered)] = asked.probes
    text = page(prose(1, 200)).encode()
    answered(HtmlResponse(request.url, body=text, encoding="utf-8"))
    batch.flush()
    assert (done, probes.are_open) == (["before", "one", "two"], False)
    assert errors.is_new("b.example")
    assert not errors.is_new(HOST)


def test_a_host_that_does_not_answer_holds_nothing_back() -> None:
    probes, asked, errors, batch = made()
    done: list[str] = []
    ask_for_error(probes, errors, HOST, f"http://{HOST}/1")
    probes.then(HOST, "one", lambda: done.append("one"))
    asked.probes[0][1](None)
    batch.flush()
    assert (done, probes.are_open) == (["one"], False)
