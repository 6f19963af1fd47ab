"""Which answers with status 200 are suspected to be their host's error page."""

from __future__ import annotations

import random
import tracemalloc
from urllib.parse import urlsplit

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.core.packing import pack
from dedupcrawl.crawl.probes import ErrorPages, missing_url

HOST = "a.example"


def outline(*symbols: int) -> bytes:
    """Of symbols that are all of one kind."""
    return pack(np.array(symbols, dtype="<u2").tobytes(), bytes(len(symbols)), b"")


SORRY = outline(*range(10))
PAGE = outline(*range(100, 140))


def test_what_looks_like_an_error_page_is_suspected() -> None:
    known = ErrorPages()
    known.learn(HOST, SORRY)
    assert known.suspects(HOST, "http://a.example/1", SORRY) == ["http://a.example/1"]
    assert known.suspects(HOST, "http://a.example/2", outline(*range(8), 50, 51)) == ["http://a.example/2"]
    assert known.suspects(HOST, "http://a.example/3", outline(*range(7), 50, 51, 52)) == []
    assert known.suspects(HOST, "http://a.example/4", outline(*range(30))) == [], "it holds that, among other things"
    assert known.suspects(HOST, "http://a.example/5", PAGE) == []
    assert known.suspects("b.example", "http://b.example/", SORRY) == [], "another host"


def test_a_text_that_answers_three_canonical_urls_is_suspected_with_all_of_them() -> None:
    known = ErrorPages()
    assert known.suspects(HOST, "http://a.example/1", PAGE) == []
    assert known.suspects(HOST, "http://a.example/1", PAGE) == [], "the same URL again"
    assert known.suspects(HOST, "http://a.example/2", PAGE) == []
    three = ["http://a.example/1", "http://a.example/2", "http://a.example/3"]
    assert known.suspects(HOST, three[2], PAGE) == three
    assert known.suspects(HOST, "http://a.example/4", PAGE) == [*three, "http://a.example/4"]


def test_what_was_found_to_be_a_page_of_its_own_is_suspected_no_more() -> None:
    known = ErrorPages()
    known.learn(HOST, SORRY)
    known.learn(HOST, PAGE)
    known.trust(HOST, SORRY)
    assert known.suspects(HOST, "http://a.example/1", SORRY) == []
    assert known.suspects(HOST, "http://a.example/2", outline(*range(9), 50)) == [], "nor what looks like it"
    assert known.suspects(HOST, "http://a.example/3", PAGE) == ["http://a.example/3"]
    for number in range(5):
        assert known.suspects(HOST, f"http://a.example/{number}", SORRY) == []


def test_a_few_texts_of_a_host_and_a_few_of_its_pages_are_enough() -> None:
    known = ErrorPages()
    for number in range(10):
        known.learn(HOST, outline(*range(1000 * number, 1000 * number + 10)))
    suspected = [
        bool(known.suspects(HOST, "http://a.example/", outline(*range(n, n + 10)))) for n in range(0, 10_000, 1000)
    ]
    assert suspected == [True] * 4 + [False] * 6
    assert [known.wants(HOST) for _ in range(30)] == [True] * 20 + [False] * 10
    assert known.wants("b.example")


@given(
    st.sampled_from(["http", "https"]), st.text(alphabet="ab/.-%é", max_size=20), st.text(alphabet="a=&1", max_size=9)
)
def test_a_made_up_url_is_beside_the_one_it_is_for(scheme: str, path: str, query: str) -> None:
    url = f"{scheme}://user@a.example:8080/{path}?{query}#top"
    made, other = urlsplit(missing_url(url)), urlsplit(missing_url(url))
    assert (made.scheme, made.netloc, made.query, made.fragment) == (scheme, "user@a.example:8080", "", "")
    assert made.path.rpartition("/")[0] == urlsplit(url).path.rpartition("/")[0]
    assert made.path != other.path
    assert len(made.path.rpartition("/")[2]) == 20


def test_texts_take_no_room() -> None:
    """However long they are: twenty thousand of them are remembered."""
    known = ErrorPages()
    tracemalloc.start()
    for number in range(200):
        text = random.Random(number).randbytes(65_000)
        known.suspects(HOST, f"http://{HOST}/{number}", text)
        known.trust(HOST, text)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 200 * 1_000
