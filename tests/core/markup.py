"""Markup as nobody should write it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

PIECES = (
    *("<", ">", "/", "</", "<a", "<!--", "-->", "--", "-", "!", "<!", "<?", "=", '"', "'", "='", '="', "x", "é", "中"),
    *("&lt;", "<script", "</script>", "<svg>", "<select>", "</SELECT", "<p>", "</p>", "<textarea>", " ", "\n"),
)
MARKUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
"""Pieces of tags, in any order."""

TAG_PIECES = (
    *("<a", "<A", "<p", "<td", "<tr", "<li", "<div", "<svg", "<Script", "<select", "<TITLE", "<template", "<pre"),
    *("<x-y", "<h2", "<button", "<iframe", "<html", "<head", "</head>", "<body", "</a>", "</p>", "</td>", "</table>"),
    *("</div", "</svg>", "</SCRIPT>", "</select >", "</title>", "</template>", "</pre>", "</h2>", "<br>", "<hr/>"),
    *("<meta name=keywords content=", "<meta content='k' NAME = Description", "<base", " href=", " HREF = 'x'", ">"),
    *("=", '"', "'", "<!--", "-->", "--!>", "-", "<", "<!", "<?", "</", "/", " ", "\n\n", "\0", "&nbsp;", "&amp;"),
    *("&lt;p&gt;", "&amp", "&#65;", "&", "\u3000", "\x1c", "\xa0", "text", "文字", "é", "🙂", "//b.example/", "/p/1"),
    *("http://www.a.example/q?b=2&a=1", "mailto:x", "#"),
)
_TEXTS = st.lists(st.sampled_from(TAG_PIECES) | st.text(max_size=3), max_size=40).map("".join)
TAGS = _TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60)
"""Tags and text, broken and whole."""

_SENTENCE = "A sentence of the page that says something, and 中文 too. "
PARTS = (
    *(
        f"<{name}{' ' + attributes if attributes else ''}>"
        for name in ("div", "p", "li", "td", "h1", "nav", "section")
        for attributes in (
            *("", "class=post-1", "class=post-22", "class='post-1a'", "id=sidebar", "class=entry-content", "hidden"),
            *('class="a navBar b"', "ROLE=Main style='display : none'", "class=articleBody data-id=nav"),
        )
    ),
    *("</div>", "</ul>", "</td>", "</nav>", "<a href=x>", "</a>", "<ul>", "<br>", "menu", "a link to another page"),
    "<a href=x>Posted on the 15th of May, 2010</a>",
    *(f"<p>{_SENTENCE * times}" for times in (1, 2, 6, 12)),
    *(f"<a href=x>{_SENTENCE * times}</a>" for times in (1, 3)),
)


def article(parts: Sequence[str]) -> bytes:
    """A page of these parts."""
    return f"<title>{_SENTENCE}</title>{''.join(parts)}".encode()


ARTICLES: st.SearchStrategy[bytes] = st.lists(st.sampled_from(PARTS), max_size=60).map(article)
"""Pages of articles, menus, rows and lists, nested in any way."""


def drawn(pieces: Sequence[str], count: int, most: int) -> Iterator[list[str]]:
    """The same lists of pieces each time."""
    for seed in range(count):
        chance = random.Random(seed)
        yield chance.choices(pieces, k=chance.randrange(1, most))
