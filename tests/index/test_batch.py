"""Pages that are judged together: as if one had been judged after the other, with few questions to a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dedupcrawl.detection.analysis import Analysis
from dedupcrawl.detection.batch import judge_batch
from dedupcrawl.detection.comparison import Asked
from dedupcrawl.detection.detector import Detector
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.index.redis import RedisIndex
from dedupcrawl.index.steps import Kept
from dedupcrawl.page import Page
from dedupcrawl.verdict import Verdict
from tests.detection.judged import CHECKS, prose
from tests.index.conftest import AnyIndex
from tests.index.toys import CHECKS as TOYS
from tests.index.toys import keeping
from tests.index.toys import page as toy

Places = TemporaryIndex | RedisIndex


@pytest.fixture(params=["lmdb", "redis"])
def place(request: pytest.FixtureRequest) -> Iterator[Places]:
    """An empty index of the default checks."""
    is_redis = request.param == "redis"
    made = RedisIndex(request.getfixturevalue("redis_url"), CHECKS) if is_redis else TemporaryIndex(CHECKS)
    yield made
    made.close()


def pages(count: int) -> list[Page]:
    """Pairs of equal texts."""
    return [
        Page(f"http://a.example/{number}", paragraphs=(" ".join(prose(200, number // 2)),)) for number in range(count)
    ]


def judged(detector: Detector, batch: list[Page], canonical: str | None = None) -> list[Verdict]:
    asked = Asked(CHECKS, canonical=canonical, request=lambda: b"ask")
    return judge_batch(detector.index, (detector.steps(Analysis(page, detector.index.secret), asked) for page in batch))


def test_of_two_equal_pages_in_a_batch_the_first_is_kept(place: Places) -> None:
    verdicts = judged(Detector(place, run="one"), pages(20))
    assert [verdict.url for verdict in verdicts] == [page.url for page in pages(20)]
    assert [verdict.duplicate_of for verdict in verdicts[::2]] == [None] * 10
    assert [verdict.duplicate_of for verdict in verdicts[1::2]] == [page.url for page in pages(20)[::2]]
    assert len(list(place.entries())) == 10
    assert place.verify() == []


def test_the_same_url_twice_in_a_batch_is_an_update(place: Places) -> None:
    one, other = pages(4)[0], pages(4)[2]
    verdicts = judged(Detector(place, run="one"), [one, Page(one.url, paragraphs=other.paragraphs)])
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique"]
    assert len(list(place.entries())) == 1


def test_two_variants_of_one_url_in_a_batch_are_two_pages(place: Places) -> None:
    one, other = pages(4)[0], pages(4)[2]
    verdicts = judged(Detector(place, run="one"), [one, other], canonical="http://a.example/")
    assert [verdict.verdict for verdict in verdicts] == ["unique", "unique"]
    assert sorted(entry.url for entry in place.entries()) == ["http://a.example/", other.url]


def test_two_workers_offer_the_same_batch(redis_url: str) -> None:
    one, other = RedisIndex(redis_url, TOYS), RedisIndex(redis_url, TOYS)
    mine = [keeping(one.search(toy(f"http://a/{number}", number + 10))) for number in range(5)]
    theirs = [keeping(other.search(toy(f"http://b/{number}", number + 12))) for number in range(5)]
    assert one.carry_out(mine) == [Kept(number) for number in range(5)]
    assert other.carry_out(theirs) == [None, None, None, Kept(5), Kept(6)]
    assert one.verify() == other.verify() == []
    one.close()
    other.close()


def test_what_nothing_concerns_is_added_with_the_batch(index: AnyIndex) -> None:
    found = [
        keeping(index.search(toy(url, number))) for url, number in (("http://a", 7), ("http://b", 7), ("http://c", 8))
    ]
    assert index.carry_out(found) == [Kept(0), None, Kept(1)]
