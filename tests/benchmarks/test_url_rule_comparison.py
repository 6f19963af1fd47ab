from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.url_rules import dasgupta, dust
from benchmarks.url_rules.comparison import COVERAGES, LEVELS, Comparison, Method, compare

report = pytest.importorskip("benchmarks.url_rules.report", reason="needs the bench extra")

SITE = [(f"http://h.org/{n}{end}", str(n)) for n in range(200) for end in ("", "/index.html")]
METHODS = {"Dasgupta": Method(dasgupta.learn, 2), "DUST": Method(dust.learn, 2)}


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compare([("h.org", SITE), ("empty.org", [])], METHODS, {"as it is": str}, seeds=[0, 1])


def test_both_papers_find_the_index_file(result: Comparison) -> None:
    assert result.urls == {"h.org": (400, 200), "empty.org": (0, 0)}
    for name in METHODS:
        assert [(run.recall, run.precision) for run in result.merges[name]["h.org"]] == [(1.0, 1.0)] * 2
        assert result.kept[name]["h.org"] == [1, 1]
    assert [run.recall for run in result.merges["as it is"]["h.org"]] == [0.0, 0.0]


def test_reductions_are_added_up_over_sites_and_splits(result: Comparison) -> None:
    for found in result.reductions.values():
        assert set(found) == {(level, coverage) for level in LEVELS for coverage in COVERAGES}
        assert found[1.0, 10].rules == 2
        assert found[1.0, 10].ratio == result.ideal.ratio == 0.5
        assert found[1.0, 1000].rules == 0


def test_the_report_holds_every_table(result: Comparison) -> None:
    text = report.markdown(result, "curve.png")
    assert "| h.org | 400 | 200 | 0.000 / – | 1.000 / 1.000 | 1.000 / 1.000 |" in text
    assert "| empty.org | 0 | 0 | – / – | – / – | – / – |" in text
    assert "| = 1 | 1 | 50.00 | 1 | 50.00 |" in text
    assert "would reach 50.00 %" in text
    assert "![Cumulative coverage by number of rules](curve.png)" in text
    assert "![" not in report.markdown(result, None)


def test_curve_adds_up_the_largest_rules_first() -> None:
    assert report.curve([1, 20, 5]) == [20, 25, 26]
    assert report.curve([1, 20, 5], least=5) == [20, 25]
    assert report.curve([]) == []


def test_figure_3_is_a_picture(result: Comparison, tmp_path: Path) -> None:
    report.draw(result, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
