"""Comparisons of URL rules, and their metrics."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.period_codes import feature_string, m2, period_codes
from benchmarks.url_rules import dasgupta, dust, ours
from benchmarks.url_rules.comparison import Method, SiteResult, compare
from benchmarks.url_rules.dasgupta import RewriteMatcher, RewriteRule, pairwise, parse
from benchmarks.url_rules.data import LARGEST_CLUSTER, half, split
from benchmarks.url_rules.method import Learned
from benchmarks.url_rules.metrics import Merges, Reduction, chosen, merges, reduction, score_rules
from dedupcrawl.urls.rule import Rule


@pytest.fixture(scope="module")
def report() -> Any:
    """Its module, which takes a second to import: by the worker that tests it alone."""
    return pytest.importorskip("benchmarks.url_rules.report", reason="needs the bench extra")


LEVELS = (1.0, 0.95, 0.5)
SITE = [(f"http://h.org/{n}{end}", str(n)) for n in range(200) for end in ("", "/index.html")]
METHODS = {"Dasgupta": Method(dasgupta.learn, 2), "DUST": Method(dust.learn, 2)}


@pytest.fixture(scope="module")
def results() -> list[SiteResult]:
    sites: dict[str, list[tuple[str, str]]] = {"h.org": SITE, "empty.org": []}
    return [
        compare(site, rows, METHODS, {"as it is": str}, seeds=[0, 1], levels=LEVELS) for site, rows in sites.items()
    ]


def test_both_papers_find_the_index_file(results: list[SiteResult]) -> None:
    result = results[0]
    assert (result.urls, result.redundant) == (400, 200)
    for name in METHODS:
        assert [(run.recall, run.precision) for run in result.merges[name]] == [(1.0, 1.0)] * 2
        assert result.kept[name] == [1, 1]
    assert [run.recall for run in result.merges["as it is"]] == [0.0, 0.0]


def test_what_acts_only_with_others_is_covered_by_what_they_do_together() -> None:
    """One rule decodes what a URL carries, the other takes the URL: alone it would change none."""
    rules = (
        Rule("decode", "equivalence", match="/go/{url}", to="/go/{url|base64}"),
        Rule("take", "equivalence", match="/go/http:/{}/{p}", to="/{p}"),
        Rule("idle", "rewrite", drop=("sid",)),
    )
    learned = Learned([ours.OwnRule(place, "h.org", rule) for place, rule in enumerate(rules)], ours.OwnMatcher)
    rows = [
        (f"http://h.org/go/{base64.b64encode(f'http:/{host}/{page}'.encode()).decode().rstrip('=')}", str(page))
        for page in range(5)
        for host in "ab"
    ]
    scores = score_rules(learned, rows)
    assert [(score.coverage, score.wrong) for score in scores] == [(10, 0), (10, 0), (0, 0)]
    assert chosen(replace(learned, valid=lambda _: range(3)), scores, 0.95, 10) == [0, 1]


def test_the_report_holds_every_table(report: Any, results: list[SiteResult]) -> None:
    text = report.markdown(results, "curve.png")
    assert "| h.org | 400 | 200 | 0.000 / – | 1.000 / 1.000 | 1.000 / 1.000 |" in text
    assert "| empty.org | 0 | 0 | – / – | – / – | – / – |" in text
    assert "| = 1 | 1 | 50.00 | 1 | 50.00 |" in text
    assert "would reach 50.00 %" in text
    assert "![Cumulative coverage by number of rules](curve.png)" in text
    assert "![" not in report.markdown(results, None)


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


ONE = ("甲乙丙丁戊己庚辛。壬癸子丑寅卯辰巳，午未申酉戌亥。", "天地玄黄宇宙洪荒。")


def test_five_characters_on_both_sides_of_each_full_stop() -> None:
    assert period_codes(ONE) == ["丁戊己庚辛壬癸子丑寅", "未申酉戌亥天地玄黄宇", "黄宇宙洪荒"]
    assert period_codes(("没有句号",)) == []


def test_m2_drops_a_longer_page_for_a_shorter_one() -> None:
    longer = (*ONE, "日月盈昃辰宿列张。寒来暑往秋收冬藏。闰余成岁律吕调阳。云腾致雨露结为霜。")
    assert m2([ONE, longer])[0] == [None, None]  # what follows changes the last code: two of three agree
    assert m2([(*ONE, "日"), longer])[0] == [None, None]
    assert m2([(*ONE, "日月盈昃辰"), longer])[0] == [None, 0]


def test_m2_knows_nothing_of_pages_without_full_stops() -> None:
    page = ("没有句号的网页",)
    assert m2([page, page]) == ([None, None], 0)


def test_m2_sees_no_difference_in_the_middle_of_sentences() -> None:
    one = ("今天北京市的最高气温是十五度而最低气温是三度左右。请您注意保暖增加衣物谢谢大家收听。",)
    other = ("今天北京市的最高气温是二十度而最低气温是三度左右。请您注意保暖增加衣物谢谢大家收听。",)
    assert m2([one, other]) == ([None, 0], 2)


def test_m3_takes_all_strings_or_both_ends() -> None:
    assert feature_string(ONE) == "".join(period_codes(ONE))
    assert feature_string(("一二三四五六七八九十甲乙丙丁戊己庚辛壬癸",)) == "一二三四五六七八九十甲乙丙丁戊己庚辛壬癸"
    assert feature_string(()) == ""
