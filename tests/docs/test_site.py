"""The website of docs/ builds without a warning, repeats figures as they are, and names what stands in files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from dedupcrawl.cli import COMMANDS
from dedupcrawl.content.model import Model
from dedupcrawl.crawl_logs.registry import FORMATS
from dedupcrawl.crawl_logs.rows import NAMES
from dedupcrawl.urls.conversions import URL_CONVERSIONS, VALUE_CONVERSIONS
from dedupcrawl.urls.rule import Evidence, Kind, Rule, Source, State
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
    page = (site / "reference.html").read_text(encoding="utf-8")
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


PEERS = ("dedupcrawl", "datasketch", "rensa", "gaoya", "simhash (PyPI)", "Nutch TextProfile")
COPIED = ("pages a CPU second", "recall, all but excerpt", "precision", "85 % templates dropped", "bulletins dropped")

Row = dict[str, str]


def rows_under(page: str, heading: str) -> list[Row]:
    """The rows of the first table under a heading, by the names of its columns; the first is named ``method``."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    table = text[text.index("\n| ") :].strip().partition("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in table)
    return [dict(zip(["method", *head[1:]], row, strict=True)) for row in rows]


def measured(language: str) -> dict[tuple[str, str], Row]:
    """What `benchmarks.peers` printed of the default checks and of each peer, by method and kind of setting."""
    named = [row for row in rows_under("measured/peers.md", f"## {language}") if row["method"] in PEERS]
    return {(row["method"], row["setting"].partition(":")[0]): row for row in named}


def times(row: Row, ours: Row) -> str:
    pages, of_ours = (int(one["pages a CPU second"].replace(",", "")) for one in (row, ours))
    return f"{pages / of_ours:.1f}"


def test_speed_is_what_the_page_of_the_peers_says() -> None:
    """When `benchmarks.peers` was run anew, copy its figures into the table of docs/measured/comparison.md."""
    english, chinese = measured("English"), measured("Chinese")
    ours = ("dedupcrawl", "the default checks")
    wanted = [
        [*key, english[key]["pages a CPU second"], times(english[key], english[ours])]
        + [english[key][name] for name in (*COPIED[1:], "bytes a page")]
        + [chinese[key]["pages a CPU second"], times(chinese[key], chinese[ours])]
        for key in english
    ]
    shown = [list(row.values()) for row in rows_under("measured/comparison.md", "### To judge a page")]
    assert shown == wanted


def row(rows: list[Row], name: str) -> Row:
    return next(one for one in rows if one["method"].startswith(name))


def test_rules_are_explained_with_the_figures_of_their_page() -> None:
    """When `benchmarks.url_rules` was run anew, see what docs/papers.md still says rightly."""
    page = "measured/url-rules.md"
    said = " ".join((DOCS / "papers.md").read_text(encoding="utf-8").split())
    level = "rules of precision 0.95 and more"
    recall = row(rows_under(page, f"## Recall and precision of merges, {level}"), "**macro recall**")
    ours, dust, dasgupta = (f"{float(recall[name]):.2f}".lstrip("0") for name in ("ours", "DUST", "Dasgupta"))
    assert f"({ours}; DUST {dust}, Dasgupta {dasgupta})" in said
    kept = row(rows_under(page, f"## Rules kept, {level}"), "**all**")
    ours, dust, dasgupta = (f"{float(kept[name]):,.0f}" for name in ("ours", "DUST", "Dasgupta"))
    assert f"({ours} against {dust} and {dasgupta})" in said
    reduced = row(rows_under(page, "## Rules and reduction ratio by precision (Table 3; coverage >= 10)"), ">= 0.95")
    dust, dasgupta, ours = (f"{float(reduced[f'{name}: reduction %']):.0f} %" for name in ("DUST", "Dasgupta", "ours"))
    assert f"DUST's rules remove {dust}, Dasgupta's {dasgupta} and ours {ours}" in said


PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip(): cells[2:-1]
    for line in PAGE.partition("## Crawl logs")[2].partition("##")[0].splitlines()
    if len(cells := line.split("|")) > 3
}


NAMED = [
    *(f"`{name}`" for name in (*(field.name for field in fields(Rule)), *Evidence.__struct_fields__)),
    *(f'"{value}"' for value in (*get_args(Kind), *get_args(State), *get_args(Source))),
    *(f"`{name}`" for name in (*VALUE_CONVERSIONS, *URL_CONVERSIONS)),
    *(log_format.name for log_format in FORMATS),
]


@pytest.mark.parametrize("name", NAMED)
def test_keys_and_values_of_rules_conversions_and_formats_of_logs_are_named(name: str) -> None:
    assert name in PAGE


@pytest.mark.parametrize("column", NAMES)
def test_every_column_of_a_log_and_its_other_names(column: str) -> None:
    others = ", ".join(f"`{name}`" for name in NAMES[column][1:]) or "–"
    assert ROWS[f"`{column}`"][-1].strip() == others


@pytest.mark.parametrize("key", Model.__struct_fields__)
def test_every_key_of_a_model(key: str) -> None:
    assert f"| `{key}` |" in PAGE.partition("## Models")[2].partition("##")[0]
