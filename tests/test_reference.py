"""docs/reference.md says what the code says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from dedupcrawl.content.checks.registry import CHECK_NAMES, make_checks
from dedupcrawl.core.features import FEATURES
from dedupcrawl.index.open import TemporaryIndex
from dedupcrawl.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
ROWS = {
    cells[1].strip("` "): [cell.strip() for cell in cells[2:-1]]
    for line in PAGE.splitlines()
    if len(cells := line.split("|")) > 3
}
DEFAULTS_SAID_IN_WORDS = {"DEDUP_CRAWL_LOG"}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_its_row_and_its_default(name: str) -> None:
    assert name in ROWS, f"docs/reference.md does not name {name}"
    if name not in DEFAULTS_SAID_IN_WORDS:
        said = ast.literal_eval(ROWS[name][0].strip("`"))
        default = SETTINGS[name].default
        assert said == (list(default) if isinstance(default, tuple) else default)


def test_no_setting_is_made_up() -> None:
    assert {name for name in ROWS if name.startswith("DEDUP_")} == set(SETTINGS)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.about])
def test_every_threshold_says_what_it_takes_and_does(name: str) -> None:
    assert ROWS[name][1:] == [SETTINGS[name].takes, SETTINGS[name].about]


def test_every_stat_of_the_code_is_named() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dedupcrawl" / "crawl").glob("*.py"))
    stats = set(re.findall(r"\"(dedup/[a-z_/]+)(?=[\"{])", code))
    assert len(stats) > 8
    missing = {stat for stat in stats if stat.rstrip("/") not in PAGE}
    assert not missing


def test_every_figure_of_an_index_is_named() -> None:
    index = TemporaryIndex(make_checks(CHECK_NAMES, {}))
    names = {re.sub("^postings/(?!url$).*", "postings/CHECK", name) for name in index.info()}
    assert {"ended", "due", "postings/CHECK"} <= names <= set(ROWS)


def test_every_piece_of_evidence_is_named() -> None:
    model = (ROOT / "docs" / "measured" / "probability.md").read_text(encoding="utf-8")
    assert not {feature.name for feature in FEATURES if f"| {feature.name} | {feature.sign} |" not in model}
