from __future__ import annotations

from collections.abc import Iterable

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.learning.seen_paths import Met, is_of_paths, kept_to_seen_paths
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import Rule, described
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.url_parts import split_url

SITE = "shop.example"
WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle"]


def learned(clusters: Iterable[Iterable[str]]) -> SiteRules:
    """From the paths of a log, those of one page together."""
    pages = [(f"http://{SITE}{path}", label) for label, paths in enumerate(clusters) for path in paths]
    return learn_site(SITE, [url for url, _ in pages], [label for _, label in pages])


def told_apart(rules: SiteRules, paths: list[str]) -> bool:
    normalizer = SiteNormalizer(rules)
    return len({normalizer.normalize(f"http://{SITE}{path}").canonical for path in paths}) == len(paths)


def are_one(rules: SiteRules, paths: list[str]) -> bool:
    normalizer = SiteNormalizer(rules)
    return len({normalizer.normalize(f"http://{SITE}{path}").canonical for path in paths}) == 1


def test_a_first_segment_that_never_came_is_not_irrelevant() -> None:
    rules = learned([[f"/{word}", f"/en/{word}", f"/en-us/{word}"] for word in WORDS])
    assert are_one(rules, ["/unheard-of", "/en/unheard-of", "/en-us/unheard-of"])
    assert told_apart(rules, ["/unheard-of", "/de/unheard-of", "/archive/2010/unheard-of"])


def test_a_title_of_many_words_says_nothing_of_one_word() -> None:
    rules = learned(
        [[f"/q/{i}/{word}-{i}", f"/q/{i}/{word}-or-so", f"/q/{i}/an-{word}"] for i, word in enumerate(WORDS, 100)]
    )
    assert are_one(rules, ["/q/7/an-oven", "/q/7/any-oven"])
    assert told_apart(rules, ["/q/7/an-oven", "/q/7/edit", "/q/7/history", "/q/8/an-oven"])


def test_case_that_is_none_in_one_part_of_a_site_may_be_one_in_another() -> None:
    clusters = [[f"/wiki/{word}", f"/wiki/{word.title()}", f"/wiki/{word.upper()}"] for word in WORDS]
    rules = learned([*clusters, ["/s/aBa"], ["/s/AbAB"]])
    assert are_one(rules, ["/wiki/unheard", "/wiki/Unheard", "/wiki/UNHEARD"])
    assert told_apart(rules, ["/s/bbb", "/s/bBb", "/s/BBB"])


def test_an_empty_argument_that_says_nothing_may_say_something_elsewhere() -> None:
    rules = learned(
        [*([f"/wiki?t={word}", f"/wiki?t={word}&x=", f"/wiki?t={word}&y=&z="] for word in WORDS), ["/f?n="]]
    )
    assert are_one(rules, ["/wiki?t=unheard-of", "/wiki?t=unheard-of&x="])
    assert told_apart(rules, ["/f", "/f?new=", "/f?edit="])


def test_days_are_no_loop_where_words_are() -> None:
    rules = learned([["/blog/" + word + "/contact" * times + "/" for times in (1, 2, 3, 4)] for word in WORDS])
    assert are_one(rules, ["/blog/x/contact/", "/blog/x/contact/contact/contact/"])
    assert told_apart(rules, ["/2011/11/", "/2011/11/11/", "/1/", "/1/1/", "/bora/", "/bora/bora/"])


def test_an_exception_that_names_what_refuted_a_rule_saves_it_not() -> None:
    """Three of sixty users show their pages; of a user who was not in the log nothing can be told."""
    users = [[f"/u/{i * 7}/{tab}" for tab in ("posts", "likes", "groups")] for i in range(60)]
    clusters = [[path] for user in users[::20] for path in user]
    rules = learned([*clusters, *(user for i, user in enumerate(users) if i % 20)])
    assert told_apart(rules, ["/u/10000/posts", "/u/10000/likes"])


PAGES = [f"http://{SITE}/{{}}/{word}" for word in WORDS]


def met(changed: Iterable[str], others: Iterable[str] = ()) -> list[Met]:
    """URLs of which each meets the others with its last segment."""
    found = []
    for urls, by_rule in ((changed, True), (others, False)):
        for url in urls:
            parts = split_url(url)
            assert parts is not None
            found.append(Met(parts, hash(parts.segments[-1]), by_rule))
    return found


@pytest.mark.parametrize(
    ("fronts", "expected"),
    [
        (["en"], ["/en/{x0} → /{x0}"]),
        (["en", "en-us"], ["/{:en|en-us}/{x0} → /{x0}"]),
        (["a/b", "en"], ["/en/{x0} → /{x0}", "/a/b/{x0} → /{x0}"]),
        (["a", "b", "c", "d", "e", "f/g"], ["/{p*}/{x0} → /{x0}"]),
    ],
)
def test_segments_that_are_taken_out_are_those_that_came(fronts: list[str], expected: list[str]) -> None:
    rule = Rule("r", "rewrite", match="/{p*}/{x0}", to="/{x0}")
    changed = [page.format(front) for page in PAGES for front in fronts]
    found = kept_to_seen_paths(rule, met(changed, [f"http://{SITE}/{word}" for word in WORDS]), SITE)
    assert sorted(map(described, found)) == sorted(expected)
    assert len({one.id for one in found}) == len(found)


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["a", "b"], "{:a|b}"),
        (["1", "2", "33"], "{:digits}"),
        ([str(i) for i in range(9)], "{:digits}"),
        ([f"{i:016x}" for i in range(0xA0000, 0xA0009)], "{:hex}"),
        ([f"a-{i}" for i in range(9)], "{}-{}"),
        ([f"a{i}" for i in range(9)], "{}"),
    ],
)
def test_a_forgotten_segment_is_kept_to_its_kind(values: list[str], form: str) -> None:
    rule = Rule("r", "equivalence", match="/{}/{x}", to="/{}/{x}")
    found = kept_to_seen_paths(rule, met(page.format(value) for page in PAGES for value in values), SITE)
    assert [(one.match, one.to) for one in found] == [(f"/{form}/{{x}}", "/{}/{x}")]


def test_what_another_rule_made_fit_stays_open() -> None:
    rule = Rule("r", "rewrite", match="/{p*}/{x0}", to="/{x0}")
    assert kept_to_seen_paths(rule, [*met([f"http://{SITE}/en/a"]), *met([f"http://{SITE}/a"])], SITE) == [rule]


def test_a_conversion_is_for_the_part_of_the_site_that_it_came_from() -> None:
    rule = Rule("r", "rewrite", convert="lower-path")
    (found,) = kept_to_seen_paths(rule, met([f"http://{SITE}/wiki/A", f"http://{SITE}/wiki/B"]), SITE)
    assert found.within == ("/wiki/{*}",)
    many = met([f"http://{SITE}/w{i}/A{i}" for i in range(6)])
    assert kept_to_seen_paths(rule, many, SITE) == [rule]
    assert kept_to_seen_paths(rule, met([f"http://{SITE}/A"]), SITE) == [rule]  # a page, not a part of the site


def test_only_rules_of_paths_are_of_paths() -> None:
    assert not is_of_paths(Rule("r", "rewrite", drop=("sid",)))
    assert not is_of_paths(Rule("r", "rewrite", convert="sort-query"))
    assert not is_of_paths(Rule("r", "rewrite", match="/go?to={u}", to="{u|decode}"))
    assert is_of_paths(Rule("r", "rewrite", match="/{p*}/index.html", to="/{p}/"))
