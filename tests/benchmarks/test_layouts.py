"""An article is taken out of a page and another one set in its place; a first print comes before its reprint."""

from __future__ import annotations

from benchmarks.layouts import Layout
from benchmarks.reprints import FIRST, REPRINT, SetPage, _first_prints_first
from dedupcrawl.content.html import extract

ARTICLE = "\n".join(f"Sentence number {number} of the article that is to be taken out of it." for number in range(9))
PAGE = (
    "<html><head><title>Old</title></head><body><!-- c --><ul><li>Menu of the site</li></ul><div class='x'><h1>Old</h1>"
    f"<div id='a'><!-- c -->{''.join(f'<p>{line}</p>' for line in ARTICLE.splitlines())}<p>Share this page.</p></div>"
    "</div><p>Imprint of the site</p></body></html>"
)


def test_another_article_in_the_same_layout() -> None:
    layout = Layout.of("page", PAGE, ARTICLE)
    assert layout is not None
    new = [f"Another text, part {number}, that is set in its place and is long enough." for number in range(9)]
    body = layout.page("New", new)
    assert layout.page("New", new) == body
    assert extract(body, "http://a.example/").title == "New"
    text = body.decode()
    assert all(line in text for line in new)
    assert "taken out" not in text
    assert all(box in text for box in ("Menu of the site", "Share this page.", "Imprint of the site", "<h1>New</h1>"))


def test_a_page_without_its_article_is_no_layout() -> None:
    assert Layout.of("page", "<html><body><p>Nothing</p></body></html>", ARTICLE) is None
    assert Layout.of("page", PAGE, "") is None


def test_first_prints_come_first_and_each_page_once() -> None:
    def page(kind: str, group: str) -> SetPage:
        return SetPage(kind, group, "en0", b"", f"{kind} {group}")

    stream = [page(REPRINT, "a"), page("document", "b"), page(FIRST, "c"), page(FIRST, "a"), page(REPRINT, "c")]
    order = [it.url_path for it in _first_prints_first(stream)]
    assert order == ["first print a", "reprint a", "document b", "first print c", "reprint c"]
