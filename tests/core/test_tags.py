"""Where tags are, and what parsers that build a tree are given."""

from __future__ import annotations

from hypothesis import given

from dedupcrawl.core.tags import tame
from tests.core.markup import MARKUP, TAGS
from tests.core.reading import shown
from tests.fixtures import table_of


@table_of("core", "where_tags_are")
def test_where_tags_are(markup: str, text: str) -> None:
    assert "\n".join(shown(markup.encode())) == text


@given(MARKUP.map(str.encode) | TAGS)
def test_tame_markup_has_the_same_text(markup: bytes) -> None:
    assert "".join("".join(shown(tame(markup))).split()) == "".join("".join(shown(markup)).split())


def test_tame_markup_has_no_huge_tags_comments_or_scripts() -> None:
    huge = "".join(f" a{number}=1" for number in range(10_000))
    markup = f"<p{huge}>x</p><!-- c --><script>y</script><a href=u>z</a>"
    assert tame(markup.encode()) == b"<p>x</p><a href=u>z</a>"
