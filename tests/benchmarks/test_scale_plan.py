from __future__ import annotations

import numpy as np
import pytest

from benchmarks.scale_plan import crawl_plan, fullest_of, index_limits, shards


def test_the_fullest_shard_holds_what_its_sites_hold() -> None:
    sizes = np.array([5.0, 3.0, 2.0, 1.0])
    where = np.random.default_rng(7).integers(3, size=4)
    loads = [sum(size for size, shard in zip(sizes, where, strict=True) if shard == number) for number in range(3)]
    assert fullest_of(sizes, 3, 7) == max(loads)
    assert fullest_of(sizes, 1, 7) == sizes.sum()


@pytest.mark.parametrize("pages", [10**6, 10**9])
def test_the_plan_grows_with_the_pages(pages: int) -> None:
    plan, twice = dict(crawl_plan(pages)), dict(crawl_plan(2 * pages))
    assert plan.keys() == twice.keys()
    assert float(twice["index on disk"].split()[0].replace(",", "")) == pytest.approx(2 * pages * 995 / 1e9, abs=1)


def test_every_index_ends_somewhere() -> None:
    assert all(float(ends.split()[0]) < 1e10 for *_, ends, _ in index_limits())


def test_a_quota_evens_shards_out_and_leaves_pages_unjudged() -> None:
    rows = [row for row in shards(10**9) if row[0] == "1.2" and row[2] == "128"]
    (_, _, _, _, without, _, none), (_, _, _, _, within, _, some) = rows
    assert float(within) < float(without)
    assert none == "0%" != some
