from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.scale_plan import (
    FULL,
    MEMORY_GB,
    PAGES,
    SHARD_PAGES,
    crawl_plan,
    fullest_of,
    index_limits,
    shards,
    tables,
)


def test_the_fullest_shard_holds_what_its_sites_hold() -> None:
    sizes = np.array([5.0, 3.0, 2.0, 1.0])
    where = np.random.default_rng(7).integers(3, size=4)
    loads = [sum(size for size, shard in zip(sizes, where, strict=True) if shard == number) for number in range(3)]
    assert fullest_of(sizes, 3, 7) == max(loads)
    assert fullest_of(sizes, 1, 7) == sizes.sum()


@pytest.mark.parametrize("pages", [10**8, 10**9])
def test_the_plan_grows_with_the_pages(pages: int) -> None:
    for column, page in enumerate(PAGES, 1):
        plan, twice = ({row[0]: row[column] for row in crawl_plan(size)} for size in (pages, 2 * pages))
        assert plan.keys() == twice.keys()
        disk = float(twice["indexes on disk"].split()[0].replace(",", ""))
        assert disk == pytest.approx(2 * pages * page.disk / 1e9, abs=1)


def test_servers_hold_whole_indexes() -> None:
    for column, page in enumerate(PAGES, 1):
        plan = {row[0]: row[column] for row in crawl_plan(10**9)}
        count = int(plan[f"indexes of {SHARD_PAGES:,} pages"])
        each = int(plan["… each, on Redis"].split(", ")[1].split()[0])
        servers = int(plan["… all on Redis"].split(", ")[-1].split()[0])
        assert servers * each >= count > (servers - 1) * each
        assert each * SHARD_PAGES * page.redis <= MEMORY_GB * FULL * 1e9


def test_the_docs_have_what_the_command_prints() -> None:
    page = (Path(__file__).parents[2] / "docs" / "measured" / "cost.md").read_text(encoding="utf-8")
    assert [title for title, text in tables(10**9, 10**10).items() if text not in page] == []


def test_every_index_ends_somewhere() -> None:
    assert all(float(row[-2].split()[0]) < 1e10 for row in index_limits())


def test_a_quota_evens_shards_out_and_leaves_pages_unjudged() -> None:
    rows = [row for row in shards(10**9) if row[0] == "1.2" and row[2] == "128"]
    (_, _, _, _, without, _, none), (_, _, _, _, within, _, some) = rows
    assert float(within) < float(without)
    assert none == "0%" != some
