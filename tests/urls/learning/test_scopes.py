"""Where a rule is right, and which conditions rules can say."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.urls.learning.contexts import contexts, path_with
from dedupcrawl.urls.learning.deep_tokens import SCRIPT, deep_patterns
from dedupcrawl.urls.learning.forms import Forms
from dedupcrawl.urls.learning.references import hypothesis
from dedupcrawl.urls.learning.written import pattern, written_path
from dedupcrawl.urls.rule import described
from dedupcrawl.urls.template import parse_template
from tests.fixtures import table_of
from tests.urls.learning.sites import SITE, forms, learned, words

WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket"]


@table_of("url_learning", "conditions_on_a_path_are_one_template")
def test_conditions_on_a_path_are_one_template(atoms: list[str], path: str | None) -> None:
    found = path_with(atoms)
    assert (found and written_path(found)) == path


@pytest.mark.parametrize(
    ("wrong", "within", "unless"),
    [
        ([f"/list/{i}?sid={sid}" for i in range(9) for sid in "ab"], ("/view/{*}",), ()),
        ([f"/view/{i}?sid={sid}&page=2" for i in range(9) for sid in "ab"], (), ("page",)),
    ],
)
def test_a_tree_tells_where_a_rule_is_right(wrong: list[str], within: tuple[str, ...], unless: tuple[str, ...]) -> None:
    right = [f"/view/{i}?sid={sid}" for i in range(60, 90) for sid in "ab"]
    urls = [f"http://a.com{path}" for path in [*right, *wrong]]
    labels = [i // 2 for i in range(len(right))] + [1000 + i for i in range(len(wrong))]
    forms = Forms("a.com", urls, labels, [0] * len(urls))
    rule = hypothesis(drop=("sid",))
    ((found, tally),) = contexts(rule, forms.tried(rule), forms, 2.0)
    assert found.within in {within, ("!/list/{*}",)} if within else found.unless == unless, found
    assert tally.wrong == 0


@table_of("url_learning", "what_differs_in_the_front_of_urls_is_kept_from_hosts_and_pages_where_it_matters")
def test_what_differs_in_the_front_of_urls_is_kept_from_hosts_and_pages_where_it_matters(
    match: str, to: str, source: str, target: str
) -> None:
    urls, labels = [], []
    for host in ("news", "shop", "jobs"):
        for word in ["", *WORDS]:
            urls += [f"{source.format(host=host)}/{word}", f"{target.format(host=host)}/{word}"]
            is_one = word and host != "jobs"
            labels += [100 * len(urls), 100 * len(urls) + (not is_one)]
    forms = Forms("a.com", urls, labels, [0] * len(urls))
    rule = hypothesis(match=match, to=to)
    ((found, tally),) = contexts(rule, forms.tried(rule), forms, 2.0)
    assert (tally.right, tally.wrong) == (2 * len(WORDS), 0)
    after = [new for new in forms.changed(found)[1] if "jobs" in new or new.endswith("/")]
    assert found.within == ("!/",)
    assert not after


@pytest.mark.parametrize(("odd", "form"), [("/x/odd", "/x/odd"), ("/odd", "/odd?v=1"), ("/y/x/odd", "/y/x/odd?v=1")])
def test_an_exception_is_not_the_name_of_the_one_url_that_was_wrong(odd: str, form: str) -> None:
    """Of others like it the name would say nothing, nor would the value, which is one of sixty."""
    chance = random.Random(5)
    pages = [f"/x/{words(chance, 1)}" for _ in range(60)]
    clusters = [[f"{SITE}{page}", f"{SITE}{page}?v={i}"] for i, page in enumerate(pages)]
    rules = learned([*clusters, [f"{SITE}{odd}"], [f"{SITE}{odd}?v=1"]])
    assert forms(rules, f"{pages[7]}?v=7", f"{odd}?v=1") == [pages[7], form]
    assert not any("odd" in described(rule) or "/y" in described(rule) for rule in rules.rules)


def test_a_rule_may_ask_for_a_part_of_what_it_captures() -> None:
    """Pages of the namespace `Log:` changed between visits, and nothing but the title tells which these are."""
    urls, labels = [], []
    for space, is_one in (("File:", True), ("Log:", False)):
        for i in range(40):
            name = f"{space}{WORDS[i % 10]}{i}"
            urls += [f"http://a.com/{name}", f"http://a.com/index.php?title={name}"]
            labels += [2 * len(urls), 2 * len(urls) + (not is_one)]
    found = Forms("a.com", urls, labels, [0] * len(urls))
    rule = hypothesis("/index.php?title={t}", "/{t}")
    ((narrower, tally),) = contexts(rule, found.tried(rule), found, 2.0)
    assert (tally.right, tally.wrong) == (40, 0)
    assert (narrower.match, narrower.to) == (rule.match, rule.to)
    assert narrower.within == ("?title=File:{}",) or narrower.unless == ("title=Log:{}",)
    after = found.tried(narrower)
    assert (after.right, after.wrong) == (40, 0)


LETTERS = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"
CITIES = ["Vienna", "Salzburg", "Graz", "Linz", "Wels", "Steyr", "Villach", "Dornbirn", "Bregenz", "Krems", "Leoben"]
SIGHTS = ["Belvedere", "Dommuseum", "Eisriesenwelt", "Albertina", "Schloss", "Hofburg"]


def deep_tokens(token: str, template: str) -> list[str]:
    """The deep tokens (Definition 5) of a token under one of its patterns."""
    match = _as_expression(template).fullmatch(token)
    if match is None:
        return [token]
    found: list[str] = []
    last = 0
    for start, stop in (match.span(number) for number in range(1, match.re.groups + 1)):
        found += _parts(token[last:start])
        found.append(token[start:stop])
        last = stop
    return found + _parts(token[last:])


def _as_expression(template: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, template.split("{}"))), re.S)


def _parts(literal: str) -> list[str]:
    """Anchors and delimiters of fixed text; a script's name with its suffix is one."""
    script = SCRIPT.match(literal)
    found = [script[0]] if script else []
    return found + re.findall(r"[A-Za-z0-9]+|[^A-Za-z0-9]", literal[script.end() if script else 0 :])


def attractions() -> list[str]:
    """Figure 2 of the paper."""
    random_ = random.Random(1)

    def number() -> int:
        return random_.randrange(10**7, 10**8)

    first = [f"ctattractions-{number()}-Austria_{random_.choice(CITIES)}-attractions.html" for _ in range(30)]
    return first + [
        f"profile-{number()}-Austria_{random_.choice(CITIES)}-{random_.choice(SIGHTS)}{i}.html" for i in range(30)
    ]


def downloads() -> list[str]:
    random_ = random.Random(1)
    sites = ["softwareoasis", "simtel", "foo"]
    return [f"accelerate.php[id]{random_.randrange(10**5, 10**6)}[SiteID]{random_.choice(sites)}" for _ in range(40)]


def friends() -> list[str]:
    random_ = random.Random(1)
    return ["friends-" + "".join(random_.choice(LETTERS) for _ in range(12)) for _ in range(40)]


def titles() -> list[str]:
    random_ = random.Random(1)
    return [f"tt{random_.randrange(10**7):07}" for _ in range(40)]


@pytest.mark.parametrize(
    ("tokens", "token", "expected"),
    [
        (
            attractions(),
            "ctattractions-17876002-Austria_Vienna-attractions.html",
            "ctattractions - 17876002 - Austria _ Vienna - attractions . html",
        ),
        (
            downloads(),
            "accelerate.php[id]100019[SiteID]softwareoasis",
            "accelerate.php [ id ] 100019 [ SiteID ] softwareoasis",
        ),
        (friends(), "friends-lttU7d6kIuGq", "friends - lttU7d6kIuGq"),
        (titles(), "tt0810900", "tt 0810900"),
    ],
    ids=["figure-2", "simtel", "yahoo", "imdb"],
)
def test_examples_of_the_paper(tokens: list[str], token: str, expected: str) -> None:
    template = deep_patterns(tokens).templates_of(token)[-1]
    assert deep_tokens(token, template) == expected.split()


def test_tree_of_figure_2() -> None:
    root = deep_patterns(attractions())
    assert root.template == "{}"
    assert [child.template for child in root.children] == [
        "ctattractions-{}-Austria_{}-attractions.html",
        "profile-{}-Austria_{}.html",
    ]


def test_random_values_have_no_pattern() -> None:
    random_ = random.Random(1)
    root = deep_patterns(["".join(random_.choice(LETTERS) for _ in range(16)) for _ in range(300)])
    assert not root.children


VALUES = st.text(max_size=30).map(lambda text: text.replace(";", ""))  # it ends the value of an argument


@given(st.lists(VALUES, max_size=60), VALUES)
def test_any_text_has_a_pattern_and_its_deep_tokens_make_it_up(tokens: list[str], token: str) -> None:
    root = deep_patterns(tokens * 4)
    for text in [token, *tokens]:
        path = root.templates_of(text)
        assert path[0] == "{}"
        assert "".join(deep_tokens(text, path[-1])) == text
        if len(path) > 1 and ";" not in path[-1]:  # which parts arguments: none has it
            parse_template(f"?a={path[-1]}")  # rules can say it


def test_tokens_made_to_be_tried_for_ever() -> None:
    assert not pattern("{}-x-" * 20 + "{}end").form.match("-x-" * 5_000, {})
    tokens = ["-".join(f"a{number % 7}b{number % 5}" for _ in range(3_000)) for number in range(400)]
    assert deep_patterns(tokens).templates_of(tokens[0]) == ["{}"]
