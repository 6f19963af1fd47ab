"""Rules in use: tried, cleared and switched off, each in the part of a site where that was found out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from dedupcrawl.urls.credits import Credits
from dedupcrawl.urls.normalized import Normalized
from dedupcrawl.urls.normalizer import Normalizer
from dedupcrawl.urls.probation import known_before
from dedupcrawl.urls.rule import Evidence, Rule
from dedupcrawl.urls.rule_book import RuleBook, Ruling
from dedupcrawl.urls.rule_files import SiteRules, read_rules, write_rules
from dedupcrawl.urls.rules_in_use import RulesInUse
from tests.fixtures import table_of

RIGHT = Rule("right", "rewrite", drop=("sid",), state="probation", evidence=Evidence(correct=100, coverage=100))
WRONG = Rule("wrong", "rewrite", drop=("id",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_rules(tmp_path, SiteRules("a.com", (RIGHT, WRONG)))
    return tmp_path


def url(number: int) -> str:
    return f"http://a.com/p?id={number}&sid={number}"


def rule(folder: Path, name: str) -> Rule:
    return next(rule for rule in read_rules(folder / "a.com.toml").rules if rule.id == name)


def test_what_could_not_be_decided_before_the_rules_were_read_again_is_decided_at_the_end(folder: Path) -> None:
    known = (replace(rule, source="software", state="active", evidence=Evidence()) for rule in (RIGHT, WRONG))
    write_rules(folder, SiteRules("a.com", tuple(known)))
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    assert [book.failed(url(n), "http://a.com/p", ("right", "wrong")) for n in range(4)] == [Ruling()] * 4
    book.reread()
    assert book.decide()["a.com"].revoked


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_use_that_is_fetched_anyway_is_not_the_last(folder: Path, is_fetched: bool) -> None:
    """What is fetched anyway hides nothing, so a trial of it tells nothing of what was left out before."""
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    book.count(url(1), ("wrong",), is_tried=False)
    is_tried = book.is_due(url(2), ("wrong",), is_fetched=is_fetched)
    assert book.last_uses() == ({url(1)} if is_fetched else set() if is_tried else {url(2)})


def test_a_rule_that_is_switched_off_is_not_watched(folder: Path) -> None:
    write_rules(folder, SiteRules("a.com", (RIGHT, replace(WRONG, state="disabled"))))
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    assert not book.is_due(url(1), ("wrong",))
    assert not book.has_all(url(1), ("wrong",))
    assert book.owners == set()


def test_what_trials_showed_of_known_software_is_kept_when_rules_are_read_again(folder: Path) -> None:
    known = replace(RIGHT, source="software", state="active", evidence=Evidence())
    write_rules(folder, SiteRules("a.com", (known,)))
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    for number in range(3):
        book.passed(url(number), ("right",))
    book.reread()
    assert [one.passed for one in book.beliefs("a.com", "software")] == [3]


def test_a_rule_becomes_an_equivalence_for_all_owners_of_its_site(folder: Path) -> None:
    """For those that have used it, and for those that will."""
    known = Normalizer.from_paths([folder], tries=True)
    book = RuleBook(known, 0.02, Random(1))
    hosts = ("a.com", "a.com:8001", "a.com:8002")
    for host in hosts[:2]:
        book.is_due(f"http://{host}/p?id=0", ("wrong",))
    for number in range(5):
        book.gone(f"http://a.com/p{number}?id=1", f"http://a.com/p{number}", ("wrong",))
    book.is_due(f"http://{hosts[2]}/p?id=0", ("wrong",))
    assert [one.rule.kind for host in hosts for one in book.beliefs(host, "hand")] == ["equivalence"] * 3


def test_a_trial_counts_for_all_rules_that_had_a_part_in_it(folder: Path) -> None:
    """Else pages of three rules would be tried three times as often as those of one."""
    known = [replace(RIGHT, id=name, drop=(name,), state="active", tried=50) for name in ("a", "b", "c")]
    write_rules(folder, SiteRules("a.com", tuple(known)))
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    uses = [("a",), *[("a", "b"), ("a", "b", "c"), ("a", "c")] * 200]
    due = [number for number, rules in enumerate(uses) if book.is_due(url(number), rules)]
    assert due[:3] == [0, 1, 2], "the first use of each"
    assert len(due) <= 3 + 600 // 50


def test_a_rule_that_leads_nowhere_becomes_an_equivalence_and_is_revoked_when_that_does_too(folder: Path) -> None:
    known = Normalizer.from_paths([folder], tries=True)
    book = RuleBook(known, 0.02, Random(1))
    normalizer = RulesInUse(known, book)
    asked = [f"http://a.com/p{number}?id=1" for number in range(10)]
    assert normalizer.normalize(asked[0]) == Normalized(asked[0], "http://a.com/p0", "rewrite", ("wrong",))
    again = [f"http://a.com/p0?id={number}" for number in range(10)]
    assert [book.gone(one, "http://a.com/p0", ("wrong",)) for one in again] == [Ruling()] * 10, "one canonical URL"
    assert normalizer.normalize(asked[0]).kind == "rewrite"
    assert [book.gone(one, one.partition("?")[0], ("wrong",)) for one in asked[:5]] == [Ruling()] * 5
    assert normalizer.normalize(asked[0]).kind == rule(folder, "wrong").kind == "equivalence"
    assert "5 canonical URLs led nowhere" in rule(folder, "wrong").note
    assert all(book.is_due(one, ("wrong",)) for one in asked), "whether they are one page has to be tried anew"
    assert book.gone(asked[5], "http://a.com/p5", ("wrong",)) == Ruling(), "asked for before it became one"
    rulings = [book.gone(one, f"{one}2", ("wrong",)) for one in asked[5:]]
    assert rulings == [Ruling()] * 4 + [Ruling(revoked=("wrong",))]
    assert normalizer.normalize(asked[0]).kind == "unchanged"


def test_what_could_not_be_written_is_written_later(folder: Path) -> None:
    """A revocation, and counts."""
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    path = folder / "a.com.toml"
    text = path.read_text(encoding="utf-8")
    book.passed(url(0), ("right",))
    path.write_text("site = nonsense", encoding="utf-8")
    assert book.failed("http://a.com/p?id=1", "http://a.com/p", ("wrong",)) == Ruling(revoked=("wrong",))
    assert book.is_off("http://a.com/p?id=1", ("wrong",)), "all the same"
    book.save()
    path.write_text(text, encoding="utf-8")
    book.save()
    assert rule(folder, "wrong").state == "disabled"
    assert "led to another page" in rule(folder, "wrong").note
    assert rule(folder, "right").tried == 1


VIEW = ("http://a.com/view?doc=1&zoom=2", "http://a.com/view?doc=1")
ZOOM = Rule(
    "zoom", "rewrite", drop=("zoom",), source="learned", evidence=Evidence(correct=40, coverage=40), examples=(VIEW,)
)


def zoomed(script: str, number: int) -> tuple[str, str]:
    return f"http://a.com/{script}?doc={number}&zoom=2", f"http://a.com/{script}?doc={number}"


def test_a_failure_puts_a_learned_rule_on_probation_until_twenty_have_passed(tmp_path: Path) -> None:
    """In the next crawl, too."""
    write_rules(tmp_path, SiteRules("a.com", (ZOOM,)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    book.failed(*zoomed("view", 0), ("zoom",))
    book.save()
    assert (rule(tmp_path, "zoom").state, rule(tmp_path, "zoom").failed) == ("probation", 1)
    later = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    for number in range(20):
        assert later.is_due(zoomed("view", number)[0], ("zoom",))
        later.passed(zoomed("view", number)[0], ("zoom",))
    later.save()
    assert (rule(tmp_path, "zoom").state, rule(tmp_path, "zoom").tried) == ("active", 21)


class InMemory(dict[str, Credits]):
    """Credits of owners."""

    def of(self, owner: str) -> Credits:
        return self.get(owner, Credits())

    def tell(self, owner: str, news: Credits) -> Credits:
        self[owner] = self.of(owner).joined(news)
        return self[owner]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_crawl_that_is_killed_has_told_what_speaks_against_a_rule(tmp_path: Path, has_file: bool) -> None:
    """It never comes to save what it knows. A later crawl must not confirm the rule as if nothing had failed."""
    rule = replace(ZOOM, source="learned" if has_file else "software", examples=())
    if has_file:
        write_rules(tmp_path, SiteRules("a.com", (rule,)))
    credits = InMemory()

    def started() -> RuleBook:
        known = Normalizer.from_paths([tmp_path], None if has_file else lambda _: (rule,), tries=True)
        return RuleBook(known, 0.02, Random(1), credits=credits)

    killed = started()
    killed.passed(zoomed("view", 0)[0], ("zoom",))
    assert killed.failed(*zoomed("view", 1), ("zoom",)) == Ruling()
    later = started()
    assert later.is_due(zoomed("view", 2)[0], ("zoom",))
    (watched,) = later.beliefs("a.com", rule.source)
    assert (watched.rule.tried, watched.rule.failed) == (2, 1)


def test_another_rule_with_the_name_of_one_that_was_revoked_is_used_when_the_files_are_read_again(folder: Path) -> None:
    known = Normalizer.from_paths([folder], tries=True)
    book = RuleBook(known, 0.02, Random(1))
    normalizer = RulesInUse(known, book)
    assert book.failed("http://a.com/p?id=1", "http://a.com/p", ("wrong",)) == Ruling(revoked=("wrong",))
    write_rules(folder, SiteRules("a.com", (replace(WRONG, drop=("ref",)), replace(WRONG, id="same"))))
    known.has_more("a.com")
    book.reread()
    assert normalizer.normalize("http://a.com/p?ref=1").canonical == "http://a.com/p"
    assert normalizer.normalize("http://a.com/p?id=1").kind == "unchanged", "what was revoked stays so by any name"


def test_in_a_crawl_nobody_asks_for_the_sorted_url_of_a_learned_rule(tmp_path: Path) -> None:
    learned, by_hand = (Rule(source, "rewrite", convert="sort-query", source=source) for source in ("learned", "hand"))
    for number, (sorts, fetched) in enumerate(((learned, "?id=2&a=1"), (by_hand, "?a=1&id=2"))):
        site = f"a{number}.com"
        write_rules(tmp_path, SiteRules(site, (sorts, replace(RIGHT, source="learned"))))
        known, asked = Normalizer.from_paths([tmp_path], tries=True), f"http://{site}/?id=2&a=1&sid=3"
        normalizer = RulesInUse(known, RuleBook(known, 0.02, Random(1)))
        assert normalizer.normalize(asked).canonical == f"http://{site}/?a=1&id=2"
        assert normalizer.fetchable(asked).canonical == f"http://{site}/{fetched}"


def test_where_a_trial_fails_the_blame_is_with_those_that_have_yet_to_be_proved(folder: Path) -> None:
    """Those that were proved need not be tried again for it."""
    write_rules(
        folder, SiteRules("a.com", (replace(RIGHT, state="active", tried=50), replace(WRONG, state="probation")))
    )
    book = RuleBook(Normalizer.from_paths([folder], tries=True), 0.02, Random(1))
    both = ("right", "wrong")
    assert book.unproved(url(1), both) == {"wrong"}
    for number in range(5):
        book.gone(url(number), f"http://a.com/{number}", both)
    assert book.failed(url(7), "http://a.com/p", both) == Ruling(revoked=("wrong",))
    assert book.is_proved(url(8), ("right",))


SHARED = Rule(
    "shared",
    "rewrite",
    drop=("id",),
    source="learned",
    evidence=Evidence(coverage=900, correct=900),
    examples=tuple((f"http://{host}/p?id=1", f"http://{host}/p") for host in ("b1.github.io", "b2.github.io")),
)
TENANTS = ("http://b1.github.io", "http://al.github.io")


@pytest.fixture
def tenants(tmp_path: Path) -> Path:
    write_rules(tmp_path, SiteRules("github.io", (SHARED,)))
    return tmp_path


def shared(folder: Path) -> Rule:
    return read_rules(folder / "github.io.toml").rules[0]


def test_what_the_pages_of_some_taught_others_pages_have_to_bear_out(tenants: Path) -> None:
    book = RuleBook(Normalizer.from_paths([tenants], tries=True), 0.02, Random(1))
    taught, new = (f"{tenant}/p?id=7" for tenant in TENANTS)
    assert (book.is_proved(taught, ("shared",)), book.is_backed(taught, ("shared",))) == (True, True)
    assert (book.is_proved(new, ("shared",)), book.is_backed(new, ("shared",))) == (False, False)
    for number in range(2):
        url = f"{TENANTS[1]}/p?id={number}"
        assert book.is_due(url, ("shared",))
        book.begin(url, ("shared",))
        book.passed(url, ("shared",))
        book.end(url, ("shared",))
    assert book.is_proved(new, ("shared",))
    book.save()
    later = RuleBook(Normalizer.from_paths([tenants], tries=True), 0.02, Random(1))
    assert later.is_proved(new, ("shared",)), "its own pages speak for it from now on"


@pytest.mark.parametrize("tenant", ["http://b1.github.io:8001", "http://b1.github.io/~al"])
def test_ports_and_users_folders_are_tried_by_themselves(tenants: Path, tenant: str) -> None:
    book = RuleBook(Normalizer.from_paths([tenants], tries=True), 0.02, Random(1))
    assert not book.is_proved(f"{tenant}/p?id=7", ("shared",))
    assert all(book.is_due(f"{tenant}/p?id={number}", ("shared",)) for number in range(2))


@table_of("urls", "what_only_decodes_a_url_needs_no_proof")
def test_what_only_decodes_a_url_needs_no_proof(tmp_path: Path, does: dict[str, str], is_lossless: bool) -> None:
    """It brings no two URLs of its context together. At most one rule of a rewrite is unproven: another one may be."""
    rule = Rule.from_dict({"id": "r", **does})
    assert rule.is_lossless is is_lossless
    write_rules(tmp_path, SiteRules("a.com", (replace(rule, state="probation"),)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    assert (book.unproved(url(1), ("r",)) == set()) is is_lossless
    assert book.is_wanting(url(1), ("r",)) is not is_lossless


def test_what_only_decodes_a_url_may_lead_to_a_page_that_was_there_before(tmp_path: Path) -> None:
    """So it is tried as any rule that has been proved, and refuted."""
    rule = Rule("r", "equivalence", match="/go/{url}", to="/go/{url|base64}", source="learned")
    book = RuleBook(Normalizer(more=lambda _: (rule,), tries=True), 0.02, Random(1))
    assert book.is_due("http://a.com/go/QUJD", ("r",))
    for text in ("QUJD", "QUJE"):
        book.failed(f"http://a.com/go/{text}", "http://a.com/go/ABC", ("r",))
    assert book.is_off("http://a.com/go/QUJF", ("r",))


def test_where_a_rule_is_off_it_stays_off_when_it_is_learned_again(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (replace(ZOOM, state="probation"),)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    book.passed(zoomed("view", 0)[0], ("zoom",))
    book.failed(*zoomed("map", 0), ("zoom",))
    book.reread()
    assert book.is_off(zoomed("map", 9)[0], ("zoom",))
    book.passed(zoomed("view", 5)[0], ("zoom",))
    book.save()
    (watched,) = book.beliefs("a.com", "learned")
    assert watched.before[0] + watched.passed == known_before(ZOOM)[0] + 2, "nor counted twice"
    assert rule(tmp_path, "zoom").tried == 2, "what was written is not written twice"


def test_where_a_crawl_has_found_a_rule_to_be_wrong_the_next_does_not_use_it(tmp_path: Path) -> None:
    write_rules(tmp_path, SiteRules("a.com", (ZOOM,)))
    book = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    url, canonical = zoomed("map", 0)
    assert book.failed(url, canonical, ("zoom",)) == Ruling(restricted=("zoom",))
    assert rule(tmp_path, "zoom").counterexamples == ((url, canonical),)
    later = RuleBook(Normalizer.from_paths([tmp_path], tries=True), 0.02, Random(1))
    assert later.is_off(zoomed("map", 1)[0], ("zoom",))
    assert not later.is_off(zoomed("view", 1)[0], ("zoom",))
    later.passed(zoomed("view", 1)[0], ("zoom",))
    later.save()
    assert rule(tmp_path, "zoom").counterexamples == ((url, canonical),)
