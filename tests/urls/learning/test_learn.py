"""Learning from whole sites; examples of the paper and others are in tests/fixtures/learning.json."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedupcrawl.sites import site_of
from dedupcrawl.urls.learning.generalize import of_arguments, of_segments
from dedupcrawl.urls.learning.learn import learn_site, sides
from dedupcrawl.urls.learning.written import is_expressible, is_name, is_value, literal, written, written_piece
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import described
from dedupcrawl.urls.rule_files import SiteRules
from dedupcrawl.urls.spelling import as_sent
from dedupcrawl.urls.template import TemplateError, parse_template
from tests.fixtures import table_of
from tests.urls.learning.sites import SITE, forms, words
from tests.urls.learning.sites import learned as learned_among_others

Clusters = list[list[str]]
LETTERS = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"


def random_word(random_: random.Random, length: int = 12) -> str:
    return "".join(random_.choice(LETTERS) for _ in range(length))


def yahoo(random_: random.Random) -> Clusters:
    """A random deep token after friends-, whatever it is; after blog-, it names the page."""
    users = [f"http://360.yahoo.com/u{random_.randrange(10**6)}" for _ in range(40)]
    friends = [[f"{user}/friends-{random_word(random_)}" for _ in range(3)] for user in users]
    return friends + [[f"{user}/blog-{random_word(random_)}"] for user in users for _ in range(3)]


def stanford(random_: random.Random) -> Clusters:
    page = "http://cs.stanford.edu/degrees/mscs/faq/index.php?sid={}&cat={}"
    return [[page.format(random_.randrange(10**5), cat) for _ in range(3)] for cat in range(40)]


def learned(clusters: Sequence[Sequence[str]]) -> SiteRules:
    urls = [url for cluster in clusters for url in cluster]
    labels = [label for label, cluster in enumerate(clusters) for _ in cluster]
    return learn_site(site_of(urls[0]), urls, labels)


@pytest.mark.parametrize("others", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("blogs", [True, False])
def test_a_random_token_does_not_make_one_page_of_kinds_of_pages_that_no_log_had(others: int, blogs: bool) -> None:
    pages = yahoo(random.Random(1))[: None if blogs else 40]
    pages += [[f"http://360.yahoo.com/{name}"] for name in ("terms", "login", "press", "jobs", "ads", "map")[:others]]
    normalize = SiteNormalizer(learned(pages)).normalize
    for path in ("help", "about", "u7/", "u7/photos-1", "u8/photos-2", "a/b/c", "a/b/d", "x/friends-1/y"):
        url = f"http://360.yahoo.com/{path}"
        assert normalize(url).canonical == url
    assert normalize("http://360.yahoo.com/u7/friends-x3Yz").rules


def wiki(random_: random.Random, stale: float = 0.0) -> Clusters:
    """A wiki whose printable pages are the pages themselves, but for a share of them that changed in between."""
    clusters = []
    for _ in range(200):
        page = f"http://a.com/wiki/Page_{random_.randrange(10**6)}"
        printable = f"{page}?printable=yes"
        clusters += [[page], [printable]] if random_.random() < stale else [[page, printable]]
    return clusters


def test_some_pages_that_changed_do_not_speak_against_a_rule() -> None:
    assert [rule.drop for rule in learned(wiki(random.Random(1), stale=0.01)).rules] == [("printable",)]
    assert not learned(wiki(random.Random(1), stale=0.4)).rules


def test_what_a_rule_is_split_into_needs_evidence_of_the_second_part_like_any_other() -> None:
    """`search` comes in two clusters of the first part, taken out together with arguments that many have."""
    first = [page for page, side in enumerate(sides(range(36), 0.5, 0)) if side == 0]
    searched = dict(zip(first, ("lamp", "chair"), strict=False))
    clusters = []
    for page in range(36):
        url = f"http://a.com/p?id={page}"
        clusters.append([url, f"{url}&path=c{page % 5}", f"{url}&path=c{page % 3 + 7}&sort=asc"])
        clusters[-1] += [f"{url}&search={searched[page]}"] if page in searched else []
    clusters += [[f"http://a.com/list?path=c{i}&sort=asc"] for i in range(9)]
    clusters += [[f"http://a.com/list?search={word}"] for word in searched.values()]
    found = [rule for rule in learned(clusters).rules if rule.source == "learned"]
    assert {"path", "sort"} <= {name for rule in found for name in rule.drop}
    assert all(rule.evidence.correct for rule in found), list(map(described, found))


def test_evidence_is_of_the_held_out_clusters() -> None:
    (rule,) = learned(stanford(random.Random(1))).rules
    assert rule.source == "learned"
    assert 0 < rule.evidence.correct <= rule.evidence.coverage < 3 * 40
    assert rule.evidence.support > 0
    assert rule.examples
    assert all(before != after for before, after in rule.examples)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:text/html,x", "http://a.com/" + "x" * 2_000_000, "http://a.com/{x}?{y}={z}&{}",
        "http://a.com/?a=1&a=2&a=3&;;&=&==", "http://b\u00fccher.a.com/\ud800", "http://a.com/%ff%00?%", "http://a.com",
        "",
    ],
)  # fmt: skip
def test_hostile_urls_cost_nothing_but_themselves(url: str) -> None:
    clusters = wiki(random.Random(1))
    clusters[0].append(url)
    assert ("printable",) in [rule.drop for rule in learned(clusters).rules]


@pytest.mark.parametrize(
    ("one", "other"),
    [("http://a.com/dir", "http://a.com/dir/"), ("http://a.com/", "http://www.a.com/"), ("http://a.com/", "http://a.com/index.php")],
)  # fmt: skip
def test_general_knowledge_needs_one_cluster_unless_more_is_asked_for(one: str, other: str) -> None:
    urls, labels = [one, other, "http://a.com/else"], [0, 0, 1]
    learned = [learn_site("a.com", urls, labels, seed=seed).rules for seed in range(12)]
    assert all(len(rules) == 1 for rules in learned)
    assert {rules[0].evidence.coverage for rules in learned} == {0, 1}  # held out or not
    for seed, rules in enumerate(learned):
        asked = [learn_site("a.com", urls, labels, seed=seed, min_coverage=least).rules for least in (1, 2, 50)]
        assert [len(found) for found in asked] == [rules[0].evidence.coverage, 0, 0]


WORDS = st.sampled_from(["a", "b-c", "7", "07", "x;s=1", "x.html", "A", "%2F", "{", "", "0af31c88", "Special:X", "a_b"])
PLACES = st.lists(WORDS, min_size=1, max_size=3).map("/".join)
QUERIES = st.lists(st.tuples(st.sampled_from("stu{"), WORDS).map("=".join), max_size=3).map("&".join)
PAGES = st.tuples(PLACES, QUERIES).map(lambda both: f"http://a.com/{both[0]}?{both[1]}")


def test_what_is_asked_for_holds_for_every_rule() -> None:
    """Also for what is assumed of all sites, and for rules that are kept to a few values."""
    urls, labels = [], []
    for page in range(200):
        url = f"http://a.com/{page}"
        urls += [url, f"{url}?lang=en", f"{url}?lang=us", f"{url}?utm_source={page}", f"{url}?PHPSESSID={page}"][
            : 2 + page % 4
        ]
        labels += [page] * (2 + page % 4)
    loose = learn_site("a.com", urls, labels).rules
    assert {"lang", "utm_*", "PHPSESSID"} <= {name for rule in loose for name in rule.drop}
    counts = sorted({rule.evidence.coverage for rule in loose})
    for least in (counts[0] + 1, counts[-1] + 1):
        assert all(r.evidence.coverage >= least for r in learn_site("a.com", urls, labels, min_coverage=least).rules)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PAGES, st.integers(0, 7)), min_size=2, max_size=60, unique_by=lambda row: row[0]))
def test_whatever_the_log_learning_ends_with_rules(log: list[tuple[str, int]]) -> None:
    rules = learn_site("a.com", [url for url, _ in log], [label for _, label in log])
    normalize = SiteNormalizer(rules).normalize
    for url, _ in log:
        assert normalize(normalize(url).canonical).canonical == normalize(url).canonical


def test_what_the_sample_did_not_refute_is_learned_where_all_urls_bear_it_out() -> None:
    """`v` says nothing of a page in eight sections, and which page in a ninth that the sample has not."""
    urls = [f"http://a.com/s{n}/page-{i}{query}" for n in range(9) for i in range(12) for query in ("", "?v=1", "?v=2")]
    labels = [place if url.startswith("http://a.com/s8/") else place // 3 for place, url in enumerate(urls)]
    sample = [place for place, url in enumerate(urls) if not url.startswith("http://a.com/s8/")]
    normalize = SiteNormalizer(learn_site("a.com", urls, labels, sample=sample)).normalize
    forms = [normalize(url).canonical for url in urls]
    assert len({*forms[: len(sample)]}) == len(sample) / 3
    assert forms[len(sample) :] == urls[len(sample) :]


@table_of("url_learning", "the_narrowest_form_of_segments")
def test_the_narrowest_form_of_segments(values: list[str], form: str) -> None:
    found = of_segments(values)
    assert found is not None
    assert written_piece(found) == form


@pytest.mark.parametrize(
    ("values", "forms"),
    [
        ({"1"}, ["1"]),
        ({"en", "us"}, ["{:en|us}"]),
        ({"0", "00"}, ["{:0|00}"]),
        ({"3", "14", "159"}, ["{:digits}"]),
        ({"x", "", None}, ["x", "", None]),
        (set("abcdef"), None),
        (set("123456"), None),
        ({f"{i:08x}" for i in range(0xA0000000, 0xA0000009)}, ["{:token}"]),
    ],
)
def test_the_values_of_an_argument_that_makes_no_difference(
    values: set[str | None], forms: list[str | None] | None
) -> None:
    found = of_arguments(values)
    written = None if found is None else [None if form is None else written_piece(form) for form in found]
    assert written == forms


SPELLINGS = [
    "/topic/{id}", "/topic/{id}-{words}", "/topic/{words}-{id}", "/t/{words}/{id}", "/t/{id}/{words}", "/?t={id}",
    "/showthread.php?t={id}", "/topic/{words}-{id}.html", "/{words}-t{id}.html", "/topic/{words}.{id}/",
]  # fmt: skip


def topics(chance: random.Random, spellings: tuple[str, ...], count: int = 30) -> Clusters:
    """A forum whose topics are found by each of these spellings."""
    pages = [(chance.randrange(100, 10**6), words(chance, chance.randrange(2, 5))) for _ in range(count)]
    return [[SITE + spelling.format(id=id_, words=name) for spelling in spellings] for id_, name in pages]


@pytest.mark.parametrize("spellings", list(combinations(SPELLINGS, 2)), ids=" = ".join)
def test_any_two_spellings(spellings: tuple[str, str]) -> None:
    rules = learned_among_others(topics(random.Random(1), spellings))
    one, other, next_one = forms(
        rules, *(s.format(id=4711, words="a-new-one") for s in spellings), spellings[1].format(id=12, words="a-new-one")
    )
    assert one == other != next_one
    assert len(rules.rules) == 1


@pytest.mark.parametrize(
    "form", ["/topic/{id}-{words}", "/topic/{words}-{id}", "/{words}-t{id}.html", "/t/{id}/{words}"]
)
def test_words_that_were_others_once(form: str) -> None:
    chance = random.Random(1)
    numbers = chance.sample(range(999), 30)
    rules = learned_among_others(
        [[SITE + form.format(id=i, words=words(chance, count)) for count in (2, 4)] for i in numbers]
    )
    one, other, next_one = forms(
        rules, form.format(id=5, words="a-b-c"), form.format(id=5, words="d-e"), form.format(id=6, words="a-b-c")
    )
    assert one == other != next_one


def test_what_is_beside_the_number_may_be_another_page() -> None:
    chance = random.Random(1)
    topic = topics(chance, ("/topic/{id}", "/topic/{id}-{words}"))
    pages = [[f"{urls[0]}-{page}"] for urls in topic for page in ("edit", "print", 2, 3)]
    first = topic[0][0].removeprefix(SITE)
    kept = [f"{first}-{page}" for page in ("edit", "print", 2, 3, 4, "delete")]
    for site in (topic, topic + pages):
        rules = learned_among_others(site)
        assert forms(rules, *kept) == kept
        assert forms(rules, "/topic/7-a-new-one") == ["/topic/7"]


def test_not_where_words_tell_pages_apart() -> None:
    chance = random.Random(1)
    parts = [[f"{SITE}/topic/{i}-{words(chance)}"] for i in range(30) for _ in range(2)]
    assert not learned_among_others(parts).rules
    other_sides = [[f"{SITE}/day/{i}-{words(chance)}"] for i in range(30)] + [[f"{SITE}/?d={i}"] for i in range(30)]
    by_chance = [one + other for one, other in zip(other_sides[:30], other_sides[40:], strict=False)]
    assert not learned_among_others(by_chance + other_sides[30:40]).rules


_PARTS = "/ a {x} {p*} {:digits} {n:token} {:a|b} {y|lower|decode} ? & = k // .html {} -"
PARTS = st.sampled_from(_PARTS.split())


@given(st.lists(PARTS, max_size=9).map("".join))
def test_whatever_can_be_read_is_the_same_when_it_is_written(text: str) -> None:
    try:
        template = parse_template(text)
    except TemplateError:
        return
    if not any("" in capture.words for capture in template.captures()):
        assert parse_template(written(template)) == template


@given(st.text(max_size=20))
def test_what_is_expressible_is_a_literal(text: str) -> None:
    if text and is_expressible(text):
        assert parse_template(f"/x/{text}").path == (literal("x"), literal(as_sent(text)))
    if is_value(text):
        assert parse_template(f"?x={text}").args == (("x", literal(as_sent(text))),)
    if is_name(text):
        assert parse_template(f"?{text}=1").args == ((as_sent(text), literal("1")),)
