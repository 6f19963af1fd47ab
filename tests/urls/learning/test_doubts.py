from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dedupcrawl.urls.learning.context_keys import NO_PATTERNS, Patterns
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.doubts import narrowed
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.proof import Judged, Proof
from dedupcrawl.urls.learning.token_texts import Ints
from dedupcrawl.urls.learning.url_columns import UrlColumns
from dedupcrawl.urls.rule import Rule

SID = hypothesis(drop=("sid",))
GOOD = [f"http://a.com/view/{i}?sid={i}" for i in range(60)]


def narrower(
    rule: Rule,
    wrong: list[str],
    right: list[str],
    most_right: float,
    patterns: Patterns = NO_PATTERNS,
    forms: Ints | None = None,
) -> Rule | None:
    columns = UrlColumns.of([*wrong, *right, "data:no-url"])
    rows = np.arange(len(columns))
    judged = Judged(rows[: len(wrong)], rows[: len(wrong)] if forms is None else forms, rows[len(wrong) :])
    return narrowed(rule, columns, judged, most_right, patterns)


@pytest.mark.parametrize(
    ("bad", "within", "hosts", "unless"),
    [
        ([f"http://a.com/list/{i}?sid={i}" for i in range(9)], ("!/list/{*}",), (), ()),
        ([f"http://m.a.com/view/{i}?sid={i}" for i in range(9)], (), ("!m.a.com",), ()),
        ([f"http://a.com/view/{i}?sid={i}&page=2" for i in range(9)], (), (), ("page",)),
    ],
)
def test_the_exception_is_what_the_wrong_ones_have_in_common(
    bad: list[str], within: tuple[str, ...], hosts: tuple[str, ...], unless: tuple[str, ...]
) -> None:
    rule = narrower(SID, bad, GOOD, 10.0)
    assert rule is not None
    assert (rule.within, rule.hosts, rule.unless) == (within, hosts, unless)


def test_there_is_no_exception_where_the_wrong_ones_are_anywhere_or_few() -> None:
    assert narrower(SID, GOOD[::15], GOOD, 10.0) is None
    assert narrower(SID, ["http://a.com/list/1?sid=1"], GOOD, 10.0) is None
    assert narrower(SID, [], [], 10.0) is None


def test_what_refuted_a_rule_once_is_not_excepted_by_its_name() -> None:
    """All that a user's one hidden page is called would be an exception; of other users it says nothing."""
    bad = [f"http://a.com/list/{i}?sid={i}" for i in range(9)]
    assert narrower(SID, bad, GOOD, 10.0, forms=np.zeros(9, dtype=np.int64)) is None
    assert narrower(SID, bad, GOOD, 10.0, forms=np.arange(9) // 5) is not None


def test_an_exception_gives_up_no_more_right_ones_than_it_may() -> None:
    some = [f"http://a.com/list/{i}?sid={i}" for i in range(20)]
    assert narrower(SID, some[:4], some[4:] + GOOD, 3.0) is None
    rule = narrower(SID, some[:4], some[4:] + GOOD, 5.0)
    assert rule is not None
    assert rule.within == ("!/list/{*}",)


def test_a_kind_of_values_may_be_an_exception() -> None:
    bad = [f"http://a.com/w?title=Special:Links/{i}&sid={i}" for i in range(20)]
    good = [f"http://a.com/w?title=Page_{i}&sid={i}" for i in range(40)]
    corpus = Corpus.of("a.com", bad + good, range(60))
    rule = narrower(SID, bad, good, 4.0, corpus.patterns)
    assert rule is not None
    assert len(rule.unless) == 1
    assert rule.unless[0].startswith("title=Special:")


def test_exceptions_come_to_an_end() -> None:
    rule, rounds = SID, 0
    while True:
        bad = [f"http://a.com/list{rounds}/{i}?sid={i}" for i in range(9)]
        finer = narrower(rule, bad, GOOD, 10.0)
        if finer is None:
            break
        rule, rounds = finer, rounds + 1
    assert 1 < rounds < 20


@pytest.mark.parametrize("scale", [1, 300, 400])
def test_exceptions_of_a_large_site_are_those_of_a_small_one(scale: int) -> None:
    """Of many URLs some are looked at, and neither the first ones only nor the sessions of one kind."""
    urls, labels = [], []
    for i in range(20 * scale):
        urls += [f"http://a.com/list/{i}?sid={sid}" for sid in "ab"]
        labels += [2 * i, 2 * i + 1]
    for i, page in enumerate(["list/x"] * 30 * scale + ["view/"] * 200 * scale, 40 * scale):
        urls += [f"http://a.com/{page}{i}?sid={sid}" for sid in "ab"]
        labels += [i] * 2
    proof = Proof("a.com", urls, labels, [0] * len(urls))
    proof.apply([replace(SID, id="r")])
    rule = narrowed(SID, proof.columns, proof.judged("r"), 8.0)
    assert rule is not None
    assert (rule.within, rule.unless) == (("!/list/{*}",), ())
