from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.training import parts as module
from dedupcrawl.training.page_rows import PageRow, SiteRows
from dedupcrawl.training.parts import spooled


@pytest.mark.parametrize("rows_a_part", [10**6, 10, 1])
def test_every_site_is_in_one_part_in_the_order_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_a_part: int
) -> None:
    monkeypatch.setattr(module, "_ROWS_A_PART", rows_a_part)
    batches: list[SiteRows] = []
    for start in range(0, 100, 9):
        batches.append({})
        for number in range(start, min(start + 9, 100)):
            batches[-1].setdefault(f"site{number % 13}", []).append(PageRow(str(number), simhash=-number))
    parts = spooled(batches, tmp_path)
    assert sum(part.rows for part in parts) == 100
    assert [part.rows for part in parts] == sorted((part.rows for part in parts), reverse=True)
    seen: set[str] = set()
    for part in parts:
        there = part.read()
        assert sum(map(len, there.values())) == part.rows
        assert seen.isdisjoint(there)
        seen |= set(there)
        for site, rows in there.items():
            numbers = [number for number in range(100) if f"site{number % 13}" == site]
            assert rows == [PageRow(str(number), simhash=-number) for number in numbers]
    assert len(seen) == 13
    assert (len(parts) == 1) == (rows_a_part == 10**6)


def test_no_rows_no_parts(tmp_path: Path) -> None:
    assert spooled([{}], tmp_path) == []
