from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.ledger import Ledger, Price, judge_carried_over
from dedupcrawl.urls.rule import Rule

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
