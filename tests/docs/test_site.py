"""The website of docs/: it builds without a warning, so every page can be reached and every link leads somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from dedupcrawl.cli import COMMANDS
from tests.docs.terminal import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)")
_FILE = re.compile(r"\b(?:dedupcrawl|tests|benchmarks|tools)/[\w/]+\.py\b")
_BENCHMARK = re.compile(r"python -m (benchmarks(?:\.[a-z_]+)+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    made = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    assert {page.relative_to(DOCS) for page in DOCS.rglob("*.md")} <= made


def test_the_help_of_every_command_is_there(site: Path) -> None:
    page = (site / "commands.html").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"Usage: dedupcrawl {command} " in page
    assert "Usage: dedupcrawl index restore " in page


def test_a_wide_table_scrolls_on_a_telephone(site: Path) -> None:
    """By itself, under its first column: the page is as wide as the screen."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs a Chromium on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 900})
        page.goto((site / "measured" / "peers.html").as_uri())
        left = """() => {
            const wrapper = document.querySelector('.table-wrapper');
            wrapper.scrollLeft = 500;
            return [wrapper.scrollLeft, document.documentElement.scrollWidth,
                wrapper.querySelector('td').getBoundingClientRect().left - wrapper.getBoundingClientRect().left];
        }"""
        scrolled, width, column = page.evaluate(left)
        page.goto((site / "measured" / "comparison.html").as_uri())
        lines = page.evaluate("""() => {
            const range = document.createRange();
            range.selectNodeContents([...document.querySelectorAll('td a')].find((a) => a.innerText == 'trafilatura'));
            return new Set([...range.getClientRects()].map((line) => line.top)).size;
        }""")
        browser.close()
    assert (scrolled, width) == (500, 390)
    assert abs(column) <= 8
    assert lines == 1  # a word of the first column stays whole


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    """Links between files, as a forge follows them, programs, and benchmarks."""
    text = page.read_text(encoding="utf-8")
    missing = [link for link in _LINK.findall(text) if not (page.parent / link).exists()]
    missing += [name for name in _FILE.findall(text) if not (ROOT / name).is_file()]
    missing += [name for name in _BENCHMARK.findall(text) if find_spec(name) is None]
    assert missing == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_link_says_what_it_leads_to(page: Path) -> None:
    """On the website there are no files."""
    assert re.findall(r"\[[^]\s]+\.md\]\([^)]*\)", page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", ["docs/pitfalls.md", "docs/rules-in-use.md", "docs/reference.md", "SECURITY.md"])
def test_where_people_look_it_is_told_that_a_made_up_url_is_requested(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert re.search(r"made-up URL", text, re.IGNORECASE)
