"""Papers' algorithms on their own examples."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.url_rules.dasgupta import ARGUMENTS, FAN_OUT, RewriteMatcher, RewriteRule, pairwise, parse, write
from benchmarks.url_rules.dasgupta import learn as learn_dasgupta
from benchmarks.url_rules.dust import (
    ABSOLUTE_DEFICIENCY,
    LARGEST_BUCKET,
    LEAST_SUPPORT,
    LONGEST_SUBSTRING,
    RELATIVE_DEFICIENCY,
    SubstringRule,
    check,
    eliminate_redundancies,
    learn,
    likely_rules,
    refined_by,
    tokenize,
    validate,
)
from tests.fixtures import table_of

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


@table_of("reading", "rules_of_the_paper")
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


URLS = st.builds(
    lambda host, path, query: (
        f"http://{host}.com{''.join('/' + part for part in path)}{'?' * bool(query)}{'&'.join(query)}"
    ),
    st.sampled_from(["h", "www.h"]),
    st.lists(st.sampled_from(["", "a", "b.html", "%20"]), max_size=4),
    st.lists(st.sampled_from(["a", "a=", "a=1", "b=1", "b=22"]), max_size=3),
)


def rule_of(source: str, target: str) -> RewriteRule:
    return pairwise(parse(source), parse(target))


@given(URLS, URLS)
def test_the_rule_of_a_pair_takes_its_source_to_its_target(source: str, target: str) -> None:
    rule = rule_of(source, target)
    expected = write(parse(target))
    assert rule.apply(source) == (expected if expected != write(parse(source)) else None)


def test_session_id_of_a_pair_is_a_literal() -> None:
    rule = rule_of("http://www.xyz.com/show.php?sid=71829", "http://www.xyz.com/show.php?sid=17628")
    assert dict(rule.context) == parse("http://www.xyz.com/show.php?sid=71829")
    assert rule.transformation == (((ARGUMENTS, "sid="), ("literal", "17628")),)


def test_wikipedia_is_a_rule_of_key_references() -> None:
    pages = [f"Page_{n}" for n in range(FAN_OUT)]
    rows = [(f"http://en.wikipedia.org/wiki/{page}", page) for page in pages]
    rows += [(f"http://en.wikipedia.org/?title={page}", page) for page in pages]
    learned = learn_dasgupta(rows)
    assert len(learned.rules) == 1
    assert learned.rules[0].kind == "rewrite"
    images = {
        learned.rules[0].apply(f"http://en.wikipedia.org/{form}Casino_Royale") for form in ("wiki/", "?title=")
    } - {None}
    assert images <= {"http://en.wikipedia.org/?title=Casino_Royale", "http://en.wikipedia.org/wiki/Casino_Royale"}
    assert len(images) == 1


def test_irrelevant_path_component_of_amazon() -> None:
    books = [f"B{n:09d}" for n in range(FAN_OUT)]
    rows = [(f"http://www.amazon.com/Title-{book}/dp/{book}", book) for book in books]
    rows += [(f"http://www.amazon.com/dp/{book}", book) for book in books]
    (rule,) = learn_dasgupta(rows).rules
    assert rule.apply("http://www.amazon.com/Lord-Rings/dp/B000634DCW") == "http://www.amazon.com/dp/B000634DCW"
    assert rule.apply("http://www.amazon.com/Lord-Rings/gp/B000634DCW") is None


def test_session_ids_become_a_wildcard() -> None:
    url = "http://cs.stanford.edu/degrees/mscs/faq/index.php?sid={}&cat={}"
    rows = [(url.format(67000 + 7 * n + m, n), f"page {n}") for n in range(FAN_OUT) for m in range(2)]
    learned = learn_dasgupta(rows)
    assert [rule.kind for rule in learned.rules] == ["equivalence"]
    matcher = learned.matcher()
    assert matcher.canonical(url.format(1, 8)) == matcher.canonical(url.format(2, 8))
    assert matcher.canonical(url.format(1, 8)) != matcher.canonical(url.format(1, 9))


def test_positions_from_the_start_need_a_rule_for_each_depth() -> None:
    """The weakness that Koppula et al. remove by counting from the end as well (Sect. 2.1, arizona.edu)."""
    deep = [
        (f"http://ag.arizona.edu/srnr/about/{n}{end}", f"d{n}") for n in range(FAN_OUT) for end in ("", "/index.html")
    ]
    flat = [(f"http://ag.arizona.edu/{n}{end}", f"f{n}") for n in range(FAN_OUT) for end in ("", "/index.html")]
    assert len(learn_dasgupta(deep + flat).rules) == 2


def test_rules_that_run_in_a_circle_end_at_the_shortest_url() -> None:
    there, back = rule_of("http://h/aa", "http://h/b"), rule_of("http://h/b", "http://h/aa")
    matcher = RewriteMatcher([there, back])
    assert matcher.canonical("http://h/aa") == matcher.canonical("http://h/b") == "http://h/b"
