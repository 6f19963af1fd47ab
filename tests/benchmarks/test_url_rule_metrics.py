from __future__ import annotations

import pytest

from benchmarks.url_rules.dasgupta import RewriteMatcher, RewriteRule, pairwise, parse
from benchmarks.url_rules.data import LARGEST_CLUSTER, half, split
from benchmarks.url_rules.method import Learned
from benchmarks.url_rules.metrics import Merges, Reduction, chosen, merges, reduction, score_rules

WILD = RewriteRule(
    (((1, ""), "http"), ((2, ""), "h"), ((3, ""), "p"), ((1_000_000, "sid="), None)),
    (((1_000_000, "sid="), ("any", "")),),
)


def test_precision_counts_urls_taken_to_a_url_of_another_cluster() -> None:
    rule = RewriteRule(
        (((1, ""), "http"), ((2, ""), "h"), ((3, ""), None), ((4, ""), "i")), (((4, ""), ("delete", "")),)
    )
    rows = [
        ("http://h/a/i", "A"),
        ("http://h/a", "A"),
        ("http://h/b/i", "B"),
        ("http://h/b", "C"),
        ("http://h/c/i", "D"),
    ]
    (score,) = score_rules(Learned([rule], RewriteMatcher), rows)
    assert (score.coverage, score.wrong) == (3, 1)
    assert score.precision == pytest.approx(2 / 3)


def test_an_equivalence_is_judged_by_the_first_url_of_its_identity() -> None:
    rows = [("http://h/p?sid=1", "A"), ("http://h/p?sid=2", "A"), ("http://h/p?sid=3", "B")]
    (score,) = score_rules(Learned([WILD], RewriteMatcher), rows)
    assert (score.coverage, score.wrong) == (3, 1)


def test_rules_are_chosen_by_precision_and_coverage() -> None:
    rules = [pairwise(parse(f"http://h/{n}"), parse("http://h/0")) for n in (1, 2)] + [WILD]
    rows = [
        ("http://h/0", "A"),
        ("http://h/1", "A"),
        ("http://h/2", "B"),
        *((f"http://h/p?sid={n}", "C") for n in range(3)),
    ]
    learned = Learned(rules, RewriteMatcher)
    scores = score_rules(learned, rows)
    assert chosen(learned, scores, 0.95, 1) == [2, 0]
    assert chosen(learned, scores, 0.0, 1) == [2, 0, 1]
    assert chosen(learned, scores, 0.0, 2) == [2]
    assert chosen(Learned(rules, RewriteMatcher, lambda precision: [1]), scores, 1.0, 1) == [1]


def test_reduction_ratio_and_average_reduction_per_rule() -> None:
    one = reduction(2, ["a", "a", "b", "b", "b"])
    assert (one.ratio, one.per_rule) == (0.6, 1.5)
    both = one + Reduction(1, 5, 5)
    assert (both.ratio, both.per_rule) == (0.3, 1.0)
    assert Reduction(0, 0, 0).ratio == Reduction(0, 0, 0).per_rule == 0.0


def test_merges_are_right_when_the_labels_agree() -> None:
    rows = [("u1", "A"), ("u2", "A"), ("u3", "B"), ("u4", "B")]
    found = merges(["x", "x", "x", "y"], rows)
    assert found == Merges(redundant=2, made=2, right=1)
    assert (found.recall, found.precision) == (0.5, 0.5)
    assert merges("abcd", rows).precision is None
    assert merges("ab", rows[1:3]).recall is None


def test_a_split_cuts_no_cluster_and_caps_the_test_half() -> None:
    rows = [(f"http://h/{label}/{n}", str(label)) for label in range(40) for n in range(30)]
    train, test = split(rows, seed=1)
    labels = [{label for _, label in part} for part in (train, test)]
    assert labels[0].isdisjoint(labels[1])
    assert labels[0] | labels[1] == {str(label) for label in range(40)}
    assert len(train) == 30 * len(labels[0])
    assert len(test) == LARGEST_CLUSTER * len(labels[1])
    assert all(half(label, 1) == 1 for label in labels[1])
    assert split(rows, seed=2)[0] != train
