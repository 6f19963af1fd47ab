from __future__ import annotations

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import meetings
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.irrelevant import with_known_arguments
from dedupcrawl.urls.rule import Rule

TITLE = hypothesis("/w?title={}", drop=("*",))


def known(urls: list[tuple[str, int]]) -> Rule | None:
    corpus = Corpus.of("a.com", [url for url, _ in urls], [label for _, label in urls])
    return with_known_arguments(TITLE, meetings(CompiledRule(TITLE), corpus), corpus)


def test_only_arguments_that_made_no_difference_are_dropped() -> None:
    urls = [(f"http://a.com/w?title={i}{more}", i) for i in range(9) for more in ("&sid=1", "&sid=2", "")]
    urls += [("http://a.com/w?title=1&search=x", 1), ("http://a.com/w?title=2&search=y", 99)]
    rule = known(urls)
    assert rule is not None
    assert rule.drop == ("sid",)


def test_no_rule_is_left_where_every_argument_matters() -> None:
    assert known([(f"http://a.com/w?title={i}&page={n}", 9 * i + n) for i in range(4) for n in range(4)]) is None


def test_a_rule_with_very_many_such_arguments_drops_them_all() -> None:
    names = [f"n{i}" for i in range(40)]
    urls = [(f"http://a.com/w?title={i}&{name}=1", i) for i in range(3) for name in names]
    rule = known(urls)
    assert rule is not None
    assert rule.drop == ("*",)
