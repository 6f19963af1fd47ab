from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from dedupcrawl.training.merging import merged
from dedupcrawl.training.train import write_learned
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.rule import Evidence, Rule, RuleError
from dedupcrawl.urls.rule_files import MOST_RULES, SiteRules, read_rules, write_rules

LEARNED = Rule("sid", "rewrite", drop=("sid",), source="learned")
HAND = Rule("mine", "rewrite", drop=("x",))


def test_a_rule_has_the_day_when_it_was_first_learned(tmp_path: Path) -> None:
    days = {date.today()}
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    days.add(date.today())  # if it is midnight
    path = tmp_path / "a.com.toml"
    assert {rule.learned for rule in read_rules(path).rules} <= days
    carried_over = date(2026, 1, 31)
    write_rules(tmp_path, SiteRules("a.com", (replace(LEARNED, learned=carried_over, state="active"),)))
    before = path.read_bytes()
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert path.read_bytes() == before
    again = replace(LEARNED, evidence=Evidence(support=9))
    write_learned(tmp_path, SiteRules("a.com", (again, Rule("new", "rewrite", drop=("n",), source="learned"))))
    known, new = read_rules(path).rules
    assert (known.learned, known.evidence.support) == (carried_over, 9)
    assert new.learned in {*days, date.today()}


def test_a_file_of_another_site_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.com.toml"
    path.write_text('site = "www.a.com"\n')
    with pytest.raises(RuleError, match=f"{path}: it is for the site www.a.com"):
        write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert path.read_text() == 'site = "www.a.com"\n'


def test_a_rule_that_is_learned_again_keeps_what_crawls_found_out(tmp_path: Path) -> None:
    known = replace(LEARNED, id="was", state="active", tried=30, failed=1)
    write_rules(tmp_path, SiteRules("a.com", (known,)))
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert read_rules(tmp_path / "a.com.toml").rules == (known,)


def test_no_other_rule_gets_the_id_of_one_that_is_gone() -> None:
    old = Rule("r1-1", "rewrite", drop=("a",), source="learned")
    new = (Rule("r1-1", "rewrite", drop=("b",), source="learned"), replace(old, id="r1-2"))
    assert [(rule.id, rule.drop) for rule in merged((old,), new)] == [("r1-1-2", ("b",)), ("r1-1", ("a",))]


def test_what_a_person_decided_stays() -> None:
    off = Rule("sid", "rewrite", drop=("sid",), source="learned", state="disabled", note="needed")
    imported = Rule("query", "rewrite", drop=("q",), source="imported")
    assert merged((HAND, off, imported, Rule("gone", "rewrite", drop=("g",), source="learned")), (LEARNED,)) == (
        HAND,
        off,
        imported,
    )


def test_comments_at_what_stays_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.com.toml"
    text = '# ours\nsite = "a.com"\n\n# see the wiki\n[[rules]]\nid = "mine"\nkind = "rewrite"\ndrop = ["x"]  # x\n'
    gone = '# of spring\n[[rules]]\nid = "old"\nkind = "rewrite"\ndrop = ["old"]\nsource = "learned"\n'
    path.write_text(f"{text}\n{gone}")
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert path.read_text().startswith(text)
    assert "of spring" not in path.read_text()
    assert [rule.id for rule in read_rules(path).rules] == ["mine", "sid"]
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert path.read_text().startswith(text)
    assert [rule.id for rule in read_rules(path).rules] == ["mine", "sid"]


def test_rules_of_an_international_site_are_learned_into_the_file_that_is_there(tmp_path: Path) -> None:
    """People name it one way, crawlers the other."""
    path = tmp_path / "bücher.example.toml"
    path.write_text('site = "bücher.example"\n[[rules]]\nid = "mine"\nkind = "rewrite"\ndrop = ["x"]\n', "utf-8")
    write_learned(tmp_path, SiteRules("xn--bcher-kva.example", (LEARNED,)))
    assert list(tmp_path.iterdir()) == [path]
    normalizer = Normalizer.from_paths([tmp_path])
    assert normalizer.normalize("http://xn--bcher-kva.example/?x=1&sid=2").rules == ("mine", "sid")


def test_a_file_has_no_more_rules_than_can_be_read(tmp_path: Path) -> None:
    many = tuple(Rule(f"r{i}", "rewrite", drop=(f"a{i}",), source="imported") for i in range(MOST_RULES))
    write_rules(tmp_path, SiteRules("a.com", many))
    write_learned(tmp_path, SiteRules("a.com", (LEARNED,)))
    assert read_rules(tmp_path / "a.com.toml").rules == many


def test_what_is_doubted_is_not_tried_where_it_is_in_use_for_fewer_urls() -> None:
    doubted = Rule("phpbb2.sid@a.com", "rewrite", drop=("sid",), source="software", state="doubted")
    narrower = replace(doubted, state="active", within=("!/search.php",))
    for name in (doubted.id, f"{doubted.id}-2"):
        assert [rule.state for rule in merged([], [replace(narrower, id=name), doubted])] == ["probation"]
    assert [rule.state for rule in merged([], [doubted])] == ["doubted"]


def test_what_is_doubted_is_not_tried_beside_what_a_person_wrote_of_it() -> None:
    doubted = Rule("phpbb2.sid@a.com", "rewrite", drop=("sid",), source="software", state="doubted")
    mine = Rule("mine", "rewrite", drop=("sid",), unless=("t",))
    assert merged([mine, doubted], [doubted]) == (mine,)
    off = replace(mine, state="disabled")
    assert merged([off, doubted], [doubted]) == (off, doubted)
