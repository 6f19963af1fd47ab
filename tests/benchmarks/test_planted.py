from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.planted import (
    cut,
    edited,
    excerpt,
    exchanged,
    head,
    in_template,
    negated,
    other_figures,
    replaced,
    shuffled,
    size,
    words,
)

TEXT = tuple(
    f"Paragraph {n} says thing{n}, and then 系统{'的方法' * (n % 3)} again in {2 * n} words." for n in range(20)
)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_replaced_words(share: float) -> None:
    new = replaced(TEXT, share, ["新词"], random.Random(1))
    assert size(new) == size(TEXT)
    assert sum(a != b for a, b in zip(words(TEXT), words(new), strict=True)) == round(share * size(TEXT))


def test_edited_words() -> None:
    new = edited(TEXT, 0.3, ["zzz"], random.Random(1))
    changed = Counter(words(TEXT)) - Counter(words(new))
    assert 0 < changed.total() <= round(0.3 * size(TEXT))
    assert "zzz" in words(new)


def test_shuffled_blocks_keep_every_paragraph() -> None:
    new = shuffled(TEXT, random.Random(3))
    assert new != TEXT
    assert sorted(new) == sorted(TEXT)


def test_cuts_and_excerpts_are_of_their_share() -> None:
    assert words(cut(TEXT, 0.7)) == words(TEXT)[: round(0.7 * size(TEXT))]
    assert cut(TEXT, 1.0) == tuple(paragraph.rstrip(".") for paragraph in TEXT)
    piece = words(excerpt(TEXT, 0.4, random.Random(2)))
    assert len(piece) == pytest.approx(0.4 * size(TEXT), abs=1)
    assert " ".join(piece) in " ".join(words(TEXT))


def test_pages_of_one_template_share_it() -> None:
    template = head(TEXT, 60)
    one, two = (in_template((name * 30,), template, (0, 2)) for name in ("own ", "other "))
    assert [p for p in one if "own" not in p] == [p for p in two if "other" not in p] == list(template)
    assert Counter(words(one))["own"] == Counter(words(two))["other"] == 30


def test_other_figures() -> None:
    new = other_figures(TEXT, 8, random.Random(1))
    assert sum(a != b for a, b in zip(words(TEXT), words(new), strict=True)) == 8
    assert [len(word) for word in words(new)] == [len(word) for word in words(TEXT)]


def test_other_things_stand_wherever_the_first_stood() -> None:
    new = exchanged(("A clock for Leeds.", "The Clock of Leeds, or clocks"), {"clock": "watch", "Leeds": "York"})
    assert new == ("A watch for York.", "The Watch of York, or clocks")


@pytest.mark.parametrize("seed", range(6))
def test_a_not_more_or_less(seed: int) -> None:
    for text in (("He was guilty.", "It is so."), ("She was not there.", "It is."), ("可以使用。", "不支持。")):
        new = negated(text, random.Random(seed))
        assert new is not None
        assert abs(sum(map(len, new)) - sum(map(len, text))) in {1, 4}
    assert negated(("Nothing to turn around",), random.Random(seed)) is None
