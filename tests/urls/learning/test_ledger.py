"""The ledger against counting it all anew, and what was known before."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.learn import ASSUMED, EXPECTED
from dedupcrawl.urls.learning.ledger import Ledger, Price, judge_carried_over
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules
from tests.urls.learning.sites import SITE, forms, learned, token, words

RULES = [
    Rule("sid", "rewrite", drop=("sid",)),
    Rule("print", "rewrite", match="/{p*}/print", to="/{p}"),
    Rule("page", "rewrite", match="?page=1", drop=("page",)),
    Rule("order", "rewrite", convert="sort-query"),
    Rule("there", "rewrite", match="/a", to="/b"),
    Rule("back", "rewrite", match="/b", to="/a"),
    Rule("longer", "rewrite", match="/b/{x}", to="/b/{x}-{x}"),
]
PATHS = st.sampled_from(
    [
        "/a",
        "/a/print",
        "/a?sid=1",
        "/a?sid=2",
        "/a?page=1",
        "/a?page=2",
        "/a?page=1&sid=3",
        "/a?sid=3&page=1",
        "/b/print?sid=1",
        "/b",
    ]
)
LOGS = st.lists(st.tuples(PATHS, st.integers(0, 3)), unique_by=lambda row: row[0], max_size=9)


def counted(urls: list[str], labels: list[int], rules: list[Rule]) -> tuple[int, int]:
    """Right and wrong merges: of what comes together, all but one of the page whose URL it is, or that most are of."""
    normalize = SiteNormalizer(SiteRules("a.com", tuple(rules))).normalize
    forms: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for url, label in zip(urls, labels, strict=True):
        forms[normalize(url).canonical][label] += 1
    unchanged = {url: page for url, page in zip(urls, labels, strict=True) if normalize(url).canonical == url}
    kept = {f: pages[unchanged[f]] if f in unchanged else max(pages.values()) for f, pages in forms.items()}
    return (sum(kept[form] - 1 for form in forms), sum(pages.total() - kept[form] for form, pages in forms.items()))


@given(LOGS, st.lists(st.sampled_from(RULES), unique_by=lambda rule: rule.id, min_size=1))
def test_what_a_rule_adds_is_what_is_missing_without_it(log: list[tuple[str, int]], rules: list[Rule]) -> None:
    urls, labels = [f"http://a.com{path}" for path, _ in log], [label for _, label in log]
    ledger = Ledger("a.com", urls, labels, [label % 2 for label in labels])
    ledger.apply(rules)
    everything = counted(urls, labels, rules)
    assert (ledger.right, ledger.wrong) == everything
    for rule in rules:
        rest = [other for other in rules if other is not rule]
        assert ledger.without(rule.id) == counted(urls, labels, rest)
        assert ledger.adds(rule.id) == tuple(map(int.__sub__, everything, counted(urls, labels, rest)))
    ledger.apply(rules[:-1])  # only what the last one did is done again
    assert (ledger.right, ledger.wrong) == counted(urls, labels, rules[:-1])


@pytest.mark.parametrize(
    ("right", "wrong", "safe"),
    [(0, 0, True), (50, 0, True), (50, 1, True), (5, 1, False), (50, 2, False), (5000, 50, True), (5000, 70, False)],
)
def test_a_wrong_merge_outweighs_a_hundred_right_ones_give_or_take_chance(right: int, wrong: int, safe: bool) -> None:
    price = Price(0.95)
    assert price.of_wrong == pytest.approx(100.0)
    assert price.is_safe(right, wrong) is safe


@pytest.mark.parametrize(("right", "wrong", "state"), [(32, 1, "doubted"), (20, 12, "doubted"), (8, 20, "disabled")])
def test_what_a_log_speaks_against_without_refuting_it_is_doubted(right: int, wrong: int, state: str) -> None:
    """So that a crawl tries it: only what is surely wrong more often than not is off."""
    rule = Rule("phpbb2.sid@a.com", "rewrite", drop=("sid",), source="software")
    urls = [f"http://a.com/{page}?sid={sid}" for page in range(right + wrong) for sid in range(2)]
    labels = [2 * page + (page >= right) * sid for page in range(right + wrong) for sid in range(2)]
    ledger = Ledger("a.com", urls, labels, [0] * len(urls))
    ledger.apply([rule])
    ledger.refute([rule])
    assert [found.state for found in ledger.refuted] == [state]


def test_all_priors_are_rules() -> None:
    for rule in (*ASSUMED, *EXPECTED):
        rule.templates()
        rule.scopes()
    assert len({rule.id for rule in ASSUMED}) == len(ASSUMED)


def test_no_name_that_is_content_somewhere_is_dropped_by_prior() -> None:
    names = {name for rule in (*ASSUMED, *EXPECTED) if not rule.match for name in rule.drop}
    assert names.isdisjoint({"s", "sid", "session", "session_id", "id", "p", "q", "page", "lang", "sort", "ref", "v"})


@pytest.mark.parametrize("right", [0, 4, 5])
def test_what_is_assumed_of_all_sites_is_not_used_where_it_is_wrong(right: int) -> None:
    """What is learned is for where it is right."""
    chance = random.Random(5)
    apart = [f"/b/{words(chance, 1)}" for _ in range(4)]
    pages = [f"/{'ab'[i >= 100]}/{words(chance, 1)}" for i in range(100 + right)]
    clusters = [[f"{SITE}{page}", f"{SITE}{page}?PHPSESSID={token(chance)}"] for page in pages]
    clusters += [[f"{SITE}{page}{end}"] for page in apart for end in ("", "?PHPSESSID=0123456789abcdef")]
    rules = learned(clusters)
    asked = [f"{page}?PHPSESSID=0123456789abcdef" for page in ("/a/new", *apart)]
    assert forms(rules, *asked) == ["/a/new", *asked[1:]]


VIEW = Rule("r1-1", "rewrite", drop=("view",), source="learned")
VIEW_OF_W = Rule("r1-1", "rewrite", drop=("view",), within=("/w/{*}",), source="learned")


def judge(pages: dict[str, int], learned: list[Rule], before: list[Rule]) -> tuple[list[Rule], int]:
    """Which stay, and how many are refuted."""
    urls = [f"http://a.com/{path}" for path in pages]
    found = judge_carried_over("a.com", urls, list(pages.values()), learned, before, Price(0.95))
    assert {rule.id for rule in found.refuted} <= {rule.id for rule in before}
    assert all(rule.is_off and rule.evidence.wrong and rule.note for rule in found.refuted if rule.source == "prior")
    return [*found.stay], len(found.refuted)


def test_what_was_learned_again_is_not_judged() -> None:
    assert judge({"w?view=1": 1, "w?view=2": 2}, [VIEW], [VIEW]) == ([], 0)


def test_a_rule_that_nothing_is_known_of_stays() -> None:
    assert judge({"x": 1, "y": 2}, [], [VIEW]) == ([VIEW], 0)
    assert judge({"x?view=1": 1, "y?view=1": 2}, [], [VIEW]) == ([VIEW], 0)
    assert judge({}, [], [VIEW]) == ([VIEW], 0)


def test_a_rule_that_merges_different_pages_is_refuted() -> None:
    wrong = {f"{page}?view={view}": 2 * page + view for page in range(5) for view in (0, 1)}
    assert judge(wrong, [], [VIEW]) == ([], 1)
    one = {"x?view=1": 1, "x?view=2": 2}
    assert judge(one, [], [VIEW]) == ([VIEW], 0)  # it may have changed in between
    assert judge({f"x?view={view}": view for view in range(10)}, [], [VIEW]) == ([], 1), "all at one form"
    right = {f"w{page}?view={view}": 100 + page for page in range(200) for view in (0, 1)}
    assert judge(right | wrong, [], [VIEW]) == ([VIEW], 0)


def test_only_the_rule_that_is_wrong_goes() -> None:
    other = Rule("r1-2", "rewrite", drop=("sid",), source="learned")
    wrong = {f"{page}?view={view}&sid={page}{view}": 2 * page + view for page in range(5) for view in (0, 1)}
    right = {f"w{page}?sid={page}{i}": 100 + page for page in range(9) for i in (0, 1)}
    assert judge(right | wrong, [], [other, VIEW]) == ([other], 1)


def test_a_rule_that_is_right_only_where_a_learned_one_is_goes_for_what_it_adds() -> None:
    """Of two rules that go round in a circle each has a part in all merges."""
    pages = {f"w/{page}{end}": page for page in range(100) for end in ("", "/")}
    pages |= {f"x/{page}{end}": 2 * page + 200 + len(end) for page in range(4) for end in ("", "/")}
    learned = Rule("r1-1", "rewrite", match="/{p*}/{last}", to="/{p}/{last}/", within=("/w/{*}",), source="learned")
    likely = Rule("likely", "equivalence", match="/{p*}/", to="/{p*}", source="prior")
    assert judge(pages, [learned], [likely]) == ([], 1)


def test_a_rule_that_has_nothing_to_do_after_the_new_ones_is_superfluous() -> None:
    pages = {f"w/{page}?view={view}": page for page in range(5) for view in (0, 1)}
    assert judge(pages, [VIEW], [VIEW_OF_W]) == ([], 0)
    assert judge(pages, [VIEW_OF_W], [VIEW]) == ([], 0)
    assert judge(pages | {"x?view=1": 9}, [VIEW_OF_W], [VIEW]) == ([VIEW], 0)


def counted_trials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the rules without which the others are tried, from now on."""
    tried: list[str] = []
    without = Ledger.without

    def counted(self: Ledger, rule_id: str) -> tuple[int, int]:
        tried.append(rule_id)
        return without(self, rule_id)

    monkeypatch.setattr(Ledger, "without", counted)
    return tried


def test_trials_of_rules_that_are_wrong_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = counted_trials(monkeypatch)
    both = [[Rule(f"{x}{i}", "rewrite", drop=(f"{x}{i}",), source="learned") for x in "vw"] for i in range(30)]
    wrong = {
        f"{i}-{page}?v{i}={v}&w{i}={v}": 10 * i + 2 * page + v for i in range(30) for page in (0, 1) for v in (0, 1)
    }
    of_few = {path: label for path, label in wrong.items() if label < 50}
    stay, _ = judge(of_few, [], both[0] + both[1])
    assert [{rule in stay for rule in pair} for pair in both[:2]] == [{True, False}] * 2  # either is enough
    stay, refuted = judge(wrong, [], [rule for pair in both for rule in pair])
    assert refuted == 60 - len(stay) >= 30
    assert all(not set(pair) <= set(stay) for pair in both)
    assert len(tried) < 150
