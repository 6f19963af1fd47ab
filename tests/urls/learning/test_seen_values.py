from __future__ import annotations

import pytest

from dedupcrawl.urls.learning.learn import learn_site
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule import described
from dedupcrawl.urls.rule_files import SiteRules

SITE = "shop.example"
PAGES = [f"http://{SITE}/{word}{i}" for i, word in enumerate(["anvil", "barrel", "candle", "dragon"] * 10)]


def learned(*args: str, pages: list[str] = PAGES) -> SiteRules:
    """From a log in which these arguments make no difference to any page."""
    clusters = [[page, *(f"{page}?{arg}" for arg in args)] for page in pages]
    urls = [url for cluster in clusters for url in cluster]
    return learn_site(SITE, urls, [number for number, cluster in enumerate(clusters) for _ in cluster])


@pytest.mark.parametrize(
    ("args", "rule", "others"),
    [
        (["view=1"], "drop view within /{}?view=1", ["view=2"]),
        (["lang=en"], "drop lang within /{}?lang=en", ["lang=de"]),
        (["lang=en", "lang=en-us"], "drop lang within /{}?lang={:en|en-us}", ["lang=de", "lang="]),
        (["start=0", "start=00"], "drop start within /{}?start={:0|00}", ["start=15", "start=000"]),
        (["pg=0", "pg=00", "pg=000"], "drop pg within /{}?pg={:0|00|000}", ["pg=1"]),  # three ways to write one number
        (["n=3", "n=14", "n=159"], "drop n within /{}?n={:digits}", ["n=all"]),
        (["t=0af31c88", "t=99c1d2e3", "t=5b5b5b5b"], "drop t within /{}?t={:token}", ["t=lamps"]),
        (["tab=info", "tab="], "drop tab within /{}?tab=info", ["tab=x"]),
        (["quiet"], "drop quiet within /{}?quiet", ["quiet=1"]),
    ],
)
def test_a_value_that_never_came_is_not_irrelevant(args: list[str], rule: str, others: list[str]) -> None:
    rules = learned(*args)
    assert rule in [described(one) for one in rules.rules]
    canonical = SiteNormalizer(rules).normalize
    page = f"http://{SITE}/unheard-of"
    assert {canonical(f"{page}?{arg}").canonical for arg in args} == {page}
    assert len({canonical(url).canonical for url in [page, *(f"{page}?{arg}" for arg in others)]}) == len(others) + 1


def test_of_many_values_any_other_one_is_irrelevant_too() -> None:
    rules = learned(*(f"from={word}" for word in ["mail", "home", "search", "basket", "friend", "news"]))
    assert [described(rule) for rule in rules.rules] == ["drop from within /{}"]


def test_what_most_sites_mean_by_a_name_is_known_whatever_its_value() -> None:
    assert [described(rule) for rule in learned("sessionid=77").rules] == ["drop sessionid"]


def test_values_that_came_beside_what_is_irrelevant_are_none_themselves() -> None:
    """Every page of a list has several session ids: that they are one page says nothing of `page`."""
    urls, labels = [], []
    for label, page in enumerate(PAGES):
        for url in (page, f"{page}?p=1", f"{page}?p=1&visit=a{label}", f"{page}?p=1&visit=b{label}"):
            urls.append(url)
            labels.append(label)
        urls += [f"{page}?p={label + 2}&visit={letter}{label}" for letter in "cd"]
        labels += [1000 + label] * 2
    normalizer = SiteNormalizer(learn_site(SITE, urls, labels))
    page = f"http://{SITE}/unheard-of"
    assert normalizer.normalize(f"{page}?p=1&visit=e5").canonical == page
    assert normalizer.normalize(f"{page}?p=7&visit=e5").canonical == f"{page}?p=7"


def test_values_that_never_came_matter_beside_an_argument_of_a_similar_name() -> None:
    pages = [[f"http://{SITE}/p?xid={i}&id={j}" for j in (1, 2)] for i in range(60)]
    others = [[f"http://{SITE}/{page}?id={i}"] for page in "pq" for i in range(1, 60)]
    clusters = [*pages, *others]
    urls = [url for cluster in clusters for url in cluster]
    rules = learn_site(SITE, urls, [number for number, cluster in enumerate(clusters) for _ in cluster])
    canonical = SiteNormalizer(rules).normalize
    assert len({canonical(f"http://{SITE}/p?xid=7&id={i}").canonical for i in (1, 2)}) == 1
    assert len({canonical(f"http://{SITE}/p?xid=7&id={i}").canonical for i in (1, 7, 8)}) == 3
