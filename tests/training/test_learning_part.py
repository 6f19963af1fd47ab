from __future__ import annotations

from dedupcrawl.crawl_logs.rows import canonical_row
from dedupcrawl.training import learning_part
from dedupcrawl.training.clusters import SitePages
from dedupcrawl.training.learning_part import bounded, learn_bounded, learn_sites
from dedupcrawl.training.options import LearningOptions
from dedupcrawl.training.page_rows import page_rows
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules


def site(sizes: list[int], importance: list[float] | None = None) -> SitePages:
    clusters = [number for number, size in enumerate(sizes) for _ in range(size)]
    return SitePages([f"{i:06}" for i in range(len(clusters))], clusters, importance or [0.0] * len(clusters))


def taken(pages: SitePages, most: int) -> SitePages:
    return pages.at(bounded(pages, most))


def test_one_huge_cluster_is_thinned_at_equal_steps() -> None:
    kept = taken(site([5000, 3]), 1000)
    assert kept.sizes()[1] == 3
    step = 5000 // learning_part.MOST_OF_A_CLUSTER
    urls = [url for url, cluster in zip(kept.urls, kept.clusters, strict=True) if cluster == 0]
    assert urls == [f"{i:06}" for i in range(0, 5000, step)]


def test_of_a_huge_cluster_the_important_urls_are_taken_as_well_as_others() -> None:
    importance = [float(i >= 900) * 100 + 1 for i in range(1000)]
    kept = taken(site([1000], importance), 100).urls
    assert kept[-1] >= "000900"
    assert sum(url < "000900" for url in kept) >= len(kept) - 2


def test_of_a_site_of_nothing_but_absurd_urls_nothing_is_learned() -> None:
    pages = SitePages(["x" * 30_000, "y" * 30_000], [0, 1], [0.0, 0.0])
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
    rows = page_rows(map(canonical_row, log))
    learned = learn_sites(rows, LearningOptions(), carried_over)
    assert learned.failed == ["a.com: ValueError: odd"]
    assert [rules.site for rules in learned.rules] == ["b.com"]
