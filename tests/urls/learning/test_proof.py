"""The proof looks only at URLs that a rule can reach; what it counts must be as if it looked at all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.proof import Proof
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule
from dedupcrawl.urls.rule_files import SiteRules

SITE = "a.com"
RULES = [
    Rule("sid", "equivalence", drop=("sid",)),
    Rule("index", "rewrite", match="/{p*}/index.html", to="/{p}/"),
    Rule("title", "rewrite", match="/?title={x}", to="/wiki/{x|decode}"),
    Rule("all", "equivalence", match="/wiki/a", drop=("*",)),
    Rule("order", "rewrite", convert="sort-query"),
]
paths = st.sampled_from(["/", "/wiki/a", "/wiki/b", "/x/index.html", "/x/"])
args = st.lists(st.sampled_from(["sid=1", "sid=2", "b=1", "title=a", "title=%ed%a0%80"]), max_size=3, unique=True)
urls = st.builds(lambda path, query: f"http://a.com{path}{'?' if query else ''}{'&'.join(query)}", paths, args)
sets = st.lists(st.sampled_from(RULES), unique_by=lambda rule: rule.id)


@given(st.dictionaries(urls, st.integers(0, 2), min_size=1), sets, sets)
def test_rules_that_come_and_go_count_as_if_all_urls_were_normalized(
    pages: dict[str, int], first: Sequence[Rule], more: Sequence[Rule]
) -> None:
    proof = Proof(SITE, list(pages), list(pages.values()), [i % 2 for i in range(len(pages))])
    both = [*first, *(rule for rule in more if rule not in first)]
    for rules in (first, both, both[1:], both[1::2]):
        proof.apply(rules)
        used = proof.uses()
        assert (used.counts.right, used.counts.wrong) == counted(pages, rules)
        for rule in rules:
            rest = proof.without(rule.id)
            assert (rest.right, rest.wrong) == counted(pages, [other for other in rules if other is not rule])


def counted(pages: dict[str, int], rules: Sequence[Rule]) -> tuple[int, int]:
    normalize = SiteNormalizer(SiteRules(SITE, tuple(rules))).normalize
    labels: dict[str, Counter[int]] = {}
    for url, label in pages.items():
        labels.setdefault(normalize(url).canonical, Counter())[label] += 1
    met = [sorted(counts.values()) for counts in labels.values()]
    return sum(counts[-1] - 1 for counts in met), sum(sum(counts[:-1]) for counts in met)


def test_a_page_that_others_wrongly_come_to_speaks_against_the_rule() -> None:
    pages = {f"http://a.com/{page}?sid={sid}": page for page in range(3) for sid in range(2)}
    pages |= {"http://a.com/0": 99, "http://a.com/1": 1}  # the page itself is another one than its two variants
    proof = Proof(SITE, list(pages), list(pages.values()), [0] * len(pages))
    proof.apply(RULES[:1])
    found, all_urls = proof.judged("sid"), list(pages)
    assert {all_urls[row] for row in found.wrong} == {"http://a.com/0?sid=0", "http://a.com/0?sid=1"}
    assert {all_urls[row] for row in found.right} == {
        f"http://a.com/{page}?sid={sid}" for page in (1, 2) for sid in (0, 1)
    }


@given(st.dictionaries(urls, st.integers(0, 2), min_size=1), sets, st.sets(st.sampled_from(RULES)))
def test_what_a_rule_is_alone_to_blame_for(pages: dict[str, int], rules: Sequence[Rule], suspects: set[Rule]) -> None:
    proof = Proof(SITE, list(pages), list(pages.values()), [0] * len(pages))
    proof.apply(rules)
    whole, alone = proof.uses().by_rule, proof.wrong_alone([rule.id for rule in suspects])
    normalize = SiteNormalizer(SiteRules(SITE, tuple(rules))).normalize
    forms: dict[str, tuple[set[int], set[str]]] = {}
    for url, label in pages.items():
        done = normalize(url)
        labels, by = forms.setdefault(done.canonical, (set(), set()))
        labels.add(label)
        by.update(done.rules)
    for rule in rules:
        at = [by & {one.id for one in suspects} for labels, by in forms.values() if len(labels) > 1 and rule.id in by]
        assert alone[rule.id].collisions == sum(len(by) == 1 for by in at)
        assert alone[rule.id].wrong[0] <= whole[rule.id].wrong[0] + 1e-9
        if all(len(by) == 1 for by in at):
            assert alone[rule.id].wrong == whole[rule.id].wrong
