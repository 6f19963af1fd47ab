from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.doubts import narrowed
from dedupcrawl.urls.learning.hypotheses import hypothesis

SID = hypothesis(drop=("sid",))
GOOD = [f"http://a.com/view/{i}?sid={i}" for i in range(60)]


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
    rule = narrowed(SID, bad + GOOD, [False] * len(bad) + [True] * len(GOOD))
    assert rule is not None
    assert (rule.within, rule.hosts, rule.unless) == (within, hosts, unless)


def test_there_is_no_exception_where_the_wrong_ones_are_anywhere_or_few() -> None:
    anywhere = [i % 15 != 0 for i in range(60)]
    assert narrowed(SID, GOOD, anywhere) is None
    assert narrowed(SID, ["http://a.com/list/1?sid=1", *GOOD], [False] + [True] * len(GOOD)) is None
    assert narrowed(SID, [], []) is None


def test_exceptions_come_to_an_end() -> None:
    rule, rounds = SID, 0
    while True:
        bad = [f"http://a.com/list{rounds}/{i}?sid={i}" for i in range(9)]
        finer = narrowed(rule, bad + GOOD, [False] * len(bad) + [True] * len(GOOD))
        if finer is None:
            break
        rule, rounds = finer, rounds + 1
    assert 1 < rounds < 20
