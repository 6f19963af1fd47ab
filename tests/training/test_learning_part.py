from __future__ import annotations

import polars as pl

from dedupcrawl.crawl_logs.rows import SCHEMA
from dedupcrawl.training import learning_part
from dedupcrawl.training.learning_part import bounded, learn_bounded, learn_sites
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import page_rows
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules


def site(sizes: list[int], importance: list[float | None] | None = None) -> pl.DataFrame:
    clusters = [number for number, size in enumerate(sizes) for _ in range(size)]
    importance = importance or [None] * len(clusters)
    schema = {"url": pl.String, "cluster": pl.UInt32, "importance": pl.Float64}
    return pl.DataFrame([[f"{i:06}" for i in range(len(clusters))], clusters, importance], schema=schema)


def test_a_site_that_is_small_enough_stays_whole() -> None:
    assert bounded(site([2] * 500), 1000).height == 1000


def test_one_huge_cluster_is_thinned_at_equal_steps() -> None:
    kept = bounded(site([5000, 3]), 1000)
    assert kept.filter(pl.col("cluster") == 1).height == 3
    step = 5000 // learning_part.MOST_OF_A_CLUSTER
    assert kept.filter(pl.col("cluster") == 0)["url"].to_list() == [f"{i:06}" for i in range(0, 5000, step)]


def test_of_a_huge_cluster_the_important_urls_are_taken_as_well_as_others() -> None:
    importance: list[float | None] = [float(i >= 900) * 100 + 1 for i in range(1000)]
    kept = bounded(site([1000], importance), 100)["url"].to_list()
    assert kept[-1] >= "000900"
    assert sum(url < "000900" for url in kept) >= len(kept) - 2


def test_many_clusters_are_sampled_whole() -> None:
    kept = bounded(site([3] * 3000), 1000)
    assert set(kept.group_by("cluster").len()["len"]) == {3}
    assert 450 < kept.height < 750


def test_duplicates_come_first_and_single_pages_beside_them() -> None:
    kept = bounded(site([2] * 100 + [1] * 9000), 1000)
    sizes = kept.group_by("cluster").len()["len"]
    assert (sizes == 2).sum() == 100
    assert 700 < (sizes == 1).sum() < 900
    mixed = bounded(site([2] * 9000 + [1] * 9000), 1000).group_by("cluster").len()["len"]
    assert 350 < (mixed == 1).sum() < 450


def test_what_is_taken_does_not_depend_on_how_many_urls_a_cluster_has() -> None:
    one, other = (set(bounded(site([size] * 3000), 1000)["cluster"].unique()) for size in (2, 4))
    assert other < one


def test_of_a_site_of_nothing_but_absurd_urls_nothing_is_learned() -> None:
    pages = pl.DataFrame({"url": ["x" * 30_000, "y" * 30_000], "cluster": [0, 1]}).with_columns(
        pl.col("cluster").cast(pl.UInt32),
        importance=pl.lit(None, pl.Float64),
    )
    rule = Rule("r", "rewrite", drop=("sid",), source="learned")
    learned = learn_bounded("a.com", pages, LearningOptions(), [rule])
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
    rows = page_rows(pl.DataFrame(log, schema=SCHEMA))
    learned = learn_sites(rows, LearningOptions(), carried_over)
    assert learned.failed == ["a.com: ValueError: odd"]
    assert [rules.site for rules in learned.rules] == ["b.com"]
