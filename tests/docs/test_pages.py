"""Every code block of every page does what the page says.

A page is run from its top to its end in a folder of its own. The first page and the tutorial begin with nothing, all
others in a copy of the project that the tutorial has made.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.conftest import TUTORIAL
from tests.docs.running import run_page
from tests.docs.terminal import ROOT, Terminal

FIRST = ROOT / "docs" / "index.md"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
WITH_BLOCKS = [page for page in PAGES if page not in {FIRST, TUTORIAL} and "```" in page.read_text(encoding="utf-8")]
NEEDED = ["/usr/bin/chromium"]  # which not every machine has, and pages name
MOST_NOT_RUN = 12  # blocks of all pages together: few, and each says why


def test_the_tutorial(project: Path) -> None:
    assert (project / "scrapy.cfg").is_file()


def test_the_first_page(address: str, tmp_path: Path) -> None:
    run_page(FIRST, Terminal(tmp_path, address))


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page(page: Path, project: Path, address: str, tmp_path: Path) -> None:
    if missing := [path for path in NEEDED if path in page.read_text(encoding="utf-8") and not Path(path).exists()]:
        pytest.skip(f"there is no {missing[0]} on this machine")
    folder = tmp_path / project.name
    shutil.copytree(project, folder)
    run_page(page, Terminal(folder, address))


def test_what_is_not_run_says_why_and_is_little() -> None:
    not_run = [block for page in PAGES for block in blocks(page) if block.not_run is not None]
    assert len(not_run) <= MOST_NOT_RUN, [str(block) for block in not_run]
    assert all(block.not_run.endswith(".") for block in not_run if block.not_run is not None)
