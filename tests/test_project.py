"""A project's rules are found from whichever of its folders one works in, by crawls and commands alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dedupcrawl.cli import group
from dedupcrawl.project import data_folder, rules_folder
from dedupcrawl.settings import DedupSettings
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder inside a project whose rules drop sid on a.com; it is the working directory."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    write_rules(tmp_path / "rules", SiteRules("a.com", (Rule("sid", "rewrite", drop=("sid",)),)))
    folder = tmp_path / "project" / "spiders"
    folder.mkdir(parents=True)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.chdir(folder)
    return folder


def test_rules_lie_beside_the_data(inside: Path) -> None:
    project = inside.parents[1]
    assert rules_folder() == project / "rules"
    assert data_folder() == project / ".scrapy" / "dedup"


def test_crawls_read_them(inside: Path) -> None:
    assert DedupSettings.read({}).rules == (inside.parents[1] / "rules",)


def test_commands_read_them(inside: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(group, arguments)
        assert done.exit_code == 0, done.output
        return done.stdout

    assert [rule["id"] for rule in json.loads(run("rules", "list", "--json"))["rules"]] == ["sid"]
    assert json.loads(run("normalize", "http://a.com/x?sid=1"))["canonical"] == "http://a.com/x"


def test_without_a_project_they_lie_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rules_folder() == Path("rules")
    assert DedupSettings.read({}).rules == ()
