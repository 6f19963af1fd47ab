"""The search: what pairs suggest, which of it is tried, and what is accepted in which order."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.corpus import Corpus
from dedupcrawl.urls.learning.hypotheses import hypothesis
from dedupcrawl.urls.learning.search import Found, accept, expose, likely, rank, suggestions
from dedupcrawl.urls.learning.transformation import Transformation
from dedupcrawl.urls.rule import Rule

BAR = Bar(0.95)


def corpus_of(clusters: Sequence[Sequence[str]]) -> Corpus:
    labels = [label for label, cluster in enumerate(clusters) for _ in cluster]
    return Corpus.of("a.com", [f"http://a.com/{url}" for cluster in clusters for url in cluster], labels)


def same(path: str, arg: str, count: int = 20) -> list[list[str]]:
    return [[f"{path}{i}", f"{path}{i}?{arg}=1"] for i in range(count)]


def test_pairs_suggest_and_tell_by_which_clusters() -> None:
    found = suggestions(corpus_of(same("w", "sid", 5)), [range(5)], {})
    assert found[Transformation(drop=("sid",))] == set(range(5))
    assert Transformation(drop=("id",)) not in found
    assert not suggestions(corpus_of([["x"], ["y"]]), [range(2)], {})


def test_only_clusters_that_are_asked_suggest() -> None:
    found = suggestions(corpus_of(same("w", "sid", 6)), [range(2), range(4, 6)], {})
    assert found[Transformation(drop=("sid",))] == {0, 1, 4, 5}


def test_what_most_clusters_teach_is_tried_first_and_what_one_suggests_is_not() -> None:
    a, b, c = (Transformation(drop=(name,)) for name in "abc")
    suggested = {a: {1, 2}, b: {1, 2, 3}, c: {1}}
    expected = [hypothesis(drop=("s",))]
    tried = likely(suggested, {a: 1, b: 3, c: 1}, expected)
    assert [rule.drop for rule in tried] == [("b",), ("a",), ("s",)]
    assert [rule.drop for rule in likely(suggested, {a: 0, b: 1, c: 0}, ())] == [("b",)]
    many = {Transformation(drop=(f"x{i}",)): {1, 2} for i in range(100)}
    assert len(likely(many, dict.fromkeys(many, 1), ())) == 30


def accepted(clusters: Sequence[Sequence[str]], rules: Sequence[Rule]) -> list[Found]:
    return accept(rules, corpus_of(clusters), BAR)


def test_the_rule_that_brings_most_comes_first() -> None:
    rules = [hypothesis(drop=("few",)), hypothesis(drop=("many",)), hypothesis(drop=("none",))]
    found = accepted(same("a", "few", 10) + same("b", "many", 30), rules)
    assert [one.rule.drop for one in found] == [("many",), ("few",)]
    assert [one.counts.right for one in found] == [30, 10]


def test_what_another_rule_has_done_needs_no_second_one() -> None:
    rules = [hypothesis("/{p*}/x", "/{p*}"), hypothesis("/a/{p*}/x", "/a/{p*}")]
    found = accepted([[f"a/{i}/x", f"a/{i}"] for i in range(30)] + [[f"b/{i}/x", f"b/{i}"] for i in range(30)], rules)
    assert [one.rule.match for one in found] == ["/{p*}/x"]


def test_a_rule_is_accepted_where_it_holds() -> None:
    wrong = [[f"{name}/{i}?v={v}"] for name in "bcdef" for i in range(20) for v in (1, 2)]
    right = [[f"a/{i}?v={v}" for v in (1, 2)] for i in range(20)]
    (found,) = accepted(right + wrong, [hypothesis(drop=("v",))])
    assert (found.rule.within, found.origin.within) == (("/a/{*}",), ())
    assert not accepted(wrong, [hypothesis(drop=("v",))])


def test_rank_prefers_a_rewrite_to_a_wildcard_and_the_shorter_of_two() -> None:
    counts = accepted(same("a", "v"), [hypothesis(drop=("v",))])[0].counts
    rewrite, wildcard = hypothesis("/x/{p*}", "/{p*}"), hypothesis("/{}/{p*}", "/{}/{p*}")
    ranked = sorted((Found(rule, rule, counts) for rule in (wildcard, rewrite)), key=rank)
    assert [one.rule for one in ranked] == [rewrite, wildcard]


def test_of_rules_that_bring_the_same_the_one_that_forgets_least_is_taken() -> None:
    sections = ["news", "shop", "blog", ""]
    pages = [f"{section}/x{i}".lstrip("/") for section in sections for i in range(10)]
    corpus = corpus_of([[page, f"mobile/{page}"] for page in pages])
    last = hypothesis("/{p*}/{x0}", "/{x0}")
    moved = hypothesis("/mobile/{p*}", "/{p*}")
    found = accept([last, hypothesis("/{}/{p*}", "/{p*}"), moved], corpus, BAR)
    assert [one.origin for one in found] == [moved]


def test_urls_in_base64_are_exposed_where_many_are_and_nothing_meets() -> None:
    def encoded(page: int) -> str:
        return base64.urlsafe_b64encode(f"http://a.com/long-name-{page}".encode()).decode().rstrip("=")

    corpus = corpus_of([[f"add/uenc/{encoded(i)}", f"p{i}"] for i in range(12)])
    (found,) = expose(corpus)
    assert found.rule.match == "/{p*}/uenc/{url}"
    assert any("http://a.com/long-name-3" in form.text for form in corpus.forms(np.arange(len(corpus.columns))))
    assert not expose(corpus_of([[f"add/uenc/{encoded(i)}"] for i in range(3)]))
    long = "x" * 5000
    assert not expose(corpus_of([[f"{long}/{encoded(i)}"] for i in range(30)]))  # no rule can name what is before it
