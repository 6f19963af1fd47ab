"""What crawls of a small stored mirror save, from end to end."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path

from tests import warm
from tests.crawls.site import prose

ROOT = Path(__file__).parents[2]


def test_a_site_of_which_each_page_has_two_urls(tmp_path: Path) -> None:
    """All are linked from the first page; later crawls know what the first has found out."""
    (tmp_path / "crawls" / "mirrors").mkdir(parents=True)
    (tmp_path / "mirrors").mkdir()
    plain = [f"http://a.example/item/{n}" for n in range(30)]
    urls = ["http://a.example/", *(f"{url}{end}" for url in plain for end in ("", "?print=1"))]
    links = "".join(f'<a href="{url}">go</a>' for url in urls)
    table = ["#url\tmime\ttext_sha1\tn_words"]
    with lzma.open(tmp_path / "crawls" / "mirrors" / "small.jsonl.xz", "wt", encoding="utf-8") as file:
        for url in urls:
            text, named = prose(number_of(url), 60), url.partition("?")[0]
            body = f"<title>{named}</title><article><p>{text}</p></article>{links}"
            file.write(json.dumps({"url": url, "html": body}) + "\n")
            table.append(f"{url}\ttext/html\t{named}\t60")
    (tmp_path / "mirrors" / "small.tsv.gz").write_bytes(gzip.compress("\n".join(table).encode()))
    environment = {**os.environ, "WARM_PYTHON": warm.python()}
    command = ["benchmarks.saved_fetches", "small", "--data", str(tmp_path), "--rate", "1000"]
    done = warm.run(command, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    *_, row = done.stdout.strip().splitlines()
    name, alone, redundant, *crawls, _cpu = [cell.strip() for cell in row.strip("|").split("|")]
    shares = [tuple(map(float, cell.split(","))) for cell in crawls]
    assert (name, alone, redundant) == ("small", "61", "30")
    assert all(lost == lost_items == 0 for _, _, lost, lost_items in shares)
    assert all(saved <= without <= 1 for saved, without, _, _ in shares)
    _first, second, _learn, again = (saved for saved, *_ in shares)
    assert min(second, again) > 0.5


def number_of(url: str) -> int:
    """The same for both URLs of a page."""
    return int(url.partition("?")[0].rpartition("/")[2] or 99)
