"""`python -m dedupcrawl.demo`, as a newcomer runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dedupcrawl.demo.server import serving
from dedupcrawl.demo.site.site import MIRROR_HOST


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dedupcrawl.demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def figure(output: str, row: str) -> int:
    found = re.search(rf"^\s*{re.escape(row)}\D*(\d+)", output, re.M)
    assert found, output
    return int(found[1])


def test_the_demo_prints_what_was_saved_and_where_to_look(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    done = demo("--folder", str(folder))
    assert done.returncode == 0, done.stderr
    items = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert figure(done.stdout, "pages kept") == len(items) > 60
    assert figure(done.stdout, "pages fetched") > len(items)
    assert figure(done.stdout, "links rewritten") > figure(done.stdout, "and asked for again as they were") > 0
    assert figure(done.stdout, "pages dropped by exact") > 0

    explain = re.search(r"explain '(\S+)' --index (\S+)", done.stdout)
    assert explain, done.stdout
    assert "crawl-log.jsonl" in done.stdout
    command = [
        sys.executable,
        "-m",
        "dedupcrawl.cli",
        "explain",
        explain[1],
        "--index",
        str(folder / "index"),
        "--json",
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["verdict"]["verdict"] == "duplicate"
    assert told["keeper"]["url"] == told["verdict"]["duplicate_of"]


def test_any_site_can_be_crawled(tmp_path: Path) -> None:
    with serving() as server:
        mirror = f"http://{MIRROR_HOST}:{server.server_port}/zh/reading-clouds"  # all of its links leave the host
        done = demo(mirror, "--folder", str(tmp_path / "crawl"))
    assert done.returncode == 0, done.stderr
    assert figure(done.stdout, "pages fetched") == 1
    assert json.loads((tmp_path / "crawl" / "items.jsonl").read_text(encoding="utf-8"))["url"] == mirror


@pytest.mark.parametrize("start", ["example.com", "ftp://example.com/", "https://"])
def test_what_is_no_url_is_refused(start: str) -> None:
    done = demo(start)
    assert done.returncode == 2
    assert f"{start!r} is no URL" in done.stderr
    assert "Traceback" not in done.stderr
