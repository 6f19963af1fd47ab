"""Settings: read from Python and from strings, refused in one sentence, by site and by project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList

from dedupcrawl.cli import group
from dedupcrawl.content.checks.feature_code import FeatureCodeCheck
from dedupcrawl.content.checks.registry import CHECK_NAMES
from dedupcrawl.content.checks.simhash import SimHashCheck
from dedupcrawl.content.model import TARGET_PRECISION
from dedupcrawl.project import data_folder, rules_folder
from dedupcrawl.settings import SETTINGS, DedupSettings, SettingError
from dedupcrawl.sites import host_of, other_form, owner_of, site_of
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.fixtures import table_of


def test_every_default_is_a_value_that_its_setting_takes() -> None:
    for setting in SETTINGS.values():
        if setting.name != "DEDUP_RULES":  # its folder need not exist
            setting.read(setting.default)


@pytest.mark.parametrize(
    ("name", "value", "attribute", "expected"),
    [
        ("DEDUP_ALIASES", ["canonical", "og"], "aliases", frozenset({"canonical", "og"})),
        ("DEDUP_ALIASES", "canonical, og", "aliases", frozenset({"canonical", "og"})),
        ("DEDUP_ALIASES", [], "aliases", frozenset()),
        ("DEDUP_ENABLED", "0", "enabled", False),
        ("DEDUP_ENABLED", "true", "enabled", True),
        ("DEDUP_CHECKS", "simhash, exact", "checks", ("simhash", "exact")),
        ("DEDUP_CHECKS", [], "checks", ()),
        ("DEDUP_CRAWL_LOG", "none", "crawl_log", None),
        ("DEDUP_CRAWL_LOG", "a/b.jsonl", "crawl_log", Path("a/b.jsonl")),
        ("DEDUP_SELECTOR", "div.story", "selector", "div.story"),
        ("DEDUP_TTL", "30d", "ttl", 30 * 86_400.0),
        ("DEDUP_TTL", " 1.5H", "ttl", 5400.0),
        ("DEDUP_TTL", 90, "ttl", 90.0),
        ("DEDUP_TTL", "none", "ttl", None),
        ("DEDUP_TRUSTED_SITES", "all", "trusted_sites", None),
        ("DEDUP_TRUSTED_SITES", "a.com, b.org", "trusted_sites", ("a.com", "b.org")),
        ("DEDUP_TRUSTED_SITES", [], "trusted_sites", ()),
        ("DEDUP_SITE_QUOTA", "5000", "site_quota", 5000),
        ("DEDUP_SITE_QUOTA", None, "site_quota", None),
    ],
)
def test_strings_of_a_command_line_are_read(name: str, value: Any, attribute: str, expected: Any) -> None:
    assert getattr(DedupSettings.read({name: value}), attribute) == expected


def test_parameters_of_checks_are_settings() -> None:
    settings = DedupSettings.read({"DEDUP_SIMHASH_DISTANCE": "2", "DEDUP_REPEATABILITY": 0.9})
    assert settings.parameters["SIMHASH_DISTANCE"] == 2
    assert settings.parameters["REPEATABILITY"] == 0.9


@table_of("settings_and_sites", "what_cannot_be_used_is_named_with_what_is_taken")
def test_what_cannot_be_used_is_named_with_what_is_taken(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        DedupSettings.read(given)


def test_the_checks_of_the_papers_decide_without_a_model() -> None:
    settings = DedupSettings.read({"DEDUP_CHECKS": "papers", "DEDUP_SITES": {"a.com": {"DEDUP_CHECKS": "exact"}}})
    assert (settings.checks, settings.target_precision) == (("exact", "feature_code", "simhash", "mwo"), 0)
    of_site = settings.for_url("http://a.com/")
    assert (of_site.checks, of_site.target_precision) == (("exact",), TARGET_PRECISION)
    assert settings.parameters["MWO_THRESHOLD"] == 0.5, "of the paper's experiment"
    assert settings.sites["a.com"].parameters["MWO_THRESHOLD"] == 0.8
    asked = DedupSettings.read({"DEDUP_CHECKS": "papers", "DEDUP_MWO_THRESHOLD": 0.8})
    assert asked.parameters["MWO_THRESHOLD"] == 0.8
    with pytest.raises(SettingError, match=r"DEDUP_TARGET_PRECISION: got 0.9 .with DEDUP_CHECKS = 'papers'"):
        DedupSettings.read({"DEDUP_CHECKS": "papers", "DEDUP_TARGET_PRECISION": 0.9})
    with pytest.raises(SettingError, match="DEDUP_CHECKS: got"):
        DedupSettings.read({"DEDUP_CHECKS": ["papers", "title"]})


def test_a_site_overrides_by_host_and_by_registrable_domain() -> None:
    settings = DedupSettings.read(
        {
            "DEDUP_SCOPE": "all",
            "DEDUP_SITES": {
                "example.com": {"DEDUP_ACTION": "mark"},
                "shop.example.com": {"DEDUP_ACTION": "observe", "DEDUP_SIMHASH_DISTANCE": 1},
            },
        }
    )
    assert settings.for_url("https://www.example.com/a").action == "mark"
    assert settings.for_url("https://www.example.com/a").scope == "all"
    shop = settings.for_url("http://shop.example.com:8080/")
    assert (shop.action, shop.parameters["SIMHASH_DISTANCE"]) == ("observe", 1)
    assert settings.for_url("https://example.org/").action == "drop"


def test_the_index_finds_what_the_loosest_site_asks_for() -> None:
    settings = DedupSettings.read(
        {
            "DEDUP_CHECKS": ["exact"],
            "DEDUP_REPEATABILITY": 0.8,
            "DEDUP_SITES": {
                "a.com": {"DEDUP_SIMHASH_DISTANCE": 6, "DEDUP_CHECKS": ["simhash", "exact"]},
                "b.com": {"DEDUP_REPEATABILITY": 0.7},
            },
        }
    )
    checks = settings.index_checks()
    assert [check.name for check in checks if check.is_on] == ["exact", "simhash"], "those that are asked, in order"
    by_name = {check.name: check for check in checks}
    assert sorted(by_name) == sorted(CHECK_NAMES), "a place for all, so that spiders can share an index"
    simhash, feature_code = by_name["simhash"], by_name["feature_code"]
    assert isinstance(simhash, SimHashCheck)
    assert isinstance(feature_code, FeatureCodeCheck)
    assert (simhash.distance, feature_code.repeatability) == (6, 0.7)


@pytest.mark.parametrize("name", ["DEDUP_CONCEPTS_THESAURUS", "DEDUP_DICTIONARY", "DEDUP_MODEL"])
def test_a_file_that_is_not_there_is_named_as_missing(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=f"{name}: got .*No such file or directory"):
        DedupSettings.read({name: str(tmp_path / "gone")})


@table_of("settings_and_sites", "registrable_domain_or_else_the_host")
def test_registrable_domain_or_else_the_host(text: str, site: str) -> None:
    assert site_of(text) == site


@pytest.mark.parametrize(("found", "only_icann"), [(site_of, True), (owner_of, False)])
def test_rules_of_the_list_are_read_as_its_library_reads_them(found: Callable[[str], str], only_icann: bool) -> None:
    library = PublicSuffixList(accept_unknown=False, accept_encoded_idn=False, only_icann=only_icann)
    lines = [line for line in Path(PSLFILE).read_text("utf-8").splitlines() if line and not line.startswith("//")]
    assert len(lines) > 5_000
    for line in {*lines[::10], *(line for line in lines if line[0] in "!*" or not line.isascii())}:
        name = line.lstrip("!*.")
        hosts = (name, f"a.{name}", f"c.b.a.{name}", f"a{name}")
        assert [found(host) for host in hosts] == [library.privatesuffix(host) or host for host in hosts]
        assert found(other_form(f"b.a.{name}")) == other_form(found(f"b.a.{name}"))


@given(st.text() | st.text(alphabet="aA.:/@[]%-xn?#\\。", max_size=40))
@example("a" * 1_000 + ":8080")  # longer than any host
def test_total_and_idempotent(text: str) -> None:
    site, owner = site_of(text), owner_of(text)
    assert site_of(site) == site
    assert owner_of(owner) == owner
    assert host_of(text).endswith(site)


@given(st.text(alphabet="abc-.", max_size=40), st.sampled_from(["", "/", "/a?b=http://x.org/", "?q", "#f"]))
def test_a_bare_host_and_its_url_are_one_site(host: str, rest: str) -> None:
    assert site_of(host) == site_of(f"https://{host}{rest}")


@given(st.from_regex(r"(https?:)?//([a-z.:@0-9]|[A-Z /?#\\]){0,12}(:[0-9]{0,3})?[/?#]?[a-z@]{0,3}", fullmatch=True))
def test_a_host_in_lower_case_is_read_like_any_other(url: str) -> None:
    assert host_of(url) == host_of(f" {url}")


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
