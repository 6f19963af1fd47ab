from __future__ import annotations

from dedupcrawl.crawl_logs.tally import BrokenRow, Tally


def test_counts_all_and_names_the_first_few_of_each_file() -> None:
    tally = Tally()
    tally.skip("a", "bad", 100, range(1, 101))
    tally.skip("b", "worse", 1, [7])
    tally.skip("a", "bad", 0)
    assert tally.skipped == {"bad": 100, "worse": 1}
    assert tally.broken == [*(BrokenRow("a", line, "bad") for line in range(1, 6)), BrokenRow("b", 7, "worse")]
