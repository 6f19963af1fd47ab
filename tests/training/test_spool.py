from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dedupcrawl.training import parts as module
from dedupcrawl.training.parts import spooled


@pytest.mark.parametrize(("buffer", "rows_a_part"), [(10**6, 10**6), (10**6, 10), (7, 10), (1, 1)])
def test_every_site_is_in_one_part_in_the_order_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, buffer: int, rows_a_part: int
) -> None:
    monkeypatch.setattr(module, "_BUFFER_ROWS", buffer)
    monkeypatch.setattr(module, "_ROWS_A_PART", rows_a_part)
    rows = pl.DataFrame({"site": [f"site{i % 13}" for i in range(100)], "url": [str(i) for i in range(100)]})
    parts = spooled(rows.iter_slices(9), tmp_path)
    assert sum(part.rows for part in parts) == 100
    assert [part.rows for part in parts] == sorted((part.rows for part in parts), reverse=True)
    seen: set[str] = set()
    for part in parts:
        there = part.read()
        assert there.height == part.rows
        assert seen.isdisjoint(there["site"])
        seen |= set(there["site"])
        for (site,), group in there.group_by("site"):
            assert group["url"].to_list() == rows.filter(pl.col("site") == site)["url"].to_list()
    assert len(seen) == 13
    if buffer == 10**6 and rows_a_part == 10**6:
        assert len(parts) == 1


def test_no_rows_no_parts(tmp_path: Path) -> None:
    assert spooled([pl.DataFrame(schema={"site": pl.String})], tmp_path) == []
