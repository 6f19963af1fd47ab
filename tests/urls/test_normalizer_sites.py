"""Which site a URL is of, and which rules add nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from dedupcrawl.sites import ascii_form
from dedupcrawl.urls.normalizer import Normalizer, SiteNormalizer
from dedupcrawl.urls.overlaps import done_in_part
from dedupcrawl.urls.rule import Rule, RuleError
from dedupcrawl.urls.rule_files import SiteRules, write_rules
from tests.fixtures import table_of

SID = Rule("sid", "rewrite", drop=("sid",))


def test_a_host_of_a_million_characters_is_no_name() -> None:
    normalizer = Normalizer([SiteRules("a.com", (SID,))])
    for host in ("xn--" + "a" * 1_000_000, "é" * 1_000_000):
        assert normalizer.normalize(f"http://{host}/?sid=1").kind == "unchanged"


@pytest.mark.parametrize(
    "site", ["bücher.example", "xn--bcher-kva.example", "例え.jp", "127.0.0.1", "[::1]", "localhost"]
)
def test_any_kind_of_host_has_its_file(tmp_path: Path, site: str) -> None:
    write_rules(tmp_path, SiteRules(site, (SID,)))
    found = Normalizer.from_paths([tmp_path]).normalize(f"http://{site}:8080/a?sid=1")
    assert found.canonical == f"http://{ascii_form(site)}:8080/a"


@pytest.mark.parametrize("by_file", [True, False])
@pytest.mark.parametrize(("written", "asked"), [("bücher.de", "xn--bcher-kva.de"), ("xn--bcher-kva.de", "bücher.de")])
def test_an_international_name_in_either_form(tmp_path: Path, written: str, asked: str, by_file: bool) -> None:
    rules = SiteRules(written, (SID, Rule("www", "rewrite", match="//www.{host}", to="//{host}")))
    path = write_rules(tmp_path, rules)
    normalizer = Normalizer.from_paths([path if by_file else tmp_path])
    assert normalizer.normalize(f"http://www.{asked}/a?sid=1").canonical == "http://xn--bcher-kva.de/a"
    assert normalizer.site_count == 1


def test_files_are_opened_when_their_site_is_met(tmp_path: Path) -> None:
    for n in range(60):
        write_rules(tmp_path, SiteRules(f"s{n}.com", (SID,)))
    (tmp_path / "s0.com.toml").write_text("nonsense")
    (tmp_path / "s1.com.toml").write_text('site = "other.com"')
    normalizer = Normalizer.from_paths([tmp_path])
    assert normalizer.site_count == 60
    assert normalizer.normalize("http://www.s5.com/?sid=1").canonical == "http://www.s5.com/"
    assert normalizer.normalize("http://s0.com/?sid=1").kind == "unchanged"
    assert normalizer.normalize("http://s1.com/?sid=1").kind == "unchanged"


def test_a_broken_file_of_a_small_folder_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "a.com.toml").write_text("nonsense")
    with pytest.raises(RuleError, match=r"a\.com\.toml"):
        Normalizer.from_paths([tmp_path])


def test_rules_that_say_the_same_for_other_sites_keep_their_own_names(tmp_path: Path) -> None:
    one, other = Rule("one", "rewrite", drop=("sid",), note="1"), Rule("other", "rewrite", drop=("sid",))
    off = Rule("off", "rewrite", drop=("sid",), state="disabled")
    normalizer = Normalizer([SiteRules("a.com", (one,)), SiteRules("b.com", (other,)), SiteRules("c.com", (off,))])
    assert normalizer.normalize("http://a.com/?sid=1").rules == ("one",)
    assert normalizer.normalize("http://b.com/?sid=1").rules == ("other",)
    assert normalizer.normalize("http://c.com/?sid=1").rules == ()


def test_names_that_are_one_in_ascii_are_one_site() -> None:
    """A circle through both of them has one canonical URL, whatever the order of its rules."""
    circle = (
        Rule("1", "rewrite", match="http://ｓtrasse.de/a", to="http://ｓtrasse.de/b"),
        Rule("2", "rewrite", match="http://ｓtrasse.de/b", to="https://strasse.de/c"),
        Rule("3", "rewrite", match="https://strasse.de/c", to="http://ｓtrasse.de/a"),
    )
    for rules in permutations(circle):
        content = SiteRules("strasse.de", rules).to_dict()
        normalizer = Normalizer([SiteRules.from_dict(content)])
        for url in ("http://ｓtrasse.de/a", "http://ｓtrasse.de/b", "https://strasse.de/c"):
            canonical = normalizer.normalize(url).canonical
            assert normalizer.normalize(canonical).canonical == canonical


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many sites only the newest are remembered; answers do not change."""
    for n in range(40):
        write_rules(tmp_path, SiteRules(f"s{n}.com", (SID,)))
    monkeypatch.setattr("dedupcrawl.urls.normalizer._HOSTS_KEPT", 8)
    normalizer = Normalizer.from_paths([tmp_path])
    for n in random.Random(0).choices(range(60), k=300):
        url = f"http://s{n}.com/"
        assert normalizer.normalize(f"{url}?sid=1").canonical == (url if n < 40 else f"{url}?sid=1")
    assert len(normalizer._names) <= 8


@pytest.mark.parametrize("hosts", [("www.bücher.de",), ("www.xn--bcher-kva.de",)])
def test_hosts_of_a_rule_are_meant_in_either_spelling(hosts: tuple[str, ...]) -> None:
    on = SiteNormalizer(SiteRules("bücher.de", (Rule("r", "rewrite", hosts=hosts, drop=("x",)),)))
    off = SiteNormalizer(SiteRules("bücher.de", (Rule("r", "rewrite", hosts=(f"!{hosts[0]}",), drop=("x",)),)))
    for url in ("http://www.bücher.de/?x=1", "http://www.xn--bcher-kva.de/?x=1", "http://WWW.BÜCHER.de/?x=1"):
        assert (on.normalize(url).rules, off.normalize(url).rules) == (("r",), ())


MORE = Rule("more", "rewrite", drop=("lang", "sid"))


@table_of("urls", "what_is_done_in_part_whatever_its_name")
def test_what_is_done_in_part_whatever_its_name(used: dict[str, Any], asked: dict[str, Any], is_done: bool) -> None:
    one, other = (Rule.from_dict({**SID.to_dict(), **what}) for what in (used, asked))
    assert done_in_part([MORE, replace(one, id="other")])(other) is is_done
