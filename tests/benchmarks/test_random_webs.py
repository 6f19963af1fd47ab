"""Random little webs: nothing is lost in a few of them; the benchmark crawls as many as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.random_webs.web import START, Web
from tests.crawls.site import NEEDS_PROXIES

ROOT = Path(__file__).parents[2]


def test_a_seed_makes_one_web() -> None:
    one, other = Web(5), Web(5)
    assert {url: page.text for url, page in one.pages.items()} == {url: page.text for url, page in other.pages.items()}
    assert one.rules == other.rules
    assert one.answer("GET", START, "", 1) == other.answer("GET", START, "", 1)
    assert {url: page.text for url, page in Web(6).pages.items()} != {url: page.text for url, page in one.pages.items()}


@NEEDS_PROXIES
@pytest.mark.parametrize("first", [0, 4])
def test_nothing_is_lost(first: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.random_webs", "--seeds", str(first), str(first + 4)]
    done = subprocess.run([*command, "--keep", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("lost: 0 texts in 0 webs\n", 0), done.stderr[-2_000:]
