from __future__ import annotations

from pathlib import Path

import pytest

from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.commands.invoked import check_refused, run, told


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    write_rules(tmp_path / "rules", SiteRules("a.com", (Rule("sid", "rewrite", drop=("sid",)),)))
    return tmp_path / "rules"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(
        "url,digest\nhttp://a.com/,x\nhttp://a.com/?sid=1,x\nhttp://a.com/?sid=2,y\nhttp://a.com/3\nmailto:x,y\n"
    )
    return path


def test_for_people(rules: Path, log: Path) -> None:
    result = run("evaluate", log, "--rules", rules)
    assert result.exit_code == 0
    assert result.stdout == (
        "3 URLs of 1 site (a.com), 1 of them redundant\n"
        "rules            1 for 1 site\n"
        "coverage         2 URLs changed, 2 merged\n"
        "precision        0.5000 (at least 0.0253, 95% sure); 1 URL sent to a URL of another cluster\n"
        "reduction ratio  0.5000 of the 2 URLs in clusters\n"
        "a rule saves     1.0 URLs\n"
        "collisions       1 canonical URL shared by different clusters\n"
        "most often wrong:\n"
        "  1 of 2  a.com  sid\n"
    )
    assert result.stderr == (
        f"{log}, line 5: skipped, not 2 fields\nskipped rows: 1 (not 2 fields), 1 (not an http URL)\n"
    )


def test_for_programs(rules: Path, log: Path) -> None:
    found = told(run("evaluate", log, "--rules", rules, "--json"))
    assert found["precision_at_least"] == 0.0253
    assert (found["precision"], found["skipped"]) == (0.5, {"not 2 fields": 1, "not an http URL": 1})


@pytest.mark.parametrize(
    ("content", "says"),
    [("", "there is nothing in "), ("url,digest\nmailto:x,y\n", "no row has both a URL and a digest")],
)
def test_logs_of_nothing_are_refused(rules: Path, log: Path, content: str, says: str) -> None:
    log.write_text(content)
    check_refused(run("evaluate", log, "--rules", rules), says)
