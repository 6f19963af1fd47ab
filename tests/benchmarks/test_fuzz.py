"""A short fuzzing run: nothing raises, hangs or takes much memory. The long one is `python -m benchmarks.fuzz`."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz import seeds
from benchmarks.fuzz.mutation import LARGEST, mutated
from benchmarks.fuzz.run import Fuzzed, Outcome, case, fuzz, targets

TARGETS = targets()
BY_NAME = {one.name: one for one in TARGETS}


def test_mutated_input_is_taken_by_everything() -> None:
    outcome = Outcome()
    for outcome in fuzz(TARGETS, 20 * len(TARGETS), seed=20_261_122, seconds=600):
        assert not outcome.failures, [(failure.target, failure.why) for failure in outcome.failures]
    assert set(outcome.cases) == set(BY_NAME)
    assert sum(outcome.cases.values()) > 100


@given(st.text() | st.text(alphabet="htp:/.?&=#%@[]aé中\x1b\u202e\ud800\n ", max_size=80))
def test_any_url_is_taken(url: str) -> None:
    for name in ("urls", "normalizer"):
        BY_NAME[name].target(url.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=300) | st.text(alphabet="<>/=\"'&;#! -divpaxsg\n", max_size=300).map(str.encode))
def test_any_page_is_taken(page: bytes) -> None:
    for name in ("extraction", "checks"):
        BY_NAME[name].target(page)


def test_what_fails_is_told() -> None:
    def raising(data: bytes) -> None:
        raise KeyError("no such thing")

    def panicking(data: bytes) -> None:
        raise BaseException("a panic of a compiled library")

    def large(data: bytes) -> None:
        assert len(bytearray(600 << 20)) == 600 << 20

    outcome = Outcome()
    for number, target in enumerate((raising, panicking)):
        case(Fuzzed(str(number), target, [b""], 1), b"input", outcome)
    assert [failure.why.partition(":")[0] for failure in outcome.failures] == ["KeyError", "BaseException"]
    assert outcome.failures[0].data == b"input"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchmarks.fuzz.run.SLOW", -1.0)
        case(Fuzzed("slow", lambda data: None, [b""], 1), b"", outcome)
    assert "took 0.0 s" in outcome.failures[-1].why
    with pytest.MonkeyPatch.context() as patched:  # a busy machine may take more than a second for so much memory
        patched.setattr("benchmarks.fuzz.run.SLOW", float("inf"))
        outcome.peak = 0
        case(Fuzzed("large", large, [b""], 1), b"", outcome)
    assert "MB" in outcome.failures[-1].why


def test_mutations_are_bounded_and_the_same_for_the_same_seed() -> None:
    for number in range(200):
        one, other = Random(number), Random(number)
        data = mutated(seeds.PAGES[0], seeds.PAGES, one)
        assert data == mutated(seeds.PAGES[0], seeds.PAGES, other)
        assert len(data) <= LARGEST
