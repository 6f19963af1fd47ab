from __future__ import annotations

import polars as pl
import pytest

from dedupcrawl.crawl_logs.rows import SCHEMA
from dedupcrawl.training import learning_part
from dedupcrawl.training.learning_part import LearningOptions, bounded, learn_bounded, learn_sites, short
from dedupcrawl.training.page_rows import SiteNames, page_rows
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_part, "MOST_URLS", 1000)
    monkeypatch.setattr(learning_part, "MOST_OF_A_CLUSTER", 100)
    monkeypatch.setattr(learning_part, "MOST_BYTES", 20_000)
    monkeypatch.setattr(learning_part, "MOST_BYTES_OF_A_CLUSTER", 2_000)


def site(sizes: list[int]) -> pl.DataFrame:
    clusters = [number for number, size in enumerate(sizes) for _ in range(size)]
    return pl.DataFrame({"url": [f"{i:06}" for i in range(len(clusters))], "cluster": clusters}).with_columns(
        pl.col("cluster").cast(pl.UInt32)
    )


@pytest.mark.usefixtures("_small")
def test_a_site_that_is_small_enough_stays_whole() -> None:
    assert bounded(site([2] * 500)).height == 1000


@pytest.mark.usefixtures("_small")
def test_one_huge_cluster_is_thinned_at_equal_steps() -> None:
    kept = bounded(site([5000, 3]))
    assert kept.filter(pl.col("cluster") == 1).height == 3
    assert kept.filter(pl.col("cluster") == 0)["url"].to_list() == [f"{i:06}" for i in range(0, 5000, 50)]


@pytest.mark.usefixtures("_small")
def test_many_clusters_are_sampled_whole() -> None:
    kept = bounded(site([3] * 3000))
    assert set(kept.group_by("cluster").len()["len"]) == {3}
    assert 800 < kept.height < 1200


def long_urls(lengths: list[list[int]]) -> pl.DataFrame:
    rows = [("x" * length, cluster) for cluster, sizes in enumerate(lengths) for length in sizes]
    return pl.DataFrame(rows, schema={"url": pl.String, "cluster": pl.UInt32}, orient="row")


@pytest.mark.usefixtures("_small")
def test_long_urls_count_for_more() -> None:
    kept = short(long_urls([[100] * 3] * 300))  # 90,000 bytes
    assert set(kept.group_by("cluster").len()["len"]) == {3}
    assert 10_000 < kept["url"].str.len_bytes().sum() < 30_000
    assert short(long_urls([[100] * 2] * 100)).height == 200


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("sizes", [[100] * 300, [1000, *[10] * 29] * 20, [5000, *[10] * 9] * 20])
def test_a_cluster_of_long_urls_is_thinned_wherever_these_stand(sizes: list[int]) -> None:
    kept = short(long_urls([sizes, [10, 10]]))
    of_first = kept.filter(pl.col("cluster") == 0)["url"].str.len_bytes()
    assert of_first.sum() <= 2_000
    assert kept.filter(pl.col("cluster") == 1).height == 2


@pytest.mark.usefixtures("_small")
def test_of_a_site_of_nothing_but_absurd_urls_nothing_stays() -> None:
    pages = long_urls([[30_000], [30_000]])
    assert short(pages).is_empty()
    rule = Rule("r", "rewrite", drop=("sid",), source="learned")
    learned = learn_bounded("a.com", pages.with_columns(importance=pl.lit(None, pl.Float64)), LearningOptions(), [rule])
    assert (learned.rules, learned.carried_over, learned.failed) == ([], [SiteRules("a.com", (rule,))], [])


def test_a_site_whose_carried_over_rules_break_something_costs_no_other_site_its_rules() -> None:
    def carried_over(site: str) -> tuple[Rule, ...]:
        if site == "a.com":
            raise ValueError("odd")
        return ()

    log = [
        {"url": f"http://{site}/{page}?sid={page + session}", "text_digest": f"{page}"}
        for site in ("a.com", "b.com")
        for page in range(40)
        for session in range(3)
    ]
    rows = page_rows(pl.DataFrame(log, schema=SCHEMA), SiteNames())
    learned = learn_sites(rows, LearningOptions(), carried_over)
    assert learned.failed == ["a.com: ValueError: odd"]
    assert [rules.site for rules in learned.rules] == ["b.com"]
