"""To which paths a rule is kept, and which conditions rules can say."""

from __future__ import annotations

import random

import pytest

from dedupcrawl.core.url_parts import split_url
from dedupcrawl.urls.learning.contexts import contexts, path_with
from dedupcrawl.urls.learning.forms import Forms
from dedupcrawl.urls.learning.references import hypothesis
from dedupcrawl.urls.learning.sections import scopes
from dedupcrawl.urls.learning.written import written_path
from dedupcrawl.urls.rule import described
from tests.fixtures import table_of
from tests.urls.learning.sites import SITE, forms, learned, words

WORDS = ["anvil", "barrel", "candle", "dragon", "engine", "falcon", "garden", "hammer", "island", "jacket"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([f"/news/{word}" for word in WORDS], ["/news/{}"]),
        ([f"/news/{word}.html" for word in WORDS], ["/news/{}.html"]),
        ([f"/{part}/{word}" for word in WORDS for part in "ab"], ["/a/{}", "/b/{}"]),
        ([f"/{part}/{word}" for word in WORDS for part in "abcdefg"], []),
        (["/view.php"] * 9, ["/view.php"]),
        (["/view.php"] * 9 + ["/view;x=1.php"], ["/view.php", "/view;x=1.php"]),
        ([f"/{year}/{word}" for year in (2001, 2002, 2003) for word in WORDS], ["/{:digits}/{}"]),
        ([f"/a/{word}/" for word in WORDS], ["/a/{}/"]),
        ([f"/a/{word}" for word in WORDS] + ["/a/x/y"], ["/a/{}/{*}"]),
        (
            [f"/core/{part}/src/{word}" for part in ("app", "lib") for word in WORDS],
            ["/core/app/src/{}", "/core/lib/src/{}"],
        ),
    ],
)
def test_a_rule_of_paths_is_for_those_that_came(paths: list[str], expected: list[str]) -> None:
    uses = [(parts, i) for i, path in enumerate(paths) if (parts := split_url(f"http://a.com{path}"))]
    assert sorted(map(written_path, scopes(uses, of_arguments=True))) == expected


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


@pytest.mark.parametrize(("odd", "form"), [("/x/odd", "/x/odd"), ("/odd", "/odd?v=1"), ("/x/y/odd", "/x/y/odd?v=1")])
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
