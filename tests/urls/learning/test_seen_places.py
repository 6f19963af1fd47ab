"""Rules of arguments hold where they were seen to, if that is at few places."""

from __future__ import annotations

import random

import pytest

from tests.urls.learning.sites import SITE, Clusters, forms, learned, rules_of, token, words

MANY = 40


def pages(*forms_: str) -> Clusters:
    """Forty clusters of these paths, `#` being the number of the page and `*` some words."""
    chance = random.Random(3)
    clusters = []
    for number in range(100, 100 + MANY):
        text = words(chance, 1)
        clusters.append([SITE + form.replace("#", str(number)).replace("*", text) for form in forms_])
    return clusters


def test_another_script_with_the_same_argument_is_left_alone() -> None:
    rules = learned(pages("/view?doc=#", "/view?doc=#&zoom=2", "/view?doc=#&zoom=50", "/view?doc=#&zoom=99"))
    assert forms(rules, "/view?doc=7&zoom=2", "/view?doc=7&zoom=81") == ["/view?doc=7"] * 2
    assert forms(rules, "/map?doc=7&zoom=2", "/map?doc=7&zoom=99") == ["/map?doc=7&zoom=2", "/map?doc=7&zoom=99"]


def test_a_script_at_which_the_argument_never_varied_is_no_place_of_its() -> None:
    """Of the only forum in the log a copy with a session came: that says nothing of the number of the forum."""
    topics = pages("/viewtopic.php?t=#", "/viewtopic.php?f=1&t=#", "/viewtopic.php?f=2&t=#")
    forum = [[f"{SITE}/viewforum.php?f=7{sid}" for sid in ("", f"&sid={token(random.Random(1), 32)}")]]
    rules = learned([*topics, *forum])
    assert forms(rules, "/viewtopic.php?f=1&t=9", "/viewtopic.php?t=9") == ["/viewtopic.php?t=9"] * 2
    assert len(set(forms(rules, "/viewforum.php?f=1", "/viewforum.php?f=2", "/viewforum.php?f=7"))) == 3


def test_one_script_for_all_kinds_of_pages() -> None:
    rules = learned(
        pages(
            "/index.php?route=product/product&product_id=#",
            "/index.php?route=product/product&product_id=#&search=*",
            "/index.php?route=product/product&product_id=#&search=a*",
        )
    )
    one, other = forms(
        rules,
        "/index.php?route=product/product&product_id=7&search=x",
        "/index.php?route=product/product&product_id=7&search=y",
    )
    assert one == other == "/index.php?route=product/product&product_id=7"
    searches = [f"/index.php?route=product/search&search={word}" for word in "xy"]
    assert forms(rules, *searches) == searches


def test_an_argument_that_names_the_page_tells_no_kind() -> None:
    rules = learned([[f"{SITE}/w?title={text}", f"{SITE}/w?title={text}&printable=yes"] for text in "abcdefgh"])
    assert forms(rules, "/w?title=unheard-of&printable=yes") == ["/w?title=unheard-of"]


def test_the_one_session_of_a_crawl_is_not_asked_for() -> None:
    session = "visit=0af31c8899c1d2e3"
    rules = learned(pages(f"/x?{session}&id=#", f"/x?{session}&id=#&view=a", f"/x?{session}&id=#&view=b"))
    assert forms(rules, "/x?visit=5b5b5b5b99c1d2e3&id=7&view=a") == ["/x?visit=5b5b5b5b99c1d2e3&id=7"]


def test_arguments_that_other_rules_take_out_are_not_asked_for() -> None:
    rules = learned(pages("/x?id=#", "/x?id=#&print=1&tmpl=c", "/x?id=#&tmpl=c", "/x?id=#&print=1"))
    assert forms(rules, "/x?id=7&print=1&tmpl=c", "/x?print=1&id=7", "/x?tmpl=c&id=7") == ["/x?id=7"] * 3


def test_where_it_holds_at_many_places_it_holds_anywhere() -> None:
    clusters = pages(*(f"/news/*/#{argument}" for argument in ("", "?from=a", "?from=b", "?from=#")))
    sections = [
        [url.replace("/news/", f"/{'abcdefgh'[i % 8]}/") for url in cluster] for i, cluster in enumerate(clusters)
    ]
    assert rules_of(sections) == ["drop from"]
    few = [[url.replace("/news/", f"/{'ab'[i % 2]}/") for url in cluster] for i, cluster in enumerate(clusters)]
    assert rules_of(few) == ["drop from within /a/{}/{:digits}, /b/{}/{:digits}"]


def test_where_a_link_leads_is_told_by_its_script() -> None:
    rules = learned(pages("/out?url=http://a.com/news/*/#", "/news/*/#"))
    assert forms(rules, "/out?url=http://a.com/news/x/7") == ["/news/x/7"]
    url = "/oembed?url=http://a.com/news/x/7"
    assert forms(rules, url) == [url]


def test_a_path_that_a_script_leads_to() -> None:
    rules = learned([*pages("/go?to=/news/*/#", "/news/*/#"), *([f"{SITE}/files?dir=/{i}"] for i in range(20))])
    assert forms(rules, "/go?to=/news/x/7", "/go?to=%2Fnews%2Fx%2F7") == ["/news/x/7"] * 2
    assert forms(rules, "/files?dir=/7", "/login?to=/news/x/7") == ["/files?dir=/7", "/login?to=/news/x/7"]


@pytest.mark.parametrize("odd", ["//view?doc=#", "/view;s=1?doc=#"])
def test_links_with_a_mistake_do_not_open_a_rule(odd: str) -> None:
    clusters = pages("/view?doc=#", "/view?doc=#&zoom=2", "/view?doc=#&zoom=50", "/view?doc=#&zoom=99")
    clusters[0] += [SITE + odd.replace("#", "100"), SITE + odd.replace("#", "100") + "&zoom=2"]
    clusters[1] += [SITE + odd.replace("#", "101"), SITE + odd.replace("#", "101") + "&zoom=2"]
    rules = learned(clusters)
    assert forms(rules, "/view?doc=7&zoom=2", "/map?doc=7&zoom=2") == ["/view?doc=7", "/map?doc=7&zoom=2"]
