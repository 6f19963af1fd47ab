"""The replay of a small stored crawl, from end to end."""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import warm

ROOT = Path(__file__).parents[2]
TEXTS = [
    "The lock keeper still writes down every boat that goes up, and in a dry August she may ask the crews to wait. ",
    "Flour matters more than method, and rye wakes a tired starter sooner than anything else in a cold kitchen. ",
    "Run your fingers slowly around the inside of the tyre before you do anything clever with glue and patches. ",
    "Cherry tomatoes ripen weeks before the big ribbed ones and go on until the first frost of a long autumn. ",
]


def replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["benchmarks.replay", *arguments], cwd=ROOT, env={**os.environ, "WARM_PYTHON": warm.python()})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pages on two hosts: each text twice; only the first half is linked."""
    folder = tmp_path_factory.mktemp("data")
    site = folder / "crawls" / "small"
    site.mkdir(parents=True)
    urls = [f"https://{host}.example/{n}" for host in "ab" for n in range(len(TEXTS))]
    links = "".join(
        f'<a href="{url}">go</a>' for url in [*urls[:4], "https://a.example/missing", "mailto:x@y", "http://["]
    )
    with lzma.open(site / "pages.jsonl.xz", "wt", encoding="utf-8") as file:
        for n, url in enumerate(urls):
            html = f"<title>{n % 4}</title><body><article><p>{TEXTS[n % 4] * 4}</p></article>{links}</body>"
            file.write(json.dumps({"url": url, "html": html}) + "\n")
    return folder


def test_every_stored_page_is_fetched_and_the_crawls_are_compared(data: Path, tmp_path: Path) -> None:
    done = replay("small", "--data", str(data), "--out", str(tmp_path), "--calls")
    assert done.returncode == 0, done.stderr
    rows = {match[1].strip(): match[2].split() for match in re.finditer(r"^  ([\w ,]+?)  +(.*)$", done.stdout, re.M)}
    assert rows["pages fetched"] == ["8", "8"]
    assert rows["items kept"] == ["8", "4"]
    assert rows["dropped by exact"] == ["4"]
    for name in ("Python", "C"):
        off, on, added = map(int, rows[name])
        assert 100 < off < on
        assert added == pytest.approx(on - off, abs=1)
