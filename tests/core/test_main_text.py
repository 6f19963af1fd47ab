from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedupcrawl.content.encoding import to_utf8
from tests.core.markup import MARKUP
from tests.core.reading import read, shown
from tests.fixtures import table_of

SENTENCES = [
    "The council met on Tuesday to discuss the new bridge over the river, which has been planned for ten years.",
    "Two of its members asked for more time, since the costs had doubled after the last flood.",
    "A decision is expected in the spring, and work could begin before the end of the year.",
    "Residents of the old town fear noise and dust, while shop owners hope for more visitors.",
    "The mayor promised that nobody would have to leave their home because of the works.",
    "Engineers from three countries had looked at the plans and found them sound.",
]
CHINESE = [
    "市议会星期二开会讨论新桥的建设计划，这座桥已经规划了十年，费用却在去年的洪水之后翻了一番。",
    "两名议员要求给他们更多的时间，因为他们还没有看到工程师的最后报告。",
    "预计春天会作出决定，工程可能在年底以前开始，届时老城的居民将要忍受噪音和灰尘。",
    "市长保证，没有人会因为施工而离开自己的家，商店的老板们则希望有更多的客人。",
    "来自三个国家的工程师看过图纸，认为设计是可靠的。",
    "资金的一半来自中央政府，另一半由本市在二十年内付清。",
]
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(20)) + "</ul>"
FOOTER = "<p>All rights reserved by the publisher of this newspaper, 12 Long Street, Old Town, telephone 555 123.</p>"
RELATED = (
    "<ul>" + "".join(f"<li><a href=/r{n}>Read also our long story number {n}</a></li>" for n in range(9)) + "</ul>"
)


def main_text(markup: str) -> list[str]:
    return list(read(markup.encode()).paragraphs)


def modern(body: str) -> str:
    return (
        f"<html><head><title>Bridge - The Paper</title></head><body><header><nav>{MENU}</nav></header>"
        f"<main><article><h1>Bridge</h1><div class='article-body'>{body}</div><div class='related'>{RELATED}</div>"
        f"</article><section class='comments-area'><p>{SENTENCES[0][::-1]}</p></section></main>"
        f"<aside class=sidebar><p>Get our letter every morning for nothing at all, no strings attached.</p></aside>"
        f"<footer>{FOOTER}</footer></body></html>"
    )


def old(body: str) -> str:
    return (
        f"<HTML><BODY><TABLE><TR><TD WIDTH=150>{MENU}<TD><FONT SIZE=4>Bridge</FONT><BR>{body}<TR><TD COLSPAN=2>"
        f"{RELATED}<CENTER>{FOOTER}</CENTER></TABLE></BODY></HTML>"
    )


def paragraphs(sentences: list[str]) -> str:
    return "".join(f"<p>{sentence}</p>" for sentence in sentences)


@pytest.mark.parametrize("sentences", [SENTENCES, CHINESE])
def test_the_article_and_nothing_else(sentences: list[str]) -> None:
    assert main_text(modern(paragraphs(sentences))) == sentences


@pytest.mark.parametrize("sentences", [SENTENCES, CHINESE])
def test_one_article_in_two_templates(sentences: list[str]) -> None:
    one, other = main_text(modern(paragraphs(sentences))), main_text(old(paragraphs(sentences)))
    assert [text for text in other if text in one] == sentences
    assert len(other) <= len(sentences) + 1


def test_subheadings_quotes_lists_and_tables_are_part_of_an_article() -> None:
    body = (
        f"{paragraphs(SENTENCES[:2])}<h2>Costs</h2><ul><li>Steel, eleven tons<li>Sand</ul><blockquote>No comment."
        f"</blockquote>{paragraphs(SENTENCES[2:])}<table><tr><td>1999<td>12.5</table>"
    )
    found = main_text(modern(body))
    assert found == [
        *SENTENCES[:2],
        "Costs",
        "Steel, eleven tons",
        "Sand",
        "No comment.",
        *SENTENCES[2:],
        "1999",
        "12.5",
    ]


WORDPRESS = (
    "<li class='comment {1}' id=li-comment-{0}><div id=comment-{0}><div class='comment-author vcard'><cite>{2}</cite> "
    "says:</div><div class=comment-meta><a href=#comment-{0}>September {0}, 2010 at 10:10 pm</a></div>"
    "<div class=comment-body><p>{3}</p></div></div></li>"
)
PLAIN = "<div class=comment><b>{2}</b><p>{3}</p></div>"
REPLIES = (("Bob", "Grind it by hand."), ("Cyd", "Works like a charm."), ("Dan", "Thanks, Ann!"))


@pytest.mark.parametrize("reply", [WORDPRESS, PLAIN])
def test_short_replies_are_main_text_where_they_stand_in_a_row(reply: str) -> None:
    replies = "".join(
        reply.format(number, "odd alt" if number % 2 else "even", *said) for number, said in enumerate(REPLIES, 12)
    )
    found = main_text(
        f"<div id=content><div class=post><h1>Bridge</h1><div class=entry-content>{paragraphs(SENTENCES)}</div></div>"
        f"<div id=comments><h3>3 Responses</h3><ol>{replies}</ol><div id=respond>Leave a reply</div></div></div>"
    )
    assert found[: len(SENTENCES)] == SENTENCES
    assert [text for text in found if text in dict(REPLIES).values()] == list(dict(REPLIES).values())
    assert [text.removesuffix(" says:") for text in found[len(SENTENCES) :: 2]] == list(dict(REPLIES))


def test_hidden_text_is_left_out() -> None:
    hidden = f"<div style='color:red; display: none'>{SENTENCES[0]}</div><p hidden>{SENTENCES[1]}</p>"
    assert main_text(f"<div>{paragraphs(SENTENCES)}</div>{hidden}") == SENTENCES
    shown = f"<div data-x='display hidden'>{SENTENCES[0]}</div>"
    assert main_text(f"<div>{paragraphs(SENTENCES)}{shown}</div>") == [*SENTENCES, SENTENCES[0]]


@table_of("core", "a_page_with_little_text_keeps_it")
def test_a_page_with_little_text_keeps_it(markup: str) -> None:
    assert main_text(markup) == shown(markup.encode()) != []


def listing(page: int) -> str:
    items = "".join(
        f"<li><a href=/{page}/{n}>Announcement {page}-{n}: results of the examination</a> 2024-0{page}-1{n}</li>"
        for n in range(8)
    )
    return f"<body><div class=menu>{MENU}</div><div class=list><ul>{items}</ul></div><div>{FOOTER}</div></body>"


def test_a_listing_is_not_reduced_to_its_small_print() -> None:
    one, other = main_text(listing(1)), main_text(listing(2))
    assert len(set(one) & set(other)) <= 1
    assert sum("Announcement" in text for text in one) == 8
    assert not any("Section" in text for text in one)


def test_a_notice_on_every_page_is_not_their_main_text() -> None:
    notice = "<div><p>This encyclopedia will be closed. Please copy what you need before the end of the year.</p></div>"
    pages = [
        f"{notice}<div class=content><table>{''.join(f'<tr><td>{word} {n}<td>{n}' for n in range(12))}</table></div>"
        for word in ("Alpha", "Beta")
    ]
    one, other = (set(main_text(page)) for page in pages)
    assert "Alpha 3" in one
    assert "Beta 3" in other


@pytest.mark.parametrize("template", [modern, old])
def test_a_small_change_changes_little(template: Callable[[str], str]) -> None:
    chosen = random.Random(1)
    whole = main_text(template(paragraphs(SENTENCES * 2)))
    for _ in range(20):
        sentences = SENTENCES * 2
        del sentences[chosen.randrange(len(sentences))]
        sentences.insert(chosen.randrange(len(sentences)), "Advertisement: buy now, pay later.")
        found = main_text(template(paragraphs(sentences)))
        assert [text for text in found if text in sentences] == sentences
        assert abs(len(found) - len(whole)) <= 1


@given(MARKUP.map(str.encode))
def test_never_empty_where_there_is_text(markup: bytes) -> None:
    assert bool(read(markup).paragraphs) == bool(shown(markup))


@given(st.lists(st.sampled_from([*SENTENCES, *CHINESE, "short", MENU, RELATED, FOOTER]), max_size=12), st.randoms())
def test_the_order_of_attributes_and_the_case_of_tags_do_not_matter(parts: list[str], chosen: random.Random) -> None:
    wraps = [
        ("<div class='article-body' id=a>", "<DIV ID=a CLASS='article-body'>"),
        ("<td class=nav>", "<TD CLASS=nav>"),
    ]
    one = other = ""
    for part in parts:
        lower, upper = chosen.choice(wraps)
        one += f"{lower}<p>{part}</p>"
        other += f"{upper}<P>{part}</P>"
    assert main_text(one) == main_text(other)


def test_every_real_page_has_main_text(shared_data: Path) -> None:
    for path in sorted((shared_data / "html/zh-news").rglob("*.html")):
        page = read(to_utf8(path.read_bytes()))
        assert bool(page.paragraphs) == page.has_text, path.name
