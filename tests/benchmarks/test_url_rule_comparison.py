from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.url_rules import dasgupta, dust, ours
from benchmarks.url_rules.comparison import Method, SiteResult, compare
from benchmarks.url_rules.method import Learned
from benchmarks.url_rules.metrics import chosen, score_rules
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
