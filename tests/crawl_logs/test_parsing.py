from __future__ import annotations

import json
import multiprocessing
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from dedupcrawl.crawl_logs import page_files
from dedupcrawl.crawl_logs.page_files import Wanted, read_pages
from dedupcrawl.crawl_logs.tally import Tally
from tests.crawl_logs.test_warc import answer
from tests.crawls.site import page, prose


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    rows = []
    for number in range(40):
        url = f"http://a.example/{number}"
        text = number % 4 == 1 or number < 3
        rows.append({"url": url, "text": prose(number)} if text else {"url": url, "html": page(prose(number))})
    lines = [json.dumps(row) for row in rows]
    lines[7] = "{"
    json_lines, warc = tmp_path / "pages.jsonl", tmp_path / "pages.warc"
    json_lines.write_text("\n".join(lines))
    warc.write_bytes(b"".join(answer(f"http://b.example/{number}", page(prose(number))) for number in range(9)))
    return [json_lines, warc]


@pytest.mark.parametrize("chunk", [1, 5_000, 1 << 20])
def test_workers_give_the_same_pages_in_the_same_order(
    files: list[Path], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "_CHUNK_BYTES", chunk)
    here, elsewhere = Tally(), Tally()
    wanted = Wanted(fields=True, ignore=("re:[aeiou]+",))
    pages = list(read_pages(files, here, wanted=wanted, workers=1))
    assert len(pages) == 48
    assert list(read_pages(files, elsewhere, wanted=wanted, workers=2)) == pages
    assert here == elsewhere
    assert [(row.unit, row.line) for row in here.broken] == [("line", 8)]


def test_no_process_outlives_pages_that_are_not_wanted_any_more(files: list[Path]) -> None:
    before = set(multiprocessing.active_children())
    pages = read_pages(files, Tally(), workers=2)
    for _ in range(10):
        next(pages)
    pages.close()
    for process in set(multiprocessing.active_children()) - before:
        assert wait([process.sentinel], 60)  # not is_alive: the pool's thread may be the one that learns of the end
