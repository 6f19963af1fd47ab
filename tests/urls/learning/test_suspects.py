from __future__ import annotations

from dedupcrawl.urls.learning.acceptance import Bar
from dedupcrawl.urls.learning.proof import Proof
from dedupcrawl.urls.learning.suspects import worst_of
from dedupcrawl.urls.rule import Rule

SID, VIEW = Rule("sid", "rewrite", drop=("sid",)), Rule("view", "rewrite", drop=("view",))


def worst(pages: dict[str, int], rules: list[Rule]) -> str:
    proof = Proof("a.com", [f"http://a.com/{path}" for path in pages], list(pages.values()), [0] * len(pages))
    proof.apply(rules)
    return worst_of([rule.id for rule in rules], proof.uses().by_rule, proof, Bar(0.95))


def test_of_two_that_did_it_together_the_one_that_is_less_of_use() -> None:
    together = {f"{page}?view={view}&sid={page}{view}": 2 * page + view for page in range(5) for view in (0, 1)}
    of_sid = {f"s{page}?sid={sid}": 100 + page for page in range(5) for sid in (0, 1)}
    of_view = {f"v{page}?view={view}": 200 + page for page in range(5) for view in (0, 1)}
    for rules in ([SID, VIEW], [VIEW, SID]):
        assert worst(together | of_sid, rules) == "view"
        assert worst(together | of_view, rules) == "sid"


def test_of_many_those_with_the_most_wrong_urls_are_tried() -> None:
    rules = [Rule(f"v{i}", "rewrite", drop=(f"v{i}",)) for i in range(20)]
    pages = {f"{i}?v{i}={value}": 100 * i + value for i in range(20) for value in range(2 + (i == 13))}
    assert worst(pages, rules) == "v13"
