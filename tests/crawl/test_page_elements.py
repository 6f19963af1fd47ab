"""The page of a link is found by the element that it leads to."""

from __future__ import annotations

from dedupcrawl.core.facts import Facts
from dedupcrawl.crawl import page_elements
from dedupcrawl.crawl.page_elements import PageElements

VIEW = "http://a.example/forum/viewtopic.php"


def having(*names: str) -> Facts:
    return Facts("".join(f"<p id={name}>" for name in names).encode())


def test_a_link_may_come_before_the_page_and_after_it() -> None:
    elements = PageElements()
    assert elements.page_of(f"{VIEW}?p=7#p7") == ""
    assert elements.page_of(f"{VIEW}?f=1&p=7#p7") == ""
    assert elements.links_to(f"{VIEW}?t=1", having("p7", "p8", "q9")) == [f"{VIEW}?p=7", f"{VIEW}?f=1&p=7"]
    assert elements.links_to(f"{VIEW}?t=1&start=0", having("p7", "p8", "q9")) == []  # the same page once more
    assert elements.page_of(f"{VIEW}?p=8#p8") == f"{VIEW}?t=1"
    assert elements.page_of(f"{VIEW}?q=9#q9") == ""  # nothing has led to such elements before


def test_other_links_lead_to_no_element_of_a_page() -> None:
    elements = PageElements()
    assert [elements.page_of(link) for link in (f"{VIEW}?p=7", f"{VIEW}?p=7#p8", f"{VIEW}?p=7#top", "#", "")] == [
        None
    ] * 5


def test_an_element_that_pages_have_beside_others_is_on_neither() -> None:
    elements = PageElements()
    elements.page_of(f"{VIEW}?s=1#s1")
    assert elements.links_to(f"{VIEW}?t=1", having("s1", "s2")) == [f"{VIEW}?s=1"]
    assert elements.links_to(f"{VIEW}?t=2", having("s1", "s2", "s3")) == []
    assert elements.page_of(f"{VIEW}?s=2#s2") == ""
    assert elements.page_of(f"{VIEW}?s=3#s3") == f"{VIEW}?t=2"


def test_pages_of_other_sections_have_other_elements() -> None:
    elements = PageElements()
    elements.page_of(f"{VIEW}?p=7#p7")
    for url in ("http://b.example/forum/viewtopic.php?t=1", "http://a.example/forum/portal.php", "http://a.example/b"):
        assert elements.links_to(url, having("p7")) == []


def test_no_more_is_remembered_than_is_allowed() -> None:
    elements, most = PageElements(), page_elements._MOST
    for n in range(most + 10):
        elements.page_of(f"{VIEW}?p={n}#p{n}")
    assert len(elements.links_to(f"{VIEW}?t=1", having(f"p{most - 1}", f"p{most}"))) == 1
    assert elements.page_of(f"http://new.example/x?p={most}#p{most}") == ""


def test_each_of_many_links_to_one_element_counts_once() -> None:
    elements = PageElements()
    links = [f"{VIEW}?p=7&x={n}" for n in range(50_000)]
    for link in [*links, *links]:
        elements.page_of(f"{link}#p7")
    assert elements.links_to(f"{VIEW}?t=1", having("p7")) == links
