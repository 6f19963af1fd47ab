from __future__ import annotations

from collections.abc import Iterable

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule_files import SiteRules

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


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("end", ["print", "amp", "trackback", "comment-page-1", "page/1", "never-heard-of"])
def test_what_is_taken_from_the_end_is_so_only_in_the_parts_where_it_was_seen(end: str, slash: str) -> None:
    pages = [f"/article/{i}/{word}" for i, word in enumerate(WORDS, 5000)]
    articles = [[f"{page}{slash}", f"{page}/{end}{slash}"] for page in pages]
    rules = learned([*articles, *([f"/jobs/{word}{slash}"] for word in WORDS)])
    assert are_one(rules, [f"/article/7/oven{slash}", f"/article/7/oven/{end}{slash}"])
    assert told_apart(rules, [f"/jobs/oven{slash}", f"/jobs/oven/{end}{slash}", f"/article/7/{end}{slash}", f"/{end}"])


def test_an_end_that_came_in_many_parts_is_one_in_all() -> None:
    pages = [f"/{part}/{word}" for part in ("a", "b", "c", "d", "e", "f", "g") for word in WORDS[:4]]
    rules = learned([page, f"{page}/page/1"] for page in pages)
    assert are_one(rules, ["/jobs/oven", "/jobs/oven/page/1"])


def test_a_loop_is_one_only_in_the_part_where_it_was_seen() -> None:
    ends = ["", "/team", "/faq", "/team/faq", "/faq/team", "/team/team", "/faq/faq"]
    rules = learned([*([f"/p/{word}{end}" for end in ends] for word in WORDS), *([f"/help/{word}"] for word in WORDS)])
    assert are_one(rules, ["/p/oven", "/p/oven/team", "/p/oven/faq"])
    assert told_apart(rules, ["/help/oven", "/help/oven/team", "/help/oven/faq", "/p", "/p/team", "/p/faq"])


@pytest.mark.parametrize("session", ["s{:012x}", "(S({:024x}))"])
def test_sessions_in_the_first_segment_are_of_one_kind_and_one_segment(session: str) -> None:
    ids = [session.format(0xA0000000000 + i * 7919) for i in range(2 * len(WORDS))]
    rules = learned(
        [f"/{word}.html", f"/{ids[2 * i]}/{word}.html", f"/{ids[2 * i + 1]}/{word}.html"]
        for i, word in enumerate(WORDS)
    )
    other = session.format(0xB0123456789)
    assert are_one(rules, ["/oven.html", f"/{other}/oven.html"])
    assert told_apart(rules, ["/oven.html", "/blog/oven.html", "/de/oven.html", f"/{other}/de/oven.html"])


def test_days_of_posts_are_not_the_archives_of_days() -> None:
    """The day makes no difference for posts, at `/{year}/{month}/{day}/{post}`; archives are not in the log."""
    dates = [(2008 + i % 7, 1 + i % 12, 1 + i % 5) for i in range(150)]
    posts = [[f"/{y}/{m:02}/{d:02}/post-{i}.html", f"/{y}/{m:02}/post-{i}.html"] for i, (y, m, d) in enumerate(dates)]
    rules = learned(posts)
    assert any(rule.to for rule in rules.rules)
    archives = [f"/{y}/{m:02}/" for y in (2008, 2009, 2020) for m in range(1, 13)]
    days = [f"{month}{d:02}/" for month in archives for d in range(1, 32)]
    assert told_apart(rules, [*archives, *days])
    assert told_apart(rules, [path.rstrip("/") for path in [*archives, *days]])


def test_another_spelling_of_numbers_does_not_make_them_irrelevant() -> None:
    dates = [(2008 + i % 3, 1 + i % 9, 1 + i % 7) for i in range(150)]
    rules = learned([[f"/{y}/{m:02}/{d:02}/post-{i}", f"/{y}/{m}/{d}/post-{i}"] for i, (y, m, d) in enumerate(dates)])
    assert told_apart(rules, [f"/2008/{m}/{d}/index" for m in range(1, 10) for d in range(1, 10)])


def test_an_argument_that_matters_in_one_part_is_not_dropped_where_it_never_came() -> None:
    orders = ["name", "price", "date", "size"]
    items = [[f"/item/{i}?sort={order}" for order in orders] for i in range(30)]
    lists = [[f"/list/{i}?sort={order}"] for i in range(30) for order in orders]
    rules = learned([*items, *lists])
    assert are_one(rules, [f"/item/77?sort={order}" for order in orders])
    assert told_apart(rules, [f"/search?sort={order}" for order in orders])


def test_some_words_before_a_page_that_make_no_difference_are_not_any_words() -> None:
    """A shop has its products below the category that they were found in, too; not so the help of each category."""
    rules = learned([f"/{word}-{i}.html", f"/{WORDS[i % 7]}/{word}-{i}.html"] for i, word in enumerate(WORDS * 4))
    assert are_one(rules, ["/new-lamp.html", "/barrel/new-lamp.html", "/candle/new-lamp.html"])
    assert told_apart(rules, ["/brands/a.html", "/help/a.html", "/a.html"])


def test_a_number_that_was_refuted_leaves_no_other_one_standing() -> None:
    """The posts of a page of twenty are that page; the 25th is on the next one."""
    clusters = [[f"/t/lamp/{i}/{post}" for post in range(2 + i % 3, 12, 2)] for i in range(40)]
    rules = learned([*clusters, *([f"/t/lamp/{i}/25"] for i in range(0, 40, 4))])
    assert are_one(rules, ["/t/lamp/100/2", "/t/lamp/100/11"])
    assert told_apart(rules, ["/t/lamp/100/2", "/t/lamp/100/25", "/t/lamp/100/30"])


def test_what_is_the_same_in_two_projects_is_not_in_a_third() -> None:
    projects = ["core/app", "core/lib"]
    rules = learned([f"/{at}/src/{v}/{word}" for v in ("main", "v1")] for at in projects for word in WORDS)
    assert are_one(rules, ["/core/app/src/main/unheard-of", "/core/app/src/v1/unheard-of"])
    assert told_apart(rules, ["/core/new/src/main/unheard-of", "/core/new/src/v1/unheard-of"])
