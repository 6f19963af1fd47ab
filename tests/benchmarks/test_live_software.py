"""A little site that needs no package is served, crawled twice and judged, from end to end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.live_software.__main__ import row_of
from benchmarks.live_software.content import text, title
from benchmarks.live_software.programs import Live, Place


def pages(place: Place) -> Sequence[str]:
    """Ten files, each with two URLs on the first page."""
    links = "".join(f'<a href="{n}.html">{title(n)}</a> <a href="{n}.html?printable=1">print</a> ' for n in range(10))
    (place.folder / "index.html").write_text(f"<body><main>{text(99)}</main>{links}</body>", encoding="utf-8")
    for number in range(10):
        body = f"<body><main>{text(number)}</main>{links}</body>"
        (place.folder / f"{number}.html").write_text(body, encoding="utf-8")
    return [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(place.port)]


def test_a_page_with_two_urls_is_a_redundant_fetch(tmp_path: Path) -> None:
    row = row_of(Live("pages", pages, main="main"), tmp_path, by_rule=False)
    name, alone, redundant, recognized, right, near, wrong, fetched, _saved, lost = row.strip("| ").split(" | ")
    assert (name, alone, redundant, recognized) == ("pages", "21", "0.476", "–")
    assert (right, near, wrong, lost) == ("0", "0", "0", "0")
    assert 11 <= int(fetched) <= 21
