"""The crash harness: what it takes for lost, and a small run of it from end to end."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

from benchmarks.crash_safety.texts import Texts
from benchmarks.replay.store import StoredPage
from tests import warm
from tests.crawls.site import page, prose

ROOT = Path(__file__).parents[2]


def stored(name: str, text: str) -> StoredPage:
    return StoredPage(f"https://a.example/{name}", "text/html; charset=utf-8", page(text).encode())


def test_a_text_is_lost_when_no_page_shows_it_nor_one_that_is_nearly_it() -> None:
    story, other = prose(1, 200), prose(2, 200)
    edited = story.replace(story.split()[50], "Zwieback")
    texts = Texts([stored("1", story), stored("2", story), stored("3", edited), stored("4", other), stored("5", "Hi")])
    assert len(texts) == 3
    assert texts.lost([f"https://a.example/{n}" for n in (1, 3, 4)]) == []
    assert [text.urls for text in texts.lost(["https://a.example/2"])] == [("https://a.example/4",)]
    assert texts.lost(["https://a.example/4"])[0].urls == ("https://a.example/1", "https://a.example/2")
    assert texts.duplicates([f"https://a.example/{n}" for n in (1, 2, 3, 5, 5)]) == 1


def test_nothing_is_lost_in_a_small_crawl(tmp_path: Path) -> None:
    count = 48
    site = tmp_path / "crawls" / "small"
    site.mkdir(parents=True)
    with lzma.open(site / "pages.jsonl.xz", "wt", encoding="utf-8") as file:
        for number in range(count):
            html = page(prose(number % (count - 10), 40))
            file.write(json.dumps({"url": f"https://a.example/all/{number}", "html": html}) + "\n")
    options = ["--data", str(tmp_path), "--site", "small", "--kills", "1"]
    env = {**os.environ, "WARM_PYTHON": warm.python()}
    done = warm.run(["benchmarks.crash_safety", "kills", *options], cwd=ROOT, env=env, timeout=600)
    assert done.returncode == 0, done.stderr
    assert f"small: {count} pages, {count - 10} main texts" in done.stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if line.startswith("| ")]
    head = rows[0]
    assert [row[head.index("texts lost")] for row in rows[2:]] == ["0"] * len(rows[2:])
    assert len(rows) > 3
