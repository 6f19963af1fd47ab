"""The tree of Algorithm 5: contexts in which a transformation is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dedupcrawl.urls.compiled_rule import CompiledRule
from dedupcrawl.urls.learning.acceptance import Bar, cost_of
from dedupcrawl.urls.learning.contexts import Condition, Context, Tree, common_context
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.evidence import meetings
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.rule import Rule

SORT = hypothesis(drop=("sort",))


def corpus_of(clusters: Sequence[Sequence[str]]) -> Corpus:
    labels = [label for label, cluster in enumerate(clusters) for _ in cluster]
    return Corpus.of("a.com", [f"http://a.com/{url}" for cluster in clusters for url in cluster], labels)


def contexts(clusters: Sequence[Sequence[str]], rule: Rule = SORT) -> list[Context]:
    corpus = corpus_of(clusters)
    found = meetings(CompiledRule(rule), corpus)
    return Tree(found, corpus.labels, corpus.keys, Bar(0.95), cost_of(rule)).contexts()


def same(path: str, count: int = 30) -> list[list[str]]:
    """Pages that are the same however they are sorted."""
    return [[f"{path}{i}?sort=1", f"{path}{i}?sort=2"] for i in range(count)]


def different(path: str, count: int = 30) -> list[list[str]]:
    """Pages that are not."""
    return [[f"{path}{i}?sort={order}"] for i in range(count) for order in (1, 2)]


def test_what_holds_everywhere_needs_no_context() -> None:
    assert contexts(same("a/") + same("b/")) == [()]


def test_what_holds_nowhere_has_none() -> None:
    assert contexts(different("a/")) == []
    assert contexts([["x?sort=1", "x?sort=2"]]) == []  # a single cluster


def test_the_key_that_tells_right_from_wrong_best_divides() -> None:
    (one,) = contexts(same("list/") + [page for name in "abcde" for page in different(f"{name}/")])
    assert one == (Condition(("front", "1"), ("list",)),)


def test_values_with_one_subtree_share_it() -> None:
    wrong = [page for name in "efghij" for page in different(f"{name}/", 20)]
    (one,) = contexts(same("a/") + same("b/") + wrong)
    assert one == (Condition(("front", "1"), ("a", "b")),)


def test_a_value_that_is_wrong_is_an_exception() -> None:
    right = [page for name in "abcdefgh" for page in same(f"{name}/", 20)]
    (one,) = contexts(right + different("x/", 10))
    assert one == (Condition(("front", "1"), ("x",), holds=False),)


def test_two_conditions_where_one_is_not_enough() -> None:
    pages = same("a/x") + different("a/y") + different("b/x") + different("b/y")
    (one,) = contexts(pages)
    assert {condition.key for condition in one} == {("front", "1"), ("part", "1")}


def common(clusters: Sequence[Sequence[str]], right: Sequence[int], *, kinds: bool = False) -> Context:
    corpus = corpus_of(clusters)
    everything = np.arange(len(corpus.columns))
    return common_context(np.array(right), everything, corpus.keys, len(right), set(), kinds=kinds)


def test_what_all_evidence_has_and_not_all_else_stays() -> None:
    pages = [[f"a/{i}"] for i in range(20)] + [[f"b/{i}"] for i in range(20)]
    assert common(pages, range(20)) == (Condition(("front", "1"), ("a",)),)
    assert common(pages, range(40)) == ()
    assert common(pages, range(4)) == ()  # of four clusters, sameness says nothing


def test_the_kind_of_a_segment_stays_where_other_kinds_were_never_seen() -> None:
    pages = [[f"{i}/friends-{i * 7919}"] for i in range(20)]
    assert common(pages, range(20)) == ()
    assert common([["a/b"] for _ in pages], range(1), kinds=True) == ()
    assert common(pages, range(20), kinds=True) == (Condition(("part", "1"), ("friends-{}",)),)
