"""Rules that the URLs of a site alone make likely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from dedupcrawl.urls.learning.likely import LikelyRules
from dedupcrawl.urls.normalizer import SiteNormalizer
from dedupcrawl.urls.rule_files import SiteRules
from tests.fixtures import table_of

SITE = "http://a.com"


def canonical(urls: Iterable[str], *asked: str) -> list[str]:
    """What the likely rules of a site with these URLs make of others."""
    likely = LikelyRules()
    for url in urls:
        likely.see_url(url)
    normalizer = SiteNormalizer(SiteRules("a.com", likely.rules_of("a.com")))
    return [normalizer.normalize(url).canonical for url in asked]


@table_of("url_learning", "three_pairs_make_a_spelling_likely_and_two_do_not")
def test_three_pairs_make_a_spelling_likely_and_two_do_not(one: str, other: str) -> None:
    def pairs(names: Sequence[str]) -> list[str]:
        return [form.format(name) for name in names for form in (one, other)]

    asked = one.format("lamp").partition("?page")[0], other.format("lamp")
    assert len(set(canonical(pairs(["kettle", "teapot"]), *asked))) == 2
    # The same URLs again are no further pairs.
    assert len(set(canonical(pairs(["kettle", "teapot", "kettle", "teapot"]), *asked))) == 2
    assert len(set(canonical(pairs(["kettle", "teapot", "ladder"]), *asked))) == 1


def test_what_tells_pages_apart_is_not_likely_however_many_pairs_there_are() -> None:
    names = [f"page-{n}" for n in range(50)]
    for end in ("?page=1", "?start=0", "?print=1", "/print", "/feed", "/page/1", "?lang=en", "?a=", "?s=x"):
        asked = f"{SITE}/lamp{end}", f"{SITE}/lamp"
        assert canonical([f"{SITE}/{name}{more}" for name in names for more in ("", end)], *asked) == list(asked)


def test_the_copies_of_an_archive_tell_nothing() -> None:
    """They are years apart."""
    urls = [f"http://a.com:80/{name}{end}" for name in ("kettle", "teapot", "ladder") for end in ("", "/")]
    assert canonical(urls, f"{SITE}/lamp/") == [f"{SITE}/lamp/"]


def test_of_two_forms_of_a_folder_that_is_made_which_the_site_has() -> None:
    urls = [f"{SITE}/{name}{end}" for name in "abc" for end in ("/", "/index.html")]
    urls += [f"{SITE}/{name}{end}" for name in "defg" for end in ("", "/index.html")]
    assert canonical(urls, f"{SITE}/lamp/index.html") == [f"{SITE}/lamp"]


def permanent_links(pages: int) -> list[str]:
    return [f"{SITE}/w/index.php?title=Page_{page}&oldid={1000 + page}" for page in range(pages)]


def test_a_permanent_link_is_the_page_where_no_page_has_two() -> None:
    link, page = f"{SITE}/w/index.php?title=Lamp&oldid=7", f"{SITE}/w/index.php?title=Lamp"
    difference = f"{SITE}/w/index.php?title=Lamp&diff=8&oldid=7"
    assert canonical(permanent_links(20), link) == [page]
    assert canonical(permanent_links(19), link) == [link]
    earlier = f"{SITE}/w/index.php?title=Page_3&oldid=5"
    assert canonical([*permanent_links(300), earlier], link) == [link]
    assert canonical(permanent_links(20), difference) == [difference]


def test_other_sites_and_what_is_no_url() -> None:
    likely = LikelyRules()
    for url in ("", "http://", "http://[/", "mailto:a@b", "http://b\u00fccher.com/x", *permanent_links(20)):
        likely.see_url(url)
    assert likely.rules_of("b.com") == ()
    for url in (f"http://b\u00fccher.com/{name}{end}" for name in "abc" for end in ("", "/")):
        likely.see_url(url)
    assert likely.rules_of("b\u00fccher.com") == likely.rules_of("xn--bcher-kva.com") != ()


def test_of_too_many_sites_those_that_were_met_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedupcrawl.urls.learning.likely._MOST_HASHES", 300)
    likely = LikelyRules()
    sites = [f"site{number}.com" for number in range(30)]
    for site in sites:
        for name in ("kettle", "teapot", "ladder"):
            likely.see_url(f"http://{site}/{name}")
            likely.see_url(f"http://{site}/{name}/")
    found = [site for site in sites if likely.rules_of(site)]
    assert 0 < len(found) < len(sites)
    assert found == sites[-len(found) :]
