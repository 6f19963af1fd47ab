from __future__ import annotations

from benchmarks.url_rules_bound import bound, tokens


def test_what_urls_share_tells_the_page_or_does_not() -> None:
    names = ["ash", "beech", "cedar", "elm", "fir", "larch", "oak", "pine", "willow", "yew"]
    wiki = [(f"http://a.com/{form}{name}", name) for name in names for form in ("wiki/", "?title=")]
    assert bound(wiki, wiki) == (10, 10)
    blog = [
        (url, name) for i, name in enumerate(names) for url in (f"http://a.com/?p={i + 100}", f"http://a.com/p/{name}/")
    ]
    assert bound(blog, blog) == (10, 0)


def test_tokens_look_into_embedded_urls() -> None:
    assert tokens("http://a.com/knives.html?p=1") <= tokens(
        "http://a.com/uenc/aHR0cDovL2EuY29tL2tuaXZlcy5odG1sP3A9MQ,,/"
    )
