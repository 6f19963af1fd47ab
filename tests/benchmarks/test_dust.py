from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.url_rules.dust import (
    ABSOLUTE_DEFICIENCY,
    LARGEST_BUCKET,
    LEAST_SUPPORT,
    LONGEST_SUBSTRING,
    RELATIVE_DEFICIENCY,
    SubstringMatcher,
    SubstringRule,
    check,
    eliminate_redundancies,
    learn,
    likely_rules,
    refined_by,
    tokenize,
    validate,
)

LOGS = st.lists(
    st.tuples(
        st.builds(
            "h/{}{}{}".format, *map(st.sampled_from, (["a", "b", "ab"], ["", "/", "/a/b"], ["", ".htm", ".html"]))
        ),
        st.sampled_from("xyz"),
    ),
    max_size=20,
    unique_by=lambda row: row[0],
)


def rule(alpha: str, beta: str, support: int = 3) -> SubstringRule:
    sides = [
        tuple(tokenize(side.strip("^$"))[not side.startswith("^") : None if side.endswith("$") else -1])
        for side in (alpha, beta)
    ]
    return SubstringRule(sides[0], sides[1], support)


@pytest.mark.parametrize(
    ("alpha", "beta", "url", "image"),
    [
        ("/index.html$", "$", "http://www.wsdm-conference.org/2010/index.html", "http://www.wsdm-conference.org/2010"),
        ("/people/", "/~", "http://h.edu/people/idish", "http://h.edu/~idish"),
        ("/story?id=", "/story_", "http://domain/story?id=7", "http://domain/story_7"),
        ("http://google.com/news", "http://news.google.com", "http://google.com/news", "http://news.google.com"),
        ("/index.html$", "$", "http://h/index.html/a", None),
        ("ex", "", "http://h/index", None),  # tokens, not letters
    ],
)
def test_rules_of_the_paper(alpha: str, beta: str, url: str, image: str | None) -> None:
    assert rule(alpha, beta).apply(url) == image


def test_index_file_and_alias_are_learned_together() -> None:
    rows = [(f"http://h/{n}/{end}", f"page {n}") for n in "abcdefg" for end in ("", "index.html")]
    rows += [(f"http://h/{where}{n}", f"home {n}") for n in "abcdefg" for where in ("people/", "~")]
    learned = learn(rows)
    matcher = learned.matcher(learned.valid(1.0) if learned.valid else None)
    assert matcher.canonical("http://h/new/index.html") == matcher.canonical("http://h/new/")
    assert matcher.canonical("http://h/people/new") == matcher.canonical("http://h/~new")
    assert matcher.canonical("http://h/new/other.html") == "http://h/new/other.html"


def test_story_example_keeps_the_refined_rule_of_equal_support() -> None:
    wide, narrow = rule("story?id=", "story_", 100), rule("/story?id=", "/story_", 98)
    assert eliminate_redundancies([wide, narrow]) == [narrow]
    assert eliminate_redundancies([wide, rule("/story?id=", "/story_", 50)]) != [narrow]


def test_a_rule_with_counterexamples_is_not_valid() -> None:
    good = [(f"http://h/{n}{end}", n) for n in "abcdefgh" for end in ("", "?print")]
    bad = [(f"http://h/{n}{end}", n + end) for n in "stuvw" for end in ("", "?print")]
    rules = [rule("?print$", "$")]
    assert check(rules, good + bad) == [(8, 5)]
    assert validate(rules, [(8, 5)], 0.95) == []
    assert validate(rules, [(8, 5)], 0.5) == [0]


def test_a_rule_that_refines_a_valid_one_is_left_out() -> None:
    rules = [rule("story?id=", "story_"), rule("/story?id=", "/story_")]
    assert validate(rules, [(9, 0), (9, 0)], 0.95) == [0]
    assert validate(rules, [(0, 9), (9, 0)], 0.95) == [1]


@given(LOGS)
def test_likely_rules_are_those_of_all_pairs(rows: list[tuple[str, str]]) -> None:
    buckets: dict[tuple[tuple[str, ...], tuple[str, ...]], list[tuple[tuple[str, ...], str]]] = {}
    for url, label in rows:
        tokens = tuple(tokenize(url))
        for i in range(len(tokens) + 1):
            for j in range(i, min(len(tokens), i + LONGEST_SUBSTRING) + 1):
                buckets.setdefault((tokens[:i], tokens[j:]), []).append((tokens[i:j], label))
    support: Counter[tuple[tuple[str, ...], ...]] = Counter()
    for bucket in buckets.values():
        if 2 <= len(bucket) <= LARGEST_BUCKET:
            for (one, label), (other, its_label) in combinations(bucket, 2):
                if label == its_label:
                    support[tuple(sorted((one, other), key=lambda s: (len("".join(s)), "".join(s)), reverse=True))] += 1
    expected = {sides: n for sides, n in support.items() if n >= LEAST_SUPPORT}
    assert {(found.alpha, found.beta): found.support for found in likely_rules(rows)} == expected


def refines(one: SubstringRule, other: SubstringRule) -> bool:
    return (other.alpha, other.beta) in set(refined_by(one.alpha, one.beta))


@given(LOGS)
def test_redundancies_are_those_of_a_window_compared_rule_by_rule(rows: list[tuple[str, str]]) -> None:
    rules = likely_rules(rows)
    gone = [False] * len(rules)
    for i, one in enumerate(rules):
        if gone[i]:
            continue
        for j in range(i + 1, len(rules)):
            other = rules[j]
            if one.support - other.support > max(RELATIVE_DEFICIENCY * one.support, ABSOLUTE_DEFICIENCY):
                break
            if gone[j]:
                continue
            if refines(one, other):
                gone[j] = True
            elif refines(other, one):
                gone[i] = True
                break
    assert eliminate_redundancies(rules) == [rule for rule, out in zip(rules, gone, strict=True) if not out]


@given(LOGS)
def test_the_matcher_finds_what_each_rule_finds_alone(rows: list[tuple[str, str]]) -> None:
    rules = likely_rules(rows)
    matcher = SubstringMatcher(rules)
    for url, _ in rows:
        alone = [(i, image) for i, rule in enumerate(rules) if (image := rule.apply(url)) is not None]
        assert sorted(matcher.images(url)) == alone


@given(LOGS)
def test_canonical_forms_are_final(rows: list[tuple[str, str]]) -> None:
    matcher = SubstringMatcher(likely_rules(rows))
    for url, _ in rows:
        assert matcher.canonical(matcher.canonical(url)) == matcher.canonical(url)
