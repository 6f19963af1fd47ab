"""Who was the first to lead to a URL is known, whatever is on trial."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from dedupcrawl.crawl.first_referrers import FirstReferrers, Referrer
from dedupcrawl.crawl.request_meta import TRIAL

U = "http://a.example/u"


def page(tried: str | None = None) -> Referrer:
    request = Request("http://a.example/", meta={TRIAL: tried} if tried else {})
    return Referrer.of(Response(request.url, request=request))


def test_what_only_a_page_that_no_link_leads_to_has_led_to_is_new_once_more() -> None:
    found, made = FirstReferrers(), Request("http://a.example/made")
    adrift = Referrer.of(Response(made.url, request=made))
    assert found.is_new(Request(f"{U}?2"), page(), made)
    assert found.is_new(Request(U), adrift)
    assert not found.is_new(Request(U), adrift)
    assert not found.is_awaited(U, adrift)
    assert found.is_new(made, adrift), "to itself"
    for url in (U, made.url):
        assert found.is_awaited(url, page())
        assert found.is_new(Request(url), page())
        assert not found.is_new(Request(url), page())
        assert not found.is_awaited(url, page())
    assert found.is_new(Request(f"{U}?3"), adrift), "to which a page has led by now"
    assert not found.is_new(Request(f"{U}?3"), page())


def test_what_only_pages_on_trial_lead_to() -> None:
    found = FirstReferrers()
    assert found.is_new(Request(U), page("v"))
    assert not found.is_new(Request(U), page("w"))
    found.dropped(Request(U))  # the second
    assert found.lost_without("v") == found.lost_without("w") == [U]
    assert found.lost_without("v", ["w"]) == found.lost_without("w", ["x", "v"]) == []
    assert found.lost_without("v", ["x"]) == [U]
    assert found.is_awaited(f"{U}#top", page())
    found.is_new(Request(U), page())
    assert found.lost_without("v") == []
    assert not found.is_awaited(U, page())


def test_what_the_canonical_page_leads_to_is_reached_though_only_pages_on_trial_lead_to_that() -> None:
    found, canonical, last = FirstReferrers(), "http://a.example/canonical", "http://a.example/last"
    found.is_new(Request(canonical), page("w"))
    for referrer in (page("v"), Referrer.of(Response(canonical, request=Request(canonical)))):
        found.is_new(Request(U), referrer)
    found.is_new(Request(last), Referrer.of(Response(U, request=Request(U))))
    assert set(found.lost_without("v")) == {U, last}
    assert found.lost_without("v", [canonical]) == []
    assert set(found.lost_without("v", ["http://a.example/another"])) == {U, last}


def test_neighbours_of_many_trials_stay_lost_without_their_trial() -> None:
    """The limit is for URLs beyond the pages on trial, not for those that these lead to."""
    found = FirstReferrers()
    for number in range(400):
        for link in range(26):
            found.is_new(Request(f"{U}/{number}/{link}"), page(f"trial-{number}"))
    first = Request(f"{U}/0/0")
    for link in range(26):
        found.is_new(Request(f"{U}/0/{link}"), Referrer.of(Response(first.url, request=first)))
    assert len(found.lost_without("trial-0")) == 26
