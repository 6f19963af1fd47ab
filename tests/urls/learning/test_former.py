from __future__ import annotations

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.former import Former, judged
from dedupcrawl.urls.rule import Rule

VIEW = Rule("r1-1", "rewrite", drop=("view",), source="learned")
VIEW_OF_W = Rule("r1-1", "rewrite", drop=("view",), within=("/w/{*}",), source="learned")


def judge(pages: dict[str, int], learned: list[Rule], before: list[Rule]) -> Former:
    urls = [f"http://a.com/{path}" for path in pages]
    return judged("a.com", urls, list(pages.values()), learned, before, Bar(0.95))


def test_what_was_learned_again_is_not_judged() -> None:
    assert judge({"w?view=1": 1, "w?view=2": 2}, [VIEW], [VIEW]) == Former()


def test_a_rule_that_nothing_is_known_of_stays() -> None:
    assert judge({"x": 1, "y": 2}, [], [VIEW]) == Former((VIEW,), 0)
    assert judge({"x?view=1": 1, "y?view=1": 2}, [], [VIEW]) == Former((VIEW,), 0)
    assert judge({}, [], [VIEW]) == Former((VIEW,), 0)


def test_a_rule_that_merges_different_pages_is_refuted() -> None:
    wrong = {f"{page}?view={view}": 2 * page + view for page in range(5) for view in (0, 1)}
    assert judge(wrong, [], [VIEW]) == Former((), 1)
    one = {"x?view=1": 1, "x?view=2": 2}
    assert judge(one, [], [VIEW]) == Former((VIEW,), 0)  # it may have changed in between
    right = {f"w{page}?view={view}": 100 + page for page in range(200) for view in (0, 1)}
    assert judge(right | wrong, [], [VIEW]) == Former((VIEW,), 0)


def test_only_the_rule_that_is_wrong_goes() -> None:
    other = Rule("r1-2", "rewrite", drop=("sid",), source="learned")
    wrong = {f"{page}?view={view}&sid={page}{view}": 2 * page + view for page in range(5) for view in (0, 1)}
    right = {f"w{page}?sid={page}{i}": 100 + page for page in range(9) for i in (0, 1)}
    assert judge(right | wrong, [], [other, VIEW]) == Former((other,), 1)


def test_a_rule_that_has_nothing_to_do_after_the_new_ones_is_superfluous() -> None:
    pages = {f"w/{page}?view={view}": page for page in range(5) for view in (0, 1)}
    assert judge(pages, [VIEW], [VIEW_OF_W]) == Former((), 0)
    assert judge(pages, [VIEW_OF_W], [VIEW]) == Former((), 0)
    assert judge(pages | {"x?view=1": 9}, [VIEW_OF_W], [VIEW]) == Former((VIEW,), 0)
